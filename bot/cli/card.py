"""`card render`: the cards that would be sent."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.context import instant_of, json_option, print_json, print_table, received_option, zone_of

if TYPE_CHECKING:
    from bot.domain.digest import Digest
    from bot.domain.pictures import Picture


@click.group()
def card() -> None:
    """Look at cards before they are sent."""


@card.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--density", type=click.Choice(["brief", "standard", "full"]), default="standard", show_default=True)
@received_option
@click.option("--timezone", default="Asia/Shanghai", show_default=True, help="Zone of the editors' days.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write part-N.json and part-N.html here.")
@click.option("--pictures", is_flag=True, help="Draw formulas too, under keys that only these files know.")
@json_option
def render(
    file: Path, density: str, received_at: str | None, timezone: str, out: Path | None, pictures: bool, as_json: bool
) -> None:
    """Render FILE into the cards that would be sent. Sends nothing, needs no configuration."""
    import json

    from bot.domain.errors import UsageError
    from bot.services.publish import preview
    from bot.sources.folder import read_file

    zone = zone_of(timezone)
    reading, _ = read_file(file, received_at=instant_of(received_at, zone), zone=zone)
    drawn = _drawn(reading.digests) if pictures else {}
    known = {source: picture for source, (picture, _) in drawn.items()}
    cards = [one for digest in reading.digests for one in preview(digest, density, known)]
    if out is not None:
        from bot.sandbox.draw import page_of

        contents = {picture.key: content for picture, content in drawn.values()}
        try:
            out.mkdir(parents=True, exist_ok=True)
            for number, one in enumerate(cards, 1):
                body = json.loads(one.body)
                text = json.dumps(body, ensure_ascii=False, indent=2)
                (out / f"part-{number}.json").write_text(text + "\n", encoding="utf-8")
                (out / f"part-{number}.html").write_text(page_of(body, contents), encoding="utf-8")
        except OSError as exc:
            raise UsageError(f"{out} cannot be written ({exc.strerror}); choose another folder with --out") from exc
    if as_json:
        print_json(
            {
                "cards": [json.loads(one.body) for one in cards],
                "bytes": [one.bytes for one in cards],
                "elements": [one.elements for one in cards],
            }
        )
        return
    print_table([["part", "bytes", "elements"], *[[n, one.bytes, one.elements] for n, one in enumerate(cards, 1)]])
    if out is not None:
        click.echo(f"written to {out}")


def _drawn(digests: "Iterable[Digest]") -> "dict[str, tuple[Picture, bytes]]":
    """Pictures of formulas with their files, by source. Nothing is fetched and nothing uploaded."""
    from bot.domain.pictures import FORMULA, Picture, sources
    from bot.pictures.formula import draw
    from bot.pictures.ready import PictureError

    drawn: dict[str, tuple[Picture, bytes]] = {}
    for source in (one for digest in digests for one in sources(digest) if one.startswith(FORMULA)):
        try:
            ready = draw(source.removeprefix(FORMULA))
        except PictureError:
            continue  # shown as text, as it will be when it is sent
        drawn[source] = Picture(f"preview-{len(drawn) + 1}", ready.width, ready.height), ready.content
    return drawn
