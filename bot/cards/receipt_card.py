"""While an edition goes out, and what became of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.cards import words
from bot.cards.actions import Missed, Resend
from bot.cards.buttons import Button, Label, act
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.cards.tiles import Tile
from bot.cards.words import Words
from bot.domain.audience import Density, Kind
from bot.domain.series import Series

_NAME_CHARS = 60
_CAUSE_CHARS = 60
_CURE_CHARS = 120
_MOST_CAUSES = 8
_BAR = 12  # characters
_KINDS = {
    Kind.USER: Words("私聊", "private chats"),
    Kind.GROUP: Words("群", "groups"),
    Kind.WEBHOOK: Words("自定义机器人", "custom bots"),
}


@dataclass(frozen=True, slots=True)
class Share:
    """How many receivers of one kind got one density."""

    audience: Kind
    density: Density
    sent: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Receivers that did not get it for one cause, in plain words, and what can be done about it.

    `is_partial`: they got some part, so a resend leaves them out.
    """

    cause: str
    count: int
    cure: str = ""
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a push so far. All counts are receivers; `edition`: SERIES/SLUG.

    `open`: not yet final. `unknown`: may have arrived. `unsent`: never tried, such as those cancelled by a stop or
    subscribed since. `fallbacks`: how often which simpler form had to be used. `reached`: of so many
    people in batches so many have it, as the platform says. `read`: known the next morning.
    """

    edition: str
    push: int
    series: Series
    day: date
    day_end: date | None = None
    label: str = ""
    shares: tuple[Share, ...] = ()
    failures: tuple[Failure, ...] = ()
    open: int = 0
    unknown: int = 0
    unsent: int = 0
    fallbacks: tuple[tuple[str, int], ...] = ()
    duration_s: float = 0.0
    reached: tuple[int, int] | None = None
    read: int | None = None


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One cause as it is shown, all plain text."""

    cause: str
    count: int
    cure: str


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """What the template may use. `bar` is "" once everything is final."""

    about: Words
    title: Words
    colour: str
    state: Label
    bar: str
    tiles: tuple[Tile, ...]
    costs: tuple[Words, ...]
    failures: tuple[FailureRow, ...]
    more_causes: int
    unknown: int
    reached: Words
    fallbacks: Words
    buttons: tuple[Button, ...]


def receipt_card(templates: CardTemplates, receipt: Receipt) -> Card:
    """The progress of a push while some of it is open, then its receipt."""
    sent, failed = sum(one.sent for one in receipt.shares), sum(one.count for one in receipt.failures)
    series = words.same(shortened(plain(receipt.series.name), _NAME_CHARS))
    label = words.same(shortened(plain(receipt.label), _NAME_CHARS))
    failures = sorted(receipt.failures, key=lambda one: -one.count)
    view = ReceiptView(
        about=words.joined(series, words.span(receipt.day, receipt.day_end), label),
        title=_title(receipt, failed),
        colour="blue" if receipt.open else "green" if not failed and not receipt.unknown else "orange",
        state=_state(receipt, sent, failed),
        bar=_bar(receipt, sent, failed),
        tiles=_tiles(receipt, sent, failed),
        costs=(*_shares(receipt.shares), _took(receipt.duration_s)),
        failures=tuple(map(_failure, failures[:_MOST_CAUSES])),
        more_causes=sum(one.count for one in failures[_MOST_CAUSES:]),
        unknown=receipt.unknown,
        reached=_reached(*receipt.reached) if receipt.reached else Words("", ""),
        fallbacks=_fallbacks(receipt.fallbacks),
        buttons=() if receipt.open else _buttons(receipt),
    )
    return templates.render("receipt.json.j2", view)


def _title(receipt: Receipt, failed: int) -> Words:
    if receipt.open:
        return Words("正在发送", "Sending")
    if failed:
        return Words(f"已发完，{failed:,} 个没送到", f"Done, {failed:,} not delivered")
    if receipt.unknown:
        return Words(f"已发完，{receipt.unknown:,} 个没有回音", f"Done, {receipt.unknown:,} unconfirmed")
    return Words("全部送达", "All delivered")


