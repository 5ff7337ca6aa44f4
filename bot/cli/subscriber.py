"""`subscriber`: who gets the digest."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.context import (
    Context,
    after_option,
    json_option,
    limit_option,
    print_json,
    print_rows,
    progress,
    secret_file,
)
from bot.cli.roster_file import rows_of, write_csv, write_json
from bot.domain.errors import UsageError

if TYPE_CHECKING:
    from bot.store.engine import Store

ASKED_FOR = "-"

series_option = click.option("--series", metavar="ID", help="Only this series.")


@click.group()
def subscriber() -> None:
    """People, groups and webhooks that get the digest.

    ID is an open_id, a chat_id, or a webhook's address or what `list` shows of it.
    """


@subscriber.command("list")
@series_option
@limit_option
@after_option
@json_option
@click.pass_obj
def list_(context: Context, series: str | None, limit: int, after: int, as_json: bool) -> None:
    """Subscriptions, one row each."""
    from bot.services import manage

    settings = context.settings()
    with context.store(settings) as store:
        answer = manage.list_subscriptions(store, series, limit, after)
    if as_json:
        print_json(answer)
    else:
        columns = ["kind", "id", "name", "series", "status", "reason", "density", "since"]
        print_rows(answer["subscribers"], columns, answer["next"])


@subscriber.command()
@click.option("--kind", type=click.Choice(["user", "group", "webhook"]), required=True)
@click.option("--id", required=True, help="open_id of a user, chat_id of a group, address of a webhook.")
@click.option("--series", required=True, metavar="ID")
@click.option("--name", default="")
@click.option("--sections", default="", help="Only these sections, separated by |.")
@click.option("--density", default="standard", type=click.Choice(["brief", "standard", "full"]))
@click.option("--slot", default="", metavar="HH:MM", help="An hour of its own.")
@click.option("--secret", default="", help="What a webhook's messages are signed with; - asks for it, or reads a line.")
@json_option
@click.pass_obj
def add(context: Context, /, *, as_json: bool, **cells: str) -> None:
    """Subscribe one receiver; one who is there already stays as it is."""
    from bot.parts import now_utc
    from bot.services import manage
    from bot.services.roster import read_row

    settings = context.settings()
    if cells["secret"] == ASKED_FOR:
        cells["secret"] = _asked_for()
    row = read_row(cells, [one.id for one in settings.series], settings.feishu.base_url)
    with context.store(settings) as store:
        new, seen = manage.import_subscriptions(store, [row], now_utc())
    _say(new, seen, as_json=as_json)


@subscriber.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def import_(context: Context, file: Path, as_json: bool) -> None:
    """Subscribe everybody in a CSV file. Safe to repeat.

    Columns: kind,id,series and, where there is something to say, name,sections,density,slot,secret.
    """
    from bot.parts import now_utc
    from bot.services import manage

    settings = context.settings()
    try:
        raw = file.open("rb")
    except OSError as exc:
        raise UsageError(f"{file} cannot be read ({exc.strerror}); name a CSV file") from exc
    with raw, context.store(settings) as store, progress("imported", file.stat().st_size) as told:
        rows = rows_of(file, raw, [one.id for one in settings.series], settings.feishu.base_url)
        new, seen = manage.import_subscriptions(
            store, rows, now_utc(), told=lambda: told(raw.tell() if raw.seekable() else 0)
        )
    _say(new, seen, as_json=as_json)


@subscriber.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@series_option
@click.option("--yes", is_flag=True, help="Replace FILE if it is there.")
@json_option
@click.pass_obj
def export(context: Context, file: Path | None, series: str | None, yes: bool, as_json: bool) -> None:
    """Write all who have not left as CSV, to FILE or to the terminal, as `subscriber import` reads it."""
    settings = context.settings()
    with context.store(settings) as store:
        if file is None:
            stream, rows = sys.stdout, _exported(store, series)
            if as_json:
                write_json(stream, rows)
            else:
                write_csv(stream, rows)
            return
        with secret_file(file, replace=yes) as out:
            written = write_csv(out, _exported(store, series))
    if as_json:
        print_json({"file": str(file), "subscriptions": written})
    else:
        click.echo(f"{written} subscriptions in {file}")


@subscriber.command()
@click.argument("receiver", metavar="ID")
@series_option
@json_option
@click.pass_obj
def pause(context: Context, receiver: str, series: str | None, as_json: bool) -> None:
    """Send nothing more to ID until `subscriber resume`; what waits for it is cancelled."""
    from bot.services import subscriptions

    _change(context, subscriptions.pause, "paused", receiver, series, as_json=as_json)


@subscriber.command()
@click.argument("receiver", metavar="ID")
@series_option
@json_option
@click.pass_obj
def resume(context: Context, receiver: str, series: str | None, as_json: bool) -> None:
    """Go on with ID, whoever paused it, and take back a removal."""
    from bot.services import subscriptions

    _change(context, subscriptions.resume, "resumed", receiver, series, as_json=as_json)


@subscriber.command()
@click.argument("receiver", metavar="ID")
@series_option
@json_option
@click.pass_obj
def remove(context: Context, receiver: str, series: str | None, as_json: bool) -> None:
    """End the subscriptions of ID; what waits for it is cancelled."""
    from bot.services import subscriptions

    _change(context, subscriptions.remove, "removed", receiver, series, as_json=as_json)


def _change(
    context: Context, change: Callable[..., dict[str, Any]], done: str, text: str, series: str | None, *, as_json: bool
) -> None:
    from bot.parts import now_utc
    from bot.services import subscriptions

    settings = context.settings()
    if series is not None:
        settings.one_series(series)
    with context.store(settings) as store:
        receiver = subscriptions.find(store, text, settings.feishu.base_url)
        answer = change(store, receiver, series, now_utc(), "cli")
    if as_json:
        print_json(answer)
        return
    what = f"{done}: {', '.join(answer['changed'])}" if answer["changed"] else f"is {done} already"
    click.echo(f"{answer['id']} {what}")


def _asked_for() -> str:
    """Not on the command line: others may read that, and the shell remembers it."""
    if sys.stdin.isatty():
        return str(click.prompt("Secret", hide_input=True, err=True))
    return sys.stdin.readline().strip()


def _exported(store: "Store", series: str | None) -> Iterator[dict[str, str]]:
    """Rows with progress; at the end it says on stderr what the reader of the file has to know."""
    from bot.services import subscriptions

    webhooks = paused = 0
    total = subscriptions.count(store, series)
    with progress("exported", total) as told:
        for number, (subscription, cells) in enumerate(subscriptions.export(store, series), 1):
            webhooks += subscription.receiver.kind == "webhook"
            paused += subscription.status == "paused"
            yield cells
            if number % subscriptions.EXPORT_PAGE == 0:
                told(number)
    if webhooks:
        click.echo(f"holds {webhooks} webhooks with their secrets: keep it where you keep passwords", err=True)
    if paused:
        click.echo(f"{paused} are paused; imported elsewhere they would be active", err=True)


def _say(new: int, seen: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"new": new, "existing": seen})
    else:
        click.echo(f"{new} subscribed, {seen} were already there")
