"""`delivery`: the ledger, and a second try."""

import click

from bot.cli.context import Context, after_option, ask, json_option, limit_option, print_json, print_rows

STATUSES = ["pending", "sending", "sent", "failed", "unknown", "cancelled", "skipped"]
REASONS = {
    "other_status": "in another state: see --status",
    "unsubscribed": "to somebody who has left",
    "paused": "to somebody who wants a pause, or whom an admin paused",
    "replaced": "that a later push has taken over",
    "not_there": "that are not there",
    "stopped": "of a push that was stopped: ask with --edition",
}
edition_option = click.option("--edition", metavar="EDITION", help="Only this edition: SERIES/SLUG or SERIES/latest.")


@click.group()
def delivery() -> None:
    """Deliveries: what went to whom, and how it ended."""


@delivery.command("list")
@edition_option
@click.option("--status", type=click.Choice(STATUSES), help="Only this state.")
@click.option("--receiver", metavar="ID", help="Only this receiver, as a list shows it.")
@limit_option
@after_option
@json_option
@click.pass_obj
def list_(
    context: Context,
    edition: str | None,
    status: str | None,
    receiver: str | None,
    limit: int,
    after: int,
    as_json: bool,
) -> None:
    """Rows of the ledger, oldest first."""
    from bot.domain.delivery import Status
    from bot.services import manage, subscriptions

    settings = context.settings()
    wanted = Status(status) if status else None
    with context.store(settings) as store:
        one = subscriptions.find(store, receiver, settings.feishu.base_url) if receiver else None
        answer = manage.list_deliveries(store, limit, after, edition=edition, status=wanted, receiver=one)
    if as_json:
        print_json(answer)
    else:
        columns = ["id", "edition", "receiver", "part", "status", "attempts", "code", "reason", "sent_at"]
        print_rows(answer["deliveries"], columns, answer["next"])


@delivery.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=int)
@edition_option
@click.option(
    "--status",
    type=click.Choice(["failed", "unknown"]),
    default="failed",
    show_default=True,
    help="Only this state. Unknown ones may have arrived, and would arrive twice.",
)
@click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def retry(
    context: Context, ids: tuple[int, ...], edition: str | None, status: str, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Send what failed again: deliveries ID, those of EDITION, or all.

    Nobody gets what they have got since, and nobody who has left gets anything. With --edition a push that was
    stopped goes on.
    """
    from bot.domain.delivery import Status
    from bot.parts import now_utc
    from bot.services import manage
    from bot.services import retry as service
    from bot.store.retry import Wanted

    settings = context.settings()
    with context.store(settings) as store:
        edition_id = manage.edition_named(store, edition).id if edition else None
        wanted = Wanted(Status(status), ids, edition_id)
        plan = service.retry(store, wanted, now_utc(), "cli", dry_run=True)
        messages = plan.deliveries + plan.waiting
        if not dry_run:
            if not yes and (plan.receivers + plan.waiting > 1 or (messages and status == "unknown")):
                doubt = " They may have arrived, and would arrive twice." if status == "unknown" else ""
                ask(
                    f"Send {messages} messages?{doubt}",
                    f"{messages} messages would go out; look with --dry-run, then pass --yes to send them",
                )
            plan = service.retry(store, wanted, now_utc(), "cli")
    if as_json:
        print_json(
            {
                "deliveries": plan.deliveries,
                "receivers": plan.receivers,
                "waiting": plan.waiting,
                "skipped": plan.skipped,
            }
        )
        return
    verb = "would go" if dry_run else "go"
    click.echo(f"{plan.deliveries} messages {verb} out again, to {plan.receivers} receivers")
    if plan.waiting:
        click.echo(f"{plan.waiting} that waited behind the stop {verb} on")
    for reason, number in plan.skipped.items():
        click.echo(f"skipped  {number} {REASONS[reason]}")
