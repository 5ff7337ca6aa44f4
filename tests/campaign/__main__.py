"""`python -m tests.campaign NAME`: exit 1 if what was to be proved is not so."""

import logging
import sys
from collections.abc import Coroutine
from typing import Any

import click

from bot.serving import run
from tests.campaign import stage

store_option = click.option("--store", "kind", type=click.Choice(stage.STORES), default="sqlite", show_default=True)


@click.group()
def campaign() -> None:
    """Long proofs."""


@campaign.command()
@store_option
@click.option("--kills", default=100, show_default=True)
@click.option("--receivers", default=1000, show_default=True)
def kills(kind: str, kills: int, receivers: int) -> None:
    """SIGKILL at random moments: nothing is lost or doubled."""
    from tests.campaign.kills import campaign as killing

    _prove(killing(kind, kills, receivers))


@campaign.command()
@click.option("--receivers", default=2000, show_default=True)
def faults(receivers: int) -> None:
    """A tenth of the calls limited, others broken, lost or hanging: everybody healthy has it once."""
    from tests.campaign.faults import campaign as breaking

    _prove(breaking(receivers))


@campaign.command()
@click.option("--sends", default=3000, show_default=True)
def pace(sends: int) -> None:
    """Real time, the platform's limits on, the default pacing: the rate that is reached, and no limit answer."""
    from tests.campaign.pacing import campaign as pacing

    _prove(pacing(sends))


@campaign.command()
@click.option("--sends", default=3000, show_default=True)
def sharing(sends: int) -> None:
    """Three processes on one PostgreSQL, one of them killed: together within the limits."""
    from tests.campaign.sharing import campaign as sharing_

    _prove(sharing_(sends))


@campaign.command()
@click.option("--receivers", default=2000, show_default=True)
def restart(receivers: int) -> None:
    """PostgreSQL stopped and started during a push, once orderly and once not: it goes on."""
    from tests.campaign.restart import campaign as restarting

    _prove(restarting(receivers))


@campaign.command()
@click.option("--receivers", default=2000, show_default=True)
def disk(receivers: int) -> None:
    """SQLite on a full disk: one clear line, and after making room everybody has it once."""
    from tests.campaign.disk import campaign as filling

    _prove(filling(receivers))


@campaign.command()
@store_option
@click.option("--subscribers", default=1_000_000, show_default=True)
def million(kind: str, subscribers: int) -> None:
    """Subscribers imported and an edition planned for them by commands: what memory that takes."""
    from tests.campaign.million import campaign as counting

    _prove(counting(kind, subscribers))


@campaign.command()
@store_option
@click.option("--seconds", default=60, show_default=True)
@click.option("--per-second", default=100.0, show_default=True)
@click.option("--receivers", default=2000, show_default=True)
@click.option("--full-speed", is_flag=True, help="The sender without the platform's limits.")
def clicks(kind: str, seconds: int, per_second: float, receivers: int, *, full_speed: bool) -> None:
    """Events and clicks while a push goes out: how soon they are answered, and every row right."""
    from tests.campaign.clicks import campaign as clicking

    _prove(clicking(kind, seconds, per_second, receivers, full_speed=full_speed))


@campaign.command()
@store_option
@click.option("--count", default=20_000, show_default=True)
@click.option("--seed", default=20250313, show_default=True)
@click.option("--samples", default=3000, show_default=True, help="Of each kind whose answers are timed.")
def mutants(kind: str, count: int, seed: int, samples: int) -> None:
    """Forged, broken and strange requests: no 5xx, no row changed, and no padding oracle."""
    from tests.campaign.mutants import campaign as mutating

    _prove(mutating(kind, count, seed, samples))


@campaign.command()
def strangers() -> None:
    """Apps made with the official SDKs, Python's and (with npm) Node's, at our platform's addresses."""
    from tests.campaign.strangers import campaign as meeting

    _prove(meeting())


def _prove(proof: Coroutine[Any, Any, bool]) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # killed clients hang up in the middle of a request
    logging.getLogger().addHandler(logging.NullHandler())  # a bot in this process logs what it should
    proved: list[bool] = []

    async def prove() -> None:
        proved.append(await proof)

    run(prove())
    sys.exit(0 if proved == [True] else 1)


if __name__ == "__main__":
    campaign()
