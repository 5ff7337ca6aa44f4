"""`edition list` and `edition publish`."""

import click

from bot.cli.context import Context, after_option, json_option, limit_option, print_json, print_rows


@click.group()
def edition() -> None:
    """Editions: what was taken in and sent out."""


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
@click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def publish(context: Context, edition: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Send EDITION (SERIES/SLUG or SERIES/latest) to its subscribers. Publishing twice changes nothing."""
    import asyncio

    from bot.domain.errors import UsageError
    from bot.parts import build_publisher, now_utc
    from bot.services import manage

    settings = context.settings()
    series, slug = manage.split_name(edition)
    settings.one_series(series)
    with context.store(settings) as store:
        publisher = build_publisher(settings, store)
        plan = asyncio.run(publisher.publish(series, slug, now_utc(), "cli", dry_run=True))
        if not dry_run:
            if plan.id is None and plan.receivers > 1 and not yes:
                _ask(
                    f"Send {plan.edition} to {plan.receivers} receivers?",
                    UsageError("pass --yes to send to more than one receiver"),
                )
            plan = asyncio.run(publisher.publish(series, slug, now_utc(), "cli"))
    answer = {
        "edition": plan.edition,
        "push": plan.id,
        "receivers": plan.receivers,
        "parts": plan.parts,
        "skipped": dict(plan.skipped),
        "estimate_s": round(plan.estimate_s),
    }
    if as_json:
        print_json(answer)
    else:
        verb = "would go" if dry_run else "goes"
        size = f"{plan.receivers} receivers in {plan.parts} messages, about {plan.estimate_s:.0f} s"
        click.echo(f"{plan.edition} {verb} to {size}")
        for reason, n in plan.skipped.items():
            click.echo(f"skipped  {n} {reason}")


def _ask(question: str, otherwise: Exception) -> None:
    import sys

    if not sys.stdin.isatty():
        raise otherwise
    click.confirm(question, abort=True, err=True)
