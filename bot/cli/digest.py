"""`digest check` and `digest import`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.context import Context, instant_of, json_option, print_json, received_option, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.domain.digest import Block, Digest, Dropped, Reading

LONGEST_MARK = 4  # characters: `12、`, `（3）`


@click.group()
def digest() -> None:
    """Look at a digest, or take it in."""


@digest.command()
@click.argument("file", type=click.Path(path_type=Path))
@received_option
@click.option("--timezone", default="Asia/Shanghai", show_default=True, help="Zone of the editors' days.")
@json_option
def check(file: Path, received_at: str | None, timezone: str, as_json: bool) -> None:
    """Parse FILE and say how it was understood. Sends nothing, needs no configuration."""
    from bot.domain.errors import DigestError
    from bot.reading.json_shape import to_json
    from bot.sources.folder import read_file

    zone = zone_of(timezone)
    try:
        reading, _ = read_file(file, received_at=instant_of(received_at, zone), zone=zone)
    except DigestError as exc:
        if as_json:
            print_json({"error": {"code": exc.code, "message": exc.message, "line": exc.line}})
        raise
    if as_json:
        print_json(to_json(reading))
    else:
        _outline(reading)


@digest.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--series", required=True, metavar="ID", help="Series that the digest belongs to.")
@received_option
@json_option
@click.pass_obj
def import_(context: Context, file: Path, series: str, received_at: str | None, as_json: bool) -> None:
    """Parse FILE and store it as an edition; a new revision if it exists. Sends nothing."""
    import asyncio

    from bot.domain.errors import UsageError
    from bot.parts import build_publisher, build_renderer, now_utc
    from bot.sources.folder import read_file

    settings = context.settings()
    one = settings.one_series(series)
    given = instant_of(received_at, zone_of(one.timezone))
    reading, source_hash = read_file(file, received_at=given or now_utc(), zone=one.hours.zone, noise=one.noise)
    if given is None and any(warning.code == "day_assumed" for warning in reading.warnings):
        raise UsageError(f"{file} has no day; put it in the title or the file name, or pass --received-at")
    with context.store(settings) as store:
        publisher = build_publisher(settings, store, build_renderer(settings, store))
        saved = [
            asyncio.run(publisher.import_digest(series, parsed, source_hash, now_utc(), "cli"))
            for parsed in reading.digests
        ]
    if as_json:
        print_json({"editions": [{"edition": one.name, "revision": one.revision, "state": one.state} for one in saved]})
    else:
        for edition in saved:
            click.echo(f"{edition.name} revision {edition.revision}, {len(edition.digest.items)} items")


def _outline(reading: "Reading") -> None:
    for parsed in reading.digests:
        _outline_one(parsed)
    for warning in reading.warnings:
        place = f"line {warning.line}: " if warning.line is not None else ""
        click.echo(f"warning  {place}{warning.message} ({warning.code})")
    for reason, group in _grouped(reading.dropped):
        lines = [str(one.line) for one in group if one.line is not None]
        place = f"line {', '.join(lines)}: " if lines else ""
        click.echo(f"dropped  {place}{_short(' '.join(one.text for one in group))} ({reason})")


def _grouped(dropped: "Sequence[Dropped]") -> "Iterator[tuple[str, list[Dropped]]]":
    """List marks of one kind on one line, everything else on a line of its own."""
    marks: dict[str, list[Dropped]] = {}
    for one in dropped:
        if len(one.text) <= LONGEST_MARK:
            marks.setdefault(one.reason, []).append(one)
        else:
            yield one.reason, [one]
    yield from marks.items()


def _outline_one(parsed: "Digest") -> None:
    days = " – ".join(day.isoformat() for day in (parsed.day, parsed.day_end) if day)
    click.echo(f"title    {parsed.title or '(none)'}")
    click.echo(f"day      {days or '(none)'}{f', {parsed.label}' if parsed.label else ''}")
    click.echo(f"intro    {len(parsed.intro)} paragraphs, outro {len(parsed.outro)}")
    number = 0
    for section in parsed.sections:
        click.echo(f"\n{section.name or '(no section)'}")
        for item in section.items:
            number += 1
            host = item.url.split("/")[2] if item.url else "no link"
            click.echo(f"{number:>4}. {_short(item.title or _first_text(item.blocks))}  [{host}]")
    click.echo()


def _first_text(blocks: "Sequence[Block]") -> str:
    from bot.domain.digest import plain

    return plain(blocks[:1]) or "(empty)"


def _short(text: str, width: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
