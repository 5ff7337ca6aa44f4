"""Invented data for tests: say only what the test is about."""

from datetime import UTC, date, time
from functools import cache
from typing import Any

from bot.cards.digest_card import digest_cards
from bot.cards.render import Card, Limits
from bot.cards.templates import CardTemplates
from bot.domain.audience import Density, Kind, Selection
from bot.domain.digest import Digest, Item, Paragraph, Section, Text
from bot.domain.schedule import Hours
from bot.domain.series import Series

DAY = date(2025, 3, 8)


def make_series(name: str = "灯塔日报", **changes: Any) -> Series:
    """A series that is pushed every day at 08:37."""
    return Series(**{"id": "daily", "name": name, "hours": Hours(time(8, 37), time(12), UTC), **changes})


def make_paragraphs(*texts: str) -> tuple[Paragraph, ...]:
    """Plain paragraphs."""
    return tuple(Paragraph((Text(text),)) for text in texts)


def make_item(number: int = 1, *, text: str | tuple[str, ...] | None = None, **changes: Any) -> Item:
    """An item with a title, a link and two short paragraphs; `text` replaces the paragraphs."""
    if text is None:
        text = (
            f"第 {number} 篇短文比较了三种做法。读者甲在两台机器上重复了实验，结果相近。",
            "编辑的看法：方法简单，值得一试。",
        )
    fields: dict[str, Any] = {
        "key": f"item-{number}",
        "title": f"第 {number} 篇：流水线怎样排得更满",
        "url": f"https://read.example.com/p/{number}",
        "blocks": make_paragraphs(*([text] if isinstance(text, str) else text)),
    }
    return Item(**{**fields, **changes})


def make_digest(items: int | list[Item] = 3, *, section: str | None = "学习", **changes: Any) -> Digest:
    """A digest of one day with one section of `items`."""
    made = [make_item(number) for number in range(1, items + 1)] if isinstance(items, int) else items
    fields: dict[str, Any] = {"day": DAY, "sections": (Section(section, tuple(made)),)}
    return Digest(**{**fields, **changes})


def make_cards(
    digest: Digest,
    density: Density = Density.STANDARD,
    audience: Kind = Kind.USER,
    series: Series | None = None,
    limits: Limits | None = None,
) -> tuple[Card, ...]:
    """The cards of a digest, by our own templates."""
    selection = Selection(density=density, audience=audience)
    return digest_cards(
        card_templates(), digest, series or make_series(), selection, edition="daily/2025-03-08", limits=limits
    )


@cache
def card_templates() -> CardTemplates:
    """Our own templates, loaded once for all tests."""
    return CardTemplates()
