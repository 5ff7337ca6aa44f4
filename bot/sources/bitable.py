"""Digests from a Feishu table that editors fill in: a row is an item, the rows of a day are a digest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Protocol

from bot.domain.digest import Block, Digest, Item, Paragraph, Section, plain
from bot.domain.errors import ConfigError, DigestError
from bot.ports import Found
from bot.reading.dates import read_title
from bot.reading.keys import Keys, normalised_link
from bot.sources.bitable_values import day_of, lines_of, link_of, texts_of

ROLES = ("title", "url", "text", "section", "day", "tags", "source")
RECENT = timedelta(days=7)

Row = dict[str, Any]


class Tables(Protocol):
    """Reads tables. Raises DigestError."""

    async def records(self, app: str, table: str, fields: Sequence[str], view: str | None = None) -> list[Row]:
        """All rows, or those of a view."""
        ...


class BitableSource:
    """`fields`: what a field of ours is called in the table, e.g. {"title": "标题", "day": "日期"}. `day` is needed."""

    def __init__(
        self, tables: Tables, *, app: str, table: str, fields: Mapping[str, str], view: str | None, zone: tzinfo
    ) -> None:
        if unknown := sorted(fields.keys() - set(ROLES)):
            raise ConfigError(
                "series.source.fields", f"{unknown[0]!r} is no field of an item; known: {', '.join(ROLES)}"
            )
        if "day" not in fields or not {"title", "text"} & fields.keys():
            raise ConfigError("series.source.fields", "needs `day`, and `title` or `text`; name the table's columns")
        self._tables, self._app, self._table, self._view = tables, app, table, view
        self._fields, self._zone = dict(fields), zone

    async def load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:
        """Digests of the days around now, and the rows that have no day."""
        where = f"{self._app}/{self._table}"
        try:
            records = await self._tables.records(self._app, self._table, sorted(set(self._fields.values())), self._view)
        except DigestError as exc:
            return [], [DigestError(exc.code, exc.message, path=where)]
        rows = [self._row(record) for record in records]
        errors = self._without_day(rows, where)
        today = now.astimezone(self._zone).date()
        days: dict[date, list[Row]] = {}
        for row in rows:
            day = self._day(row, today)
            if day is not None and abs(day - today) <= RECENT:
                days.setdefault(day, []).append(row)
        return [Found(_digest(day, found), _hash(found)) for day, found in sorted(days.items())], errors

    def _row(self, record: Row) -> Row:
        """Values under our names; a field that is empty in a row is absent from it."""
        values = record.get("fields")
        values = values if isinstance(values, dict) else {}
        return {role: values[name] for role, name in self._fields.items() if values.get(name) not in (None, "", [])}

    def _day(self, row: Row, today: date) -> date | None:
        if "day" not in row:
            return None
        return day_of(row["day"], self._zone) or read_title(" ".join(texts_of(row["day"])), today).day

    def _without_day(self, rows: Sequence[Row], where: str) -> list[DigestError]:
        missing = sum("day" not in row and bool(row.keys() & {"title", "text", "url"}) for row in rows)
        if not missing:
            return []
        message = f"{missing} rows have no day in {self._fields['day']!r}; fill it in, or they are never sent"
        return [DigestError("row_without_day", message, path=where)]


def _digest(day: date, rows: Sequence[Row]) -> Digest:
    """Sections in the order in which they first appear; a story that two rows tell is one item."""
    keys = Keys()
    sections: dict[str | None, list[Item]] = {}
    told: set[str] = set()
    for row in rows:
        link = link_of(row.get("url")) or link_of(row.get("title"))
        same = json.dumps([normalised_link(link), row.get("text")], sort_keys=True) if link else None
        if same in told or not row.keys() & {"title", "text", "url"}:
            continue
        told |= {same} if same else set()
        sections.setdefault(_first(row, "section"), []).append(_item(row, link, keys))
    return Digest(day=day, sections=tuple(Section(name, tuple(items)) for name, items in sections.items()))


def _item(row: Row, link: str | None, keys: Keys) -> Item:
    blocks: tuple[Block, ...] = tuple(Paragraph(line) for line in lines_of(row.get("text")))
    title = _first(row, "title") or _first(row, "url")
    title = None if title == link else title
    tags = tuple(tag for tag in texts_of(row.get("tags")) if tag)
    return Item(keys.give(link, title, plain(blocks)), title, link, blocks, tags, _first(row, "source"))


def _first(row: Row, role: str) -> str | None:
    return " ".join("、".join(texts_of(row.get(role))).split()) or None


def _hash(rows: Sequence[Row]) -> str:
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
