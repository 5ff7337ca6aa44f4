"""What a search found, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.cards import words
from bot.cards.actions import LAST_PAGE, QUERY_CHARS, ShowEdition, ShowHistory, ShowResults
from bot.cards.buttons import Button, act
from bot.cards.entries import shortened
from bot.cards.inlines import paragraph
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import link_url, plain
from bot.cards.words import Words
from bot.domain.digest import Text
from bot.domain.series import Series

HITS = 6  # on one card
_QUERY_SHOWN = 30
_TITLE_CHARS = 80
_NAME_CHARS = 30
_SNIPPET_CHARS = 110
_MOST_SERIES = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """One story that was found. `url`: the story's own address; `snippet`: plain text around what was sought."""

    title: str
    series: Series
    slug: str
    day: date
    snippet: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class HitRow:
    """One story as it is shown. `snippet` is card markdown."""

    number: int
    title: str
    url: str
    place: Words
    snippet: str
    button: Button


@dataclass(frozen=True, slots=True)
class ResultsView:
    """What the template may use."""

    query: str
    total: int
    page: int
    page_count: int
    rows: tuple[HitRow, ...]
    pages: tuple[Button, ...]
    buttons: tuple[Button, ...]


def results_card(
    templates: CardTemplates,
    *,
    query: str,
    hits: Sequence[Hit],
    total: int,
    today: date,
    page: int = 1,
    series: Sequence[Series] = (),
) -> Card:
    """One page of hits, best first. `total`: on all pages; `series`: whose past is offered where nothing was found."""
    query = query[:QUERY_CHARS]
    last = min(max(1, -(-total // HITS)), LAST_PAGE)
    view = ResultsView(
        query=shortened(plain(query), _QUERY_SHOWN),
        total=total,
        page=page,
        page_count=last,
        rows=tuple(_row(hit, number, today) for number, hit in enumerate(hits[:HITS], start=(page - 1) * HITS + 1)),
        pages=(
            *((act("上一页", "Previous", ShowResults(query, page - 1)),) if page > 1 else ()),
            *((act("下一页", "Next", ShowResults(query, page + 1)),) if page < last else ()),
        ),
        buttons=() if hits else tuple(map(_past, series[:_MOST_SERIES])),
    )
    return templates.render("results.json.j2", view)


def _row(hit: Hit, number: int, today: date) -> HitRow:
    name = words.same(shortened(plain(hit.series.name), _NAME_CHARS))
    return HitRow(
        number=number,
        title=shortened(plain(hit.title), _TITLE_CHARS) or "（无题）",
        url=link_url(hit.url) or "",
        place=words.joined(name, words.span(hit.day, None, today)),
        snippet=paragraph((Text(shortened(plain(hit.snippet), _SNIPPET_CHARS)),)),
        button=act("看这期", "Read", ShowEdition(hit.series.id, hit.slug), "primary_text"),
    )


def _past(series: Series) -> Button:
    name = shortened(plain(series.name), _NAME_CHARS)
    return act(f"{name}往期", f"Past issues: {name}", ShowHistory(series.id))