def _state(receipt: Receipt, sent: int, failed: int) -> Label:
    done = sent + failed + receipt.unknown
    if receipt.open:
        share = Words(f"{_percent(done, done + receipt.open)}%", f"{_percent(done, done + receipt.open)}%")
        return Label(share, "blue")
    good = f"送达 {_percent(sent, done)}%"
    return Label(Words(good, f"{_percent(sent, done)}% delivered"), "orange" if failed or receipt.unknown else "green")


def _bar(receipt: Receipt, sent: int, failed: int) -> str:
    if not receipt.open:
        return ""
    done = sent + failed + receipt.unknown
    filled = done * _BAR // (done + receipt.open)
    return "▰" * filled + "▱" * (_BAR - filled)


def _percent(part: int, whole: int) -> int:
    """Rounded down: not everybody is 100 %."""
    return part * 100 // whole if whole else 100


def _tiles(receipt: Receipt, sent: int, failed: int) -> tuple[Tile, ...]:
    waiting = Tile(f"{receipt.open:,}", Words("待发", "waiting"))
    unknown = Tile(f"{receipt.unknown:,}", Words("无回音", "unconfirmed"))
    read = () if receipt.read is None else (Tile(f"{receipt.read:,}", Words("已读", "read")),)
    return (
        Tile(f"{sent:,}", Words("送达", "delivered")),
        Tile(f"{failed:,}", Words("失败", "failed")),
        *((waiting,) if receipt.open else (unknown,) if receipt.unknown else ()),
        *read,
    )


def _shares(shares: Sequence[Share]) -> tuple[Words, ...]:
    """A line an audience: 「私聊 1,203：标题加要点 1,100、全文 103」."""
    lines = []
    for kind, name in _KINDS.items():
        counts = Counter({one.density: 0 for one in shares})
        for one in shares:
            counts[one.density] += one.sent if one.audience is kind else 0
        there = [(words.DENSITIES[density], counts[density]) for density in Density if counts[density]]
        if there:
            total = sum(count for _, count in there)
            lines.append(
                Words(
                    f"{name.zh} {total:,}：" + "、".join(f"{density.zh} {count:,}" for density, count in there),
                    f"{name.en} {total:,}: " + ", ".join(f"{density.en} {count:,}" for density, count in there),
                )
            )
    return tuple(lines)


def _took(seconds: float) -> Words:
    duration = words.duration(seconds)
    return Words(f"用时{'' if seconds < 60 else '约 '}{duration.zh}", f"took {duration.en}")


def _failure(failure: Failure) -> FailureRow:
    cure = shortened(plain(failure.cure), _CURE_CHARS)
    return FailureRow(shortened(plain(failure.cause), _CAUSE_CHARS) or "原因不明", failure.count, cure)


def _reached(people: int, reached: int) -> Words:
    """A batch is taken as a whole; who of it is out of reach nobody says."""
    zh, en = f"批量的 {people:,} 份，飞书已送到 {reached:,}", f"Of {people:,} sent in batches {reached:,} have arrived"
    return Words(f"{zh} 份。", f"{en}.")


def _fallbacks(fallbacks: Sequence[tuple[str, int]]) -> Words:
    shown = "、".join(f"{shortened(plain(name), _NAME_CHARS)} {count:,}" for name, count in fallbacks if count)
    return Words(f"简化形式：{shown}", f"Simpler forms: {shown}") if shown else Words("", "")


def _buttons(receipt: Receipt) -> tuple[Button, ...]:
    failed = sum(one.count for one in receipt.failures if not one.is_partial)

    def resend(zh: str, en: str, only: Missed, look: str) -> Button:
        return act(zh, en, Resend(receipt.edition, receipt.push, only), look)

    again = resend(f"只补发失败的 {failed:,} 个", f"Resend to the {failed:,} failed", Missed.FAILED, "primary_filled")
    rest = resend(f"补发未送达的 {receipt.unsent:,} 个", f"Send to {receipt.unsent:,} missed", Missed.UNSENT, "default")
    return (*((again,) if failed else ()), *((rest,) if receipt.unsent else ()))
