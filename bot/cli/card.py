"""`card render`: the cards that would be sent."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.card_files import show_cards
from bot.cli.context import instant_of, json_option, received_option, zone_of

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
    from bot.services.publish import preview
    from bot.sources.folder import read_file

    zone = zone_of(timezone)
    reading, _ = read_file(file, received_at=instant_of(received_at, zone), zone=zone)
    drawn = _drawn(reading.digests) if pictures else {}
    known = {source: picture for source, (picture, _) in drawn.items()}
    cards = [one for digest in reading.digests for one in preview(digest, density, known)]
    show_cards(cards, out, as_json=as_json, pictures={one.key: content for one, content in drawn.values()})


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
