"""Subscribers in a CSV file, row by row: a file may have a million."""

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from bot.domain.errors import UsageError

if TYPE_CHECKING:
    from bot.store.subscribers import NewSubscription


def rows_of(file: Path, raw: io.BufferedReader, series: Collection[str], base_url: str) -> Iterator["NewSubscription"]:
    """The rows of a CSV file, one after the other. Raises UsageError with the line and the cure."""
    from bot.services.roster import read_row

    text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
    reader = csv.DictReader(text)
    try:
        _check_columns(file, reader)
        for cells in reader:
            if None in cells:
                raise UsageError(f"{file}:{reader.line_num}: more cells than columns; quote a cell that holds a comma")
            try:
                yield read_row(cells, series, base_url)
            except UsageError as exc:
                raise UsageError(f"{file}:{reader.line_num}: {exc}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        place = f"{file}, behind line {reader.line_num}"
        raise UsageError(f"{place}: cannot be read as CSV in UTF-8 ({exc}); export it again") from exc
    finally:
        text.detach()  # the file is its opener's to close


def _check_columns(file: Path, reader: "csv.DictReader[str]") -> None:
    from bot.services.roster import COLUMNS, NEEDED

    names = [name.strip().lower() for name in reader.fieldnames or ()]
    if missing := [name for name in NEEDED if name not in names]:
        raise UsageError(f"{file}: column {', '.join(missing)} is missing; the first line names the columns")
    if unused := [name for name in names if name not in COLUMNS]:
        click.echo(f"not used: column {', '.join(unused)}; known: {', '.join(COLUMNS)}", err=True)
    reader.fieldnames = names


def write_csv(stream: IO[str], rows: Iterable[Mapping[str, str]]) -> int:
    """Rows as `rows_of` reads them. Returns how many."""
    from bot.services.roster import COLUMNS

    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    return sum(1 for _ in map(writer.writerow, rows))


def write_json(stream: IO[str], rows: Iterable[Mapping[str, str]]) -> int:
    """One JSON document of any length. Returns how many rows."""
    written = 0
    stream.write('{"subscribers": [')
    for row in rows:
        stream.write(",\n" if written else "\n")
        stream.write(json.dumps(row, ensure_ascii=False))
        written += 1
    stream.write("\n]}\n")
    return written
