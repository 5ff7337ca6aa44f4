"""From an edition to the stored cards of a selection."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.cards import headings
from bot.cards.buttons import header_colour
from bot.cards.digest_card import DigestView, digest_cards
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.words import Words
from bot.domain.audience import Selection
from bot.domain.digest import Digest
from bot.domain.errors import UsageError
from bot.domain.pictures import Pictures
from bot.domain.schedule import push_day, rest
from bot.domain.series import Series
from bot.services.illustrate import Illustrator
from bot.store import editions
from bot.store.editions import Edition
from bot.store.engine import Store, Transaction


class Renderer:
    """Renders editions of the configured series, each once for all who share a selection."""

    def __init__(
        self, store: Store, templates: CardTemplates, series: Sequence[Series], illustrator: Illustrator | None = None
    ) -> None:
        """`illustrator`: who brings pictures; without one they stay links, and formulas text."""
        self.templates = templates
        self.series: Mapping[str, Series] = {one.id: one for one in series}
        self._store = store
        self._illustrator = illustrator

    def one(self, series: str) -> Series:
        """The series of that id. Raises UsageError."""
        if series not in self.series:
            known = ", ".join(self.series) or "none configured"
            raise UsageError(f"there is no series {series!r}; known: {known}")
        return self.series[series]

    def is_rest(self, edition: Edition, now: datetime) -> bool:
        """Whether an edition went out on a day on which nobody works, so that not everybody wants it."""
        hours = self.one(edition.series).hours
        return not hours.calendar.is_workday((edition.published_at or now).astimezone(hours.zone).date())

    async def pictures_of(self, digest: Digest, now: datetime, *, dry_run: bool = False) -> Pictures:
        """What a push may show. A dry run uploads nothing and counts with what is there."""
        if self._illustrator is None:
            return {}
        if dry_run:
            return await self._store.read(self._illustrator.known, digest)
        return await self._illustrator.pictures_of(digest, now)

    def known_pictures(self, tx: Transaction, digest: Digest) -> Pictures:
        """What can be shown without asking anybody."""
        return self._illustrator.known(tx, digest) if self._illustrator else {}

    def cards(
        self, edition: Edition, selection: Selection, pictures: Pictures, mark: Words | None = None
    ) -> tuple[Card, ...]:
        """The parts of an edition for a selection; none if it leaves nothing. `mark`: what is said of a correction."""
        digest = edition.digest.keep(selection.sections)
        if not digest.items:
            return ()
        series = self.one(edition.series)
        return digest_cards(
            self.templates,
            digest,
            series,
            selection,
            edition=edition.name,
            pictures=pictures,
            note=mark or _after_rest(series, digest),
        )

    def stub(self, edition: Edition, mark: Words) -> str:
        """What takes the place of a part that is no longer needed, as JSON text."""
        series = self.one(edition.series)
        name = headings.title(edition.digest, series.name)
        view = DigestView(
            title=name,
            subtitle=headings.subtitle(edition.digest),
            colour=header_colour(series),
            summary=f"{mark.zh} {name}",
            contents_zh=f"{mark.zh} · 这部分已并入前面的卡片",
            contents_en=f"{mark.en} · this part is in the cards above now",
        )
        return self.templates.render("digest.json.j2", view).body

    def bodies(self, edition: Edition, selection: Selection, pictures: Pictures) -> list[str]:
        """The same as JSON text."""
        return [card.body for card in self.cards(edition, selection, pictures)]

    def cards_of(self, tx: Transaction, edition: Edition, selection: Selection, now: datetime) -> list[int]:
        """Ids of a selection's cards, rendered if nobody has needed them before."""
        if ids := editions.card_ids(tx, edition, selection):
            return ids
        bodies = self.bodies(edition, selection, self.known_pictures(tx, edition.digest))
        return editions.save_cards(tx, edition, selection, bodies, now)


def _after_rest(series: Series, digest: Digest) -> Words | None:
    """Why nothing came on the days before, in the first edition after a holiday. A weekend needs no word."""
    if digest.last_day is None:
        return None
    before = rest(series.hours, push_day(series.hours, digest.last_day))
    return Words(before.zh, before.en) if before and not before.is_weekend else None
