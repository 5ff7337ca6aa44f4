"""`delivery list`: the ledger."""

import click

from bot.cli.context import Context, after_option, json_option, limit_option, print_json, print_rows

STATUSES = ["pending", "sending", "sent", "failed", "unknown", "cancelled", "skipped"]


@click.group()
def delivery() -> None:
    """Deliveries: what went to whom, and how it ended."""


@delivery.command("list")
@click.option("--edition", metavar="EDITION", help="Only this edition: SERIES/SLUG or SERIES/latest.")
@click.option("--status", type=click.Choice(STATUSES), help="Only this state.")
@limit_option
@after_option
@json_option
@click.pass_obj
def list_(context: Context, edition: str | None, status: str | None, limit: int, after: int, as_json: bool) -> None:
    """Rows of the ledger, oldest first."""
    from bot.domain.delivery import Status
    from bot.services import manage

    settings = context.settings()
    wanted = Status(status) if status else None
    with context.store(settings) as store:
        answer = manage.list_deliveries(store, limit, after, edition=edition, status=wanted)
    if as_json:
        print_json(answer)
    else:
        columns = ["id", "edition", "receiver", "part", "status", "attempts", "code", "reason", "sent_at"]
        print_rows(answer["deliveries"], columns, answer["next"])
