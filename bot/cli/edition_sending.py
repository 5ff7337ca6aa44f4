"""`edition publish|resend|correct|recall`: what reaches readers. All ask before more than one of them."""

import asyncio
from typing import TYPE_CHECKING

import click

from bot.cli.context import Context, ask, json_option, print_json

if TYPE_CHECKING:
    from bot.domain.audience import Receiver
    from bot.services.correct import Summary
    from bot.services.publish import Push
    from bot.services.resend import Again
    from bot.settings import Settings
    from bot.store.engine import Store

Name = tuple[str, str]
dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command()
@click.argument("edition")
@dry_run_option
@yes_option
@json_option
@click.pass_obj
def publish(context: Context, edition: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Send EDITION (SERIES/SLUG or SERIES/latest) to its subscribers. Publishing twice changes nothing."""
    settings, name = _named(context, edition)
    with context.store(settings) as store:
        push = asyncio.run(_publish(settings, store, name, dry_run=dry_run, yes=yes))
    _print_push(push, as_json=as_json, dry_run=dry_run)


@click.command()
@click.argument("edition")
@click.option(
    "--only",
    type=click.Choice(["failed", "unsent", "all"]),
    help="Those whom it failed to reach, those to whom it never went, or everybody once more.",
)
@click.option("--to", metavar="ID", help="One person or group, whatever they have.")
@dry_run_option
@yes_option
@json_option
@click.pass_obj
def resend(
    context: Context, edition: str, only: str | None, to: str | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Send EDITION again. `failed` and `unsent` reach nobody who has any of it, and nobody who has left."""
    from bot.services.resend import Again
    from bot.store.resends import Only

    if (only is None) == (to is None):
        raise click.UsageError("say whom it is for: --only failed, --only unsent, --only all, or --to ID")
    settings, name = _named(context, edition)
    again = Again(Only(only)) if only else Again(Only.TO_ONE, receiver_of(to or ""))
    with context.store(settings) as store:
        push = asyncio.run(_resend(settings, store, name, again, dry_run=dry_run, yes=yes))
    _print_push(push, as_json=as_json, dry_run=dry_run)


@click.command()
@click.argument("edition")
@dry_run_option
@yes_option
@json_option
@click.pass_obj
def correct(context: Context, edition: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Change what was sent of EDITION to what its source, or a file imported since, says now."""
    settings, name = _named(context, edition)
    with context.store(settings) as store:
        summary = asyncio.run(_correct(settings, store, name, dry_run=dry_run, yes=yes, quiet=as_json))
    if as_json:
        print_json(_plain(summary))
        return
    verb = "would be" if dry_run else "are"
    click.echo(f"{summary.changed} messages {verb} changed, {summary.turned} go out corrected, ", nl=False)
    click.echo(f"{summary.followed} further parts, {summary.unchanged} say the same as before")
    _print_misses(summary)


@click.command()
@click.argument("edition")
@dry_run_option
@yes_option
@json_option
@click.pass_obj
def recall(context: Context, edition: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take EDITION back as far as the platform lets us, and hold it."""
    settings, name = _named(context, edition)
    with context.store(settings) as store:
        summary = asyncio.run(_recall(settings, store, name, dry_run=dry_run, yes=yes))
    if as_json:
        print_json(_plain(summary))
        return
    verb = "would be" if dry_run else "are"
    click.echo(f"{summary.changed} messages {verb} deleted, {summary.turned} {verb} not sent")
    _print_misses(summary)


def receiver_of(text: str) -> "Receiver":
    """A person or a group by its id. Raises UsageError."""
    from bot.domain.audience import Kind, Receiver
    from bot.domain.errors import UsageError

    kinds = {"ou_": Kind.USER, "oc_": Kind.GROUP}
    if text[:3] not in kinds:
        raise UsageError(f"{text!r} is no id of a person (ou_…) or a group (oc_…)")
    return Receiver(kinds[text[:3]], text)


def _named(context: Context, edition: str) -> tuple["Settings", Name]:
    from bot.services import manage

    settings = context.settings()
    series, slug = manage.split_name(edition)
    settings.one_series(series)
    return settings, (series, slug)


async def _publish(settings: "Settings", store: "Store", name: Name, *, dry_run: bool, yes: bool) -> "Push":
    from bot.parts import commanded_publisher, now_utc

    async with commanded_publisher(settings, store) as publisher:
        plan = await publisher.publish(*name, now_utc(), "cli", dry_run=True)
        if dry_run:
            return plan
        if plan.id is None and plan.receivers > 1 and not yes:
            ask(f"Send {plan.edition} to {plan.receivers} receivers?", "pass --yes to send to more than one receiver")
        return await publisher.publish(*name, now_utc(), "cli")


async def _resend(
    settings: "Settings", store: "Store", name: Name, again: "Again", *, dry_run: bool, yes: bool
) -> "Push":
    from bot.parts import commanded_desk, now_utc
    from bot.store.resends import Only

    async with commanded_desk(settings, store) as desk:
        plan = desk.resender.would_resend(store, name, again, now_utc())
        if dry_run:
            return plan
        if plan.receivers > 1 and not yes:
            ask(f"Send {plan.edition} to {plan.receivers} receivers?", "pass --yes to send to more than one receiver")
            if again.only is Only.ALL:
                ask("Most of them have it already and get it twice. Really?", "pass --yes")
        return await store.write(desk.resender.resend, name, again, now_utc(), "cli")


async def _correct(
    settings: "Settings", store: "Store", name: Name, *, dry_run: bool, yes: bool, quiet: bool
) -> "Summary":
    from bot.parts import commanded_desk, now_utc

    async with commanded_desk(settings, store) as desk:
        is_new = await desk.corrector.reread(name, now_utc(), "cli", dry_run=dry_run)
        if is_new and dry_run:
            click.echo("the source says something else now; it is taken in before anything is changed", err=True)
        plan = await desk.corrector.correct(name, now_utc(), "cli", dry_run=True)
        if not quiet:
            _print_difference(plan)
        if dry_run:
            return plan
        if plan.changed + plan.turned > 1 and not yes:
            ask(f"Change {plan.changed + plan.turned} messages?", "pass --yes to change more than one message")
        return await desk.corrector.correct(name, now_utc(), "cli")


async def _recall(settings: "Settings", store: "Store", name: Name, *, dry_run: bool, yes: bool) -> "Summary":
    from bot.parts import commanded_desk, now_utc

    async with commanded_desk(settings, store) as desk:
        plan = await desk.corrector.recall(name, now_utc(), "cli", dry_run=True)
        if dry_run:
            return plan
        if plan.changed + plan.turned > 1 and not yes:
            ask(f"Delete {plan.changed} messages?", "pass --yes to delete more than one message")
        return await desk.corrector.recall(name, now_utc(), "cli")


def _print_push(push: "Push", *, as_json: bool, dry_run: bool) -> None:
    if as_json:
        numbers = {"receivers": push.receivers, "parts": push.parts, "skipped": dict(push.skipped)}
        print_json({"edition": push.edition, "push": push.id, **numbers, "estimate_s": round(push.estimate_s)})
        return
    verb = "would go" if dry_run else "goes"
    size = f"{push.receivers} receivers in {push.parts} messages, about {push.estimate_s:.0f} s"
    click.echo(f"{push.edition} {verb} to {size}")
    for reason, n in push.skipped.items():
        click.echo(f"skipped  {n} {reason}")


def _print_difference(summary: "Summary") -> None:
    found = summary.difference
    for mark, names in (("+", found.added), ("-", found.removed), ("~", found.changed)) if found else ():
        for name in names:
            click.echo(f"{mark} {name}")
    if found and found.around:
        click.echo("~ (title, opening, end or sections)")


def _print_misses(summary: "Summary") -> None:
    for reason, n in summary.misses.items():
        click.echo(f"stays as it is  {n}  {reason}")


def _plain(summary: "Summary") -> dict[str, object]:
    found = summary.difference
    return {
        "edition": summary.edition,
        "revision": summary.revision,
        "difference": {
            "added": found.added,
            "removed": found.removed,
            "changed": found.changed,
            "around": found.around,
        }
        if found
        else None,
        "messages": summary.changed,
        "unsent": summary.turned,
        "further_parts": summary.followed,
        "unchanged": summary.unchanged,
        "misses": dict(summary.misses),
    }
