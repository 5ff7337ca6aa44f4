"""`demo`, `run`, `sandbox`, `status` and `config`: running the bot."""

from pathlib import Path
from typing import Any

import click

from bot.cli.context import Context, json_option, print_json, print_table


@click.command()
@click.option(
    "--port", type=click.IntRange(1, 65534), default=8000, show_default=True, help="Bot; the sandbox takes the next."
)
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), default=Path("data/demo"), show_default=True)
def demo(port: int, data: Path) -> None:
    """Try everything on this machine: a local Feishu and the bot, no account needed."""
    from bot.demo import run_demo
    from bot.serving import run

    run(run_demo(port, data))


@click.command()
@click.option("--role", type=click.Choice(["all", "web", "sender", "scheduler"]), default="all", show_default=True)
@click.pass_obj
def run(context: Context, role: str) -> None:
    """Run the bot: callbacks, sender and scheduler. Several processes may share the roles on PostgreSQL."""
    from bot import serving
    from bot.app import Role, serve

    serving.run(serve(context.settings(), Role(role)))


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8001, show_default=True)
@click.option("--events", default="", metavar="URL", help="Events go to URL/events and clicks to URL/card.")
@click.option("--limits/--no-limits", default=True, help="The platform's rate limits; off for load tests.")
def sandbox(port: int, events: str, limits: bool) -> None:
    """Run the local Feishu alone, for this bot or another."""
    from bot.demo import run_sandbox
    from bot.serving import run

    run(run_sandbox(port, events.rstrip("/"), limits=limits))


@click.command()
@json_option
@click.pass_obj
def status(context: Context, as_json: bool) -> None:
    """What is running, due, late and paused."""
    from bot.parts import all_series, now_utc
    from bot.services import status as service

    settings = context.settings()
    with context.store(settings) as store:
        answer = service.status(store, all_series(settings), settings.delivery.monthly_calls, now_utc())
    if as_json:
        print_json(answer)
    else:
        _print_status(answer)


@click.group()
def config() -> None:
    """The configuration."""


@config.command()
@click.pass_obj
def check(context: Context) -> None:
    """Read the configuration and say whether the bot could run with it."""
    from bot.config import require_service

    require_service(context.settings())
    click.echo(f"{context.config} is complete")


@config.command()
@click.pass_obj
def show(context: Context) -> None:
    """Print the settings in force, secrets masked."""
    from bot.config import masked

    print_json(masked(context.settings()))


def _print_status(answer: dict[str, Any]) -> None:
    queue, quota = answer["queue"], answer["quota"]
    for one in answer["series"]:
        late = "  LATE" if one["late"] else ""
        at = one["next_push_at"].isoformat(timespec="minutes")
        click.echo(f"{one['id']}: next push {at}, last edition {one['last_edition'] or '(none)'}{late}")
    rows = [
        ["subscribers", kind, *[f"{n} {state}" for state, n in states.items()]]
        for kind, states in answer["subscribers"].items()
    ]
    width = max(len(row) for row in rows)
    print_table([row + [""] * (width - len(row)) for row in rows])
    click.echo("outbox: " + (", ".join(f"{n} {state}" for state, n in answer["outbox"].items()) or "empty"))
    paused = f"paused ({queue['reason']})" if queue["paused"] else "running"
    click.echo(f"queue: {paused}, oldest due for {queue['oldest_due_s']} s")
    cap = f" of {quota['limit']}" if quota["limit"] else ""
    click.echo(f"calls in {quota['month']}: {quota['used']}{cap}, forecast {quota['forecast']}")
