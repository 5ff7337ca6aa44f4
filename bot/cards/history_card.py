"""What a series published, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.cards import words
from bot.cards.actions import SetSubscription, ShowEdition, ShowHistory
from bot.cards.buttons import Button, act, header_colour
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.cards.words import Words
from bot.domain.series import Series

ROWS = 8  # on one card
_NAME_CHARS = 60
_LABEL_CHARS = 30
_TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Issue:
    """One edition of the past. `title`: its own, or that of its first story."""

    slug: str
    day: date
    items: int
    day_end: date | None = None
    label: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One edition as it is shown."""

    when: Words
    about: Words
    button: Button


@dataclass(frozen=True, slots=True)
class HistoryView:
    """What the template may use."""

    name: str
    colour: str
    rows: tuple[IssueRow, ...]
    first: bool
    pages: tuple[Button, ...]
    buttons: tuple[Button, ...]


def history_card(
    templates: CardTemplates,
    *,
    series: Series,
    issues: Sequence[Issue],
    today: date,
    cursor: str | None = None,
    next_cursor: str | None = None,
) -> Card:
    """Editions, latest first, at most ROWS. `cursor`: where this page begins; `next_cursor`: the next one, if any."""
    latest = act("回到最新", "Latest", ShowHistory(series.id))
    older = act("更早的", "Older", ShowHistory(series.id, next_cursor)) if next_cursor else None
    subscribe = act("订阅社区精选", "Subscribe", SetSubscription(series.id, on=True), "primary")
    view = HistoryView(
        name=shortened(plain(series.name), _NAME_CHARS),
        colour=header_colour(series),
        rows=tuple(_row(series, issue, today) for issue in issues[:ROWS]),
        first=cursor is None,
        pages=(*((latest,) if cursor else ()), *((older,) if older else ())),
        buttons=() if issues or cursor else (subscribe,),
    )
    return templates.render("history.json.j2", view)


def _row(series: Series, issue: Issue, today: date) -> IssueRow:
    label = words.same(shortened(plain(issue.label), _LABEL_CHARS))
    title = words.same(shortened(plain(issue.title), _TITLE_CHARS))
    return IssueRow(
        when=words.joined(words.span(issue.day, issue.day_end, today), label),
        about=words.joined(title, Words(f"{issue.items} 条", f"{issue.items} items")),
        button=act("看这期", "Read", ShowEdition(series.id, issue.slug)),
    )
