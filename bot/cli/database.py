"""`db`, `backup` and `restore`: the database of the store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from bot.cli.context import Context, check_free, json_option, print_json, progress

STEPS = 1_000
LONG_PAGES = 25_000  # 100 MB: what is shorter is done before one wonders


@click.group()
def db() -> None:
    """The database's schema."""


@db.command()
@json_option
@click.pass_obj
def status(context: Context, as_json: bool) -> None:
    """The database's revision and what is to be run on it. Changes nothing."""
    from bot.store import revisions

    found = revisions.look(context.settings().store.url)
    if as_json:
        print_json({"current": found.current, "newest": found.newest, "pending": found.pending})
        return
    click.echo(f"revision {found.current or '(none)'}, newest {found.newest}")
    for name in found.pending:
        click.echo(f"pending  {name}")
    if found.current is not None and found.current > found.newest:
        click.echo("the database is of a newer version than this one; install that version again")


@db.command()
@json_option
@click.pass_obj
def upgrade(context: Context, as_json: bool) -> None:
    """Bring the database to the newest revision, as every start of the bot does. The way back is a backup."""
    from bot.domain.errors import UsageError
    from bot.store import revisions

    settings = context.settings()
    before = revisions.look(settings.store.url)
    if before.current is not None and before.current > before.newest:
        raise UsageError(
            f"the database has revision {before.current}, this version knows {before.newest}; "
            "install the newer version again, or restore a backup"
        )
    with context.store(settings):
        pass
    after = revisions.look(settings.store.url)
    if as_json:
        print_json({"from": before.current, "to": after.current, "applied": before.pending})
        return
    for name in before.pending:
        click.echo(f"applied  {name}")
    click.echo(f"revision {after.current}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Replace FILE if it is there.")
@json_option
@click.pass_obj
def backup(context: Context, file: Path, yes: bool, as_json: bool) -> None:
    """Write the whole store to FILE; the bot may be running."""
    from bot.store import copies

    url = context.settings().store.url
    database = copies.file_of(url, copies.server_command("pg_dump", url, "--format=custom", f"--file={file}"))
    check_free(file, replace=yes)
    with _pages("copied") as told:
        revision = copies.back_up(database, file, told)
    size = file.stat().st_size
    if as_json:
        print_json({"file": str(file), "bytes": size, "revision": revision})
    else:
        click.echo(f"{file}: {size / 1e6:.1f} MB, revision {revision}, checked")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def restore(context: Context, file: Path, as_json: bool) -> None:
    """Put the backup FILE in the place of the store; the bot has to be stopped. The old store stays beside it."""
    from bot.parts import now_utc
    from bot.store import copies

    url = context.settings().store.url
    database = copies.file_of(url, copies.server_command("pg_restore", url, "--clean", "--if-exists", str(file)))
    with _pages("copied") as told:
        done = copies.restore(file, database, now_utc(), told)
    if as_json:
        replaced = str(done.replaced) if done.replaced else None
        print_json({"file": str(file), "revision": done.revision, "replaced": replaced, "unknown": done.unknown})
        return
    click.echo(f"restored {file}, revision {done.revision}")
    if done.replaced:
        click.echo(f"the old store is {done.replaced}")
    if done.unknown:
        click.echo(f"{done.unknown} deliveries were open in it and may have arrived since: they are `unknown` now")
    click.echo("it knows nothing of what was sent after it was made: see `edition list` before you start the bot")


@contextmanager
def _pages(label: str) -> Iterator[Callable[[int, int], None]]:
    """Progress of a copy, whose length is known once it goes."""
    with progress(label, STEPS) as tell:
        yield lambda done, total: tell(STEPS * done // total) if total > LONG_PAGES else None
