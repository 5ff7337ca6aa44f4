"""What commands share: the configuration file, the store, and how answers, questions and progress are printed."""

import contextlib
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from bot.domain.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from bot.settings import Settings
    from bot.store.engine import Store

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
limit_option = click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Rows a page.")
after_option = click.option("--after", type=int, default=0, help="Go on behind this cursor.")
received_option = click.option(
    "--received-at", metavar="ISO", help="When the text reached us, e.g. 2025-03-10T08:00:00+08:00."
)


@dataclass(frozen=True, slots=True)
class Context:
    """The command line's own settings."""

    config: str

    def settings(self) -> "Settings":
        """Settings of the configuration file. Sets up logging as they say."""
        from bot import config, log

        settings = config.load(Path(self.config))
        log.set_up(settings.log.level, settings.log.format)
        return settings

    @contextlib.contextmanager
    def store(self, settings: "Settings") -> Iterator["Store"]:
        """The database, brought to schema head."""
        from bot.parts import open_store

        with contextlib.closing(open_store(settings)) as store:
            yield store


def default_config() -> str:
    """Where the configuration is looked for when `-c` does not say."""
    return os.environ.get("DIGEST_BOT_CONFIG") or "config.toml"


def zone_of(name: str) -> "ZoneInfo":
    """A time zone by its name. Raises ConfigError."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError("--timezone", f"{name!r} is no time zone; write e.g. Asia/Shanghai") from None


def instant_of(text: str | None, zone: "ZoneInfo") -> datetime | None:
    """An ISO day or instant; without an offset it is meant in `zone`. Raises ConfigError."""
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError("--received-at", f"{text!r} is no ISO time; write e.g. 2025-03-10T08:00:00+08:00") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=zone)


def ask(question: str, otherwise: str) -> None:
    """Go on after a yes. Raises click.Abort on a no, and UsageError where there is nobody to ask."""
    if not sys.stdin.isatty():
        raise UsageError(otherwise)
    click.confirm(question, abort=True, err=True)


@contextlib.contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on stderr how far long work is: a bar on a terminal, elsewhere a line for every tenth.

    Yields what is to be told how much of `total` is done.
    """
    if sys.stderr.isatty():
        with click.progressbar(length=max(total, 1), label=label, file=sys.stderr) as bar:
            yield lambda done: bar.update(done - bar.pos)
        return
    seen = 0

    def tell(done: int) -> None:
        nonlocal seen
        tenth = min(10 * done // max(total, 1), 10)
        if tenth > seen:
            seen = tenth
            click.echo(f"{label} {tenth * 10} %", err=True)

    yield tell


@contextlib.contextmanager
def secret_file(path: Path, *, replace: bool) -> Iterator[IO[str]]:
    """A text file that only its owner may read; it appears under its name once it is complete. Raises UsageError."""
    check_free(path, replace=replace)
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        partial.touch(0o600)
        with partial.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        partial.replace(path)
    except OSError as exc:
        raise UsageError(f"{path} cannot be written ({exc.strerror}); choose another place") from exc
    finally:
        partial.unlink(missing_ok=True)


def check_free(path: Path, *, replace: bool) -> None:
    """Raises UsageError for a file that would be overwritten unasked."""
    if path.exists() and not replace:
        raise UsageError(f"{path} is there already; pass --yes to replace it, or choose another name")


def print_json(answer: object) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(answer, ensure_ascii=False, indent=2, default=_plain))


def print_table(rows: Sequence[Sequence[object]]) -> None:
    """Columns for eyes; a Chinese character is two cells wide."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(_width(cell) for cell in column) for column in zip(*texts, strict=True)]
    for row in texts:
        cells = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def print_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], cursor: int | None) -> None:
    """Rows of a list answer, with what to type for the next page."""
    if not rows:
        click.echo("nothing here yet")
        return
    print_table([columns, *[[_cell(row[column]) for column in columns] for row in rows]])
    if cursor is not None:
        click.echo(f"more: --after {cursor}")


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone().strftime("%m-%d %H:%M:%S")
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
