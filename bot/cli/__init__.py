"""The `digest-bot` command. Modules here import nothing heavy: each command imports what it needs when it runs."""

import os
import sys

import click

from bot import __version__
from bot.cli import card, database, delivery, digest, edition, operate, subscriber
from bot.cli.context import Context, default_config
from bot.domain.errors import BotError, ConfigError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="digest-bot")
@click.option(
    "-c",
    "--config",
    "config",
    metavar="CONFIG",
    default=default_config,
    help="Configuration file [default: $DIGEST_BOT_CONFIG, then config.toml].",
)
@click.pass_context
def cli(context: click.Context, config: str) -> None:
    """Bring a daily digest to people in Feishu."""
    context.obj = Context(config)


for command in (
    operate.demo,
    operate.run,
    operate.sandbox,
    operate.status,
    operate.config,
    database.db,
    database.backup,
    database.restore,
    digest.digest,
    card.card,
    edition.edition,
    subscriber.subscriber,
    delivery.delivery,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line. Exit 0 done, 1 failed, 2 usage or configuration; one line on stderr says what and how."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as exc:
        click.echo(exc.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as exc:
        _fail(exc.format_message(), 2)
    except click.exceptions.Exit as exc:
        sys.exit(exc.exit_code)
    except click.Abort:
        _fail("stopped; nothing was changed", 1)
    except ConfigError as exc:
        _fail(str(exc), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as exc:  # the last line of defence: no traceback reaches a user
        if os.environ.get("DIGEST_BOT_DEBUG"):
            raise
        inside = f"something went wrong inside ({_kind(exc)}); set DIGEST_BOT_DEBUG=1 to see where, and report it"
        _fail(_told(exc) or inside, 1)


def _told(exc: BaseException) -> str:
    """What parts that ran side by side said before they stopped, if it was for a human; "" else."""
    if isinstance(exc, BaseExceptionGroup):
        return next(filter(None, map(_told, exc.exceptions)), "")
    return str(exc) if isinstance(exc, BotError) else ""


def _kind(exc: BaseException) -> str:
    """The innermost kinds of a failure: its text may hold what must not be printed."""
    if isinstance(exc, BaseExceptionGroup):
        return ", ".join(sorted({_kind(one) for one in exc.exceptions}))
    return type(exc).__name__


def _fail(message: str, code: int) -> None:
    click.echo(f"digest-bot: {' '.join(message.split())}", err=True)
    sys.exit(code)
