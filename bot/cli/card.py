"""`card render`: the cards that would be sent."""

from pathlib import Path

import click

from bot.cli.context import instant_of, json_option, print_json, print_table, received_option, zone_of


@click.group()
def card() -> None:
    """Look at cards before they are sent."""


@card.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--density", type=click.Choice(["brief", "standard", "full"]), default="standard", show_default=True)
@received_option
@click.option("--timezone", default="Asia/Shanghai", show_default=True, help="Zone of the editors' days.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write part-N.json and part-N.html here.")
@json_option
def render(file: Path, density: str, received_at: str | None, timezone: str, out: Path | None, as_json: bool) -> None:
    """Render FILE into the cards that would be sent. Sends nothing, needs no configuration."""
    import json

    from bot.domain.errors import UsageError
    from bot.services.publish import preview
    from bot.sources.folder import read_file

    zone = zone_of(timezone)
    reading, _ = read_file(file, received_at=instant_of(received_at, zone), zone=zone)
    cards = [one for digest in reading.digests for one in preview(digest, density)]
    if out is not None:
        from bot.sandbox.draw import page_of

        try:
            out.mkdir(parents=True, exist_ok=True)
            for number, one in enumerate(cards, 1):
                body = json.loads(one.body)
                text = json.dumps(body, ensure_ascii=False, indent=2)
                (out / f"part-{number}.json").write_text(text + "\n", encoding="utf-8")
                (out / f"part-{number}.html").write_text(page_of(body), encoding="utf-8")
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
