"""Cards for eyes and for files, as `card render` and `edition preview` show them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.context import print_json, print_table
from bot.domain.errors import UsageError

if TYPE_CHECKING:
    from bot.cards.render import Card


def show_cards(
    cards: "Sequence[Card]", out: Path | None, *, as_json: bool, pictures: Mapping[str, bytes] | None = None
) -> None:
    """Write each as JSON and as a page where `out` says so, and tell their sizes. `pictures`: files by image_key."""
    bodies = [json.loads(one.body) for one in cards]
    if out is not None:
        _write(bodies, out, pictures or {})
    if as_json:
        sizes = {"bytes": [one.bytes for one in cards], "elements": [one.elements for one in cards]}
        print_json({"cards": bodies, **sizes})
        return
    print_table([["part", "bytes", "elements"], *[[n, one.bytes, one.elements] for n, one in enumerate(cards, 1)]])
    if out is not None:
        click.echo(f"written to {out}")


def _write(bodies: Sequence[dict[str, object]], out: Path, pictures: Mapping[str, bytes]) -> None:
    from bot.sandbox.draw import page_of

    try:
        out.mkdir(parents=True, exist_ok=True)
        for number, body in enumerate(bodies, 1):
            text = json.dumps(body, ensure_ascii=False, indent=2)
            (out / f"part-{number}.json").write_text(text + "\n", encoding="utf-8")
            (out / f"part-{number}.html").write_text(page_of(body, pictures), encoding="utf-8")
    except OSError as exc:
        raise UsageError(f"{out} cannot be written ({exc.strerror}); choose another folder with --out") from exc
