"""`edition list|show|preview|hold|release`: editors' looks, and what stops and starts. Sending: edition_sending.py."""

from pathlib import Path

import click

from bot.cli import edition_sending
from bot.cli.card_files import show_cards
from bot.cli.context import Context, after_option, json_option, limit_option, print_json, print_rows


@click.group()
def edition() -> None:
    """Editions: what was taken in and sent out."""


for command in (
    edition_sending.publish,
    edition_sending.resend,
    edition_sending.correct,
    edition_sending.recall,
):
    edition.add_command(command)


@edition.command("list")
@click.option("--series", metavar="ID", help="Only this series.")
@limit_option
@after_option
@json_option
@click.pass_obj
def list_(context: Context, series: str | None, limit: int, after: int, as_json: bool) -> None:
    """Editions, newest first."""
    from bot.services import manage

    settings = context.settings()
    with context.store(settings) as store:
        answer = manage.list_editions(store, series, limit, after)
    if as_json:
        print_json(answer)
    else:
        print_rows(answer["editions"], ["edition", "state", "revision", "items", "title"], answer["next"])


@edition.command()
@click.argument("edition")
@json_option
@click.pass_obj
def show(context: Context, edition: str, as_json: bool) -> None:
    """One edition: its items, its pushes, and what was changed after it was sent."""
    from bot.services import editing

    settings = context.settings()
    with context.store(settings) as store:
        answer = editing.show(store, edition)
    if as_json:
        print_json(answer)
        return
    click.echo(f"{answer['edition']}  {answer['state']}  revision {answer['revision']}  {answer['title'] or ''}")
    number = 0
    for section in answer["sections"]:
        click.echo(f"\n{section['name'] or '(no section)'}")
        for item in section["items"]:
            number += 1
            click.echo(f"{number:>4}. {item['title'] or item['url'] or '(untitled)'}")
    for push in answer["pushes"]:
        click.echo(f"\npush {push['push']}: {push['receivers']} receivers, {_counted(push['messages'])}")
    for change in answer["changes"]:
        click.echo(f"{change['kind']}: {_counted(change['messages'])}")
        for reason, n in change["misses"].items():
            click.echo(f"  stayed as it was  {n}  {reason}")


@edition.command()
@click.argument("edition")
@click.option("--density", type=click.Choice(["brief", "standard", "full"]), default="standard", show_default=True)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write part-N.json and part-N.html here.")
@click.option("--to", metavar="ID", help="Send it to this person or group, and to nobody else.")
@click.option("--dry-run", is_flag=True, help="With --to: say what would be sent, and send nothing.")
@json_option
@click.pass_obj
def preview(
    context: Context, edition: str, density: str, out: Path | None, to: str | None, dry_run: bool, as_json: bool
) -> None:
    """The cards of EDITION as they would be sent."""
    from bot.parts import build_renderer, now_utc
    from bot.services import editing, manage

    settings = context.settings()
    settings.one_series(manage.split_name(edition)[0])
    with context.store(settings) as store:
        renderer = build_renderer(settings, store)
        cards = editing.cards(store, renderer, edition, density)
        if to is not None and not dry_run:
            editing.preview_to(store, renderer, edition, density, edition_sending.receiver_of(to), now_utc(), "cli")
    show_cards(cards, out, as_json=as_json)
    if to is not None and not as_json:
        click.echo(f"{'would go' if dry_run else 'goes'} to {to}")


@edition.command()
@click.argument("edition")
@click.pass_obj
def hold(context: Context, edition: str) -> None:
    """Let nobody get EDITION until it is released; what is on its way waits."""
    from bot.parts import now_utc
    from bot.services import editing

    settings = context.settings()
    with context.store(settings) as store:
        done = editing.hold(store, edition, now_utc(), "cli")
    click.echo(f"{edition} {'is held' if done else 'was held already'}")


@edition.command()
@click.argument("edition")
@click.pass_obj
def release(context: Context, edition: str) -> None:
    """Let a held EDITION go on where it was."""
    from bot.parts import now_utc
    from bot.services import editing

    settings = context.settings()
    with context.store(settings) as store:
        state = editing.release(store, edition, now_utc(), "cli")
    click.echo(f"{edition} is {state}")


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{n} {status}" for status, n in counts.items()) or "no messages"
