"""`subscriber list`, `add` and `import`."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.context import Context, after_option, json_option, limit_option, print_json, print_rows
from bot.domain.errors import UsageError

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.store.subscribers import NewSubscription

PREFIXES = {"user": "ou_", "group": "oc_"}


@click.group()
def subscriber() -> None:
    """People and groups who get the digest."""


@subscriber.command("list")
@click.option("--series", metavar="ID", help="Only this series.")
@limit_option
@after_option
@json_option
@click.pass_obj
def list_(context: Context, series: str | None, limit: int, after: int, as_json: bool) -> None:
    """Subscriptions, one row each."""
    from bot.services import manage

    settings = context.settings()
    with context.store(settings) as store:
        answer = manage.list_subscriptions(store, series, limit, after)
    if as_json:
        print_json(answer)
    else:
        columns = ["kind", "id", "name", "series", "status", "reason", "density", "since"]
        print_rows(answer["subscribers"], columns, answer["next"])


@subscriber.command()
@click.option("--kind", type=click.Choice(list(PREFIXES)), required=True)
@click.option("--id", "receiver", required=True, help="open_id of a user, chat_id of a group.")
@click.option("--series", required=True, metavar="ID")
@click.option("--name", default="")
@click.option("--sections", default="", help="Only these sections, separated by |.")
@click.option("--density", default="standard", type=click.Choice(["brief", "standard", "full"]))
@json_option
@click.pass_obj
def add(context: Context, /, *, as_json: bool, receiver: str, **columns: str) -> None:
    """Subscribe one receiver; one who is there already stays as it is."""
    from bot.parts import now_utc
    from bot.services import manage

    settings = context.settings()
    row = _row({"id": receiver, **columns}, settings, place="")
    with context.store(settings) as store:
        new, seen = manage.import_subscriptions(store, [row], now_utc())
    _say(new, seen, as_json=as_json)


@subscriber.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def import_(context: Context, file: Path, as_json: bool) -> None:
    """Subscribe everybody in a CSV file with columns kind,id,series[,name,sections,density,slot]. Safe to repeat."""
    from bot.parts import now_utc
    from bot.services import manage

    settings = context.settings()
    with context.store(settings) as store:
        new, seen = manage.import_subscriptions(store, _rows(file, settings), now_utc())
    _say(new, seen, as_json=as_json)


def _rows(file: Path, settings: "Settings") -> Iterator["NewSubscription"]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = {"kind", "id", "series"} - set(reader.fieldnames or ())
            if missing:
                raise UsageError(f"{file}: column {', '.join(sorted(missing))} is missing; the first line names them")
            for columns in reader:
                yield _row(columns, settings, place=f"{file}:{reader.line_num}: ")
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise UsageError(f"{file} cannot be read as CSV in UTF-8 ({exc}); export it again") from exc


def _row(columns: Mapping[str, str | None], settings: "Settings", *, place: str) -> "NewSubscription":
    from bot.domain.audience import Density, Kind, Receiver
    from bot.store.subscribers import NewSubscription

    kind, receiver, series = (str(columns.get(name) or "").strip() for name in ("kind", "id", "series"))
    if kind not in PREFIXES:
        raise UsageError(f"{place}kind {kind!r} is not one of {', '.join(PREFIXES)}")
    if not receiver.startswith(PREFIXES[kind]) or len(receiver) > 64:
        raise UsageError(f"{place}id {receiver!r} is no {kind} id; it starts with {PREFIXES[kind]}")
    if series not in {one.id for one in settings.series}:
        known = ", ".join(one.id for one in settings.series) or "none configured"
        raise UsageError(f"{place}there is no series {series!r}; known: {known}")
    density = (columns.get("density") or "standard").strip()
    if density not in set(Density):
        raise UsageError(f"{place}density {density!r} is not one of {', '.join(Density)}")
    sections = frozenset(name.strip() for name in (columns.get("sections") or "").split("|") if name.strip())
    return NewSubscription(
        Receiver(Kind(kind), receiver),
        series,
        (columns.get("name") or "").strip(),
        sections,
        Density(density),
        (columns.get("slot") or "").strip() or None,
    )


def _say(new: int, seen: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"new": new, "existing": seen})
    else:
        click.echo(f"{new} subscribed, {seen} were already there")
