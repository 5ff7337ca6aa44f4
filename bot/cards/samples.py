"""Every card with invented data, a full one and a sparse one at least: what an operator's template is tried on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import partial

from bot.cards.actions import Decision
from bot.cards.alert_card import Alert, alert_card
from bot.cards.digest_card import digest_cards
from bot.cards.history_card import Issue, history_card
from bot.cards.notice_cards import goodbye_card, help_card, subscribed_card, welcome_card
from bot.cards.pause_card import paused_card, resumed_card
from bot.cards.preflight_card import (
    Contact,
    DeadLink,
    Extent,
    Outline,
    Preflight,
    Repeat,
    Settled,
    preflight_card,
)
from bot.cards.receipt_card import Failure, Receipt, Share, receipt_card
from bot.cards.render import Card
from bot.cards.results_card import Hit, results_card
from bot.cards.settings_card import settings_card
from bot.cards.templates import CardTemplates
from bot.domain.audience import Density, Kind, Selection
from bot.domain.digest import Block, Digest, Image, Item, Listing, Paragraph, Section, Table, Text
from bot.domain.preference import Preference
from bot.domain.schedule import Days, Hours
from bot.domain.series import Series

_ZONE = timezone(timedelta(hours=8))
_DAY = date(2025, 3, 8)
_NOW = datetime(2025, 3, 8, 9, 0, tzinfo=_ZONE)
_NEXT = datetime(2025, 3, 9, 8, 37, tzinfo=_ZONE)
_SERIES = Series(
    "daily",
    "灯塔日报",
    Hours(time(8, 37), time(12), UTC),
    "turquoise",
    "https://team.example.com/wiki",
    "https://research.example.com/?q={title}",
)
_WEEKLY = replace(_SERIES, id="weekly", name="芯片周报", hours=Hours(time(9), time(12), UTC, Days.WORKDAYS))
_PLAIN = Series("plain", "小报", Hours(time(8), time(12), UTC))
_SECTIONS = ("模型", "推理与部署", "学习资料", "行业")
_PREFERENCE = Preference(frozenset(_SECTIONS[:2]), Density.BRIEF, time(7, 30), "Asia/Tokyo", workdays=True)
_TITLES = ("流水线怎样排得更满", "分页的缓存：同样的卡，装下两倍的上下文", "一份从零开始的路线图")


Make = Callable[[CardTemplates], Card]


@dataclass(frozen=True, slots=True)
class Sample:
    """A card to try, with the template that shows it. `make` builds all its parts with the templates given."""

    name: str
    template: str
    make: Callable[[CardTemplates], Sequence[Card]]


def samples() -> Iterator[Sample]:
    """All samples; a template has several."""
    for variant, digest in (("full", _digest()), ("sparse", Digest(sections=(Section(None, (_item(_TITLES[0]),)),)))):
        yield Sample(f"digest-{variant}", "digest.json.j2", partial(_digest_cards, digest=digest))
    for template, variants in {**_readers(), **_pages(), "preflight": _preflights(), **_reports()}.items():
        for variant, make in variants.items():
            yield Sample(f"{template}-{variant}", f"{template}.json.j2", partial(_alone, make=make))


def _alone(templates: CardTemplates, make: Make) -> Sequence[Card]:
    return (make(templates),)


def _digest_cards(templates: CardTemplates, digest: Digest) -> Sequence[Card]:
    by_audience = (Selection(density=density, audience=kind) for kind, density in zip(Kind, Density, strict=True))
    return [
        card for selection in by_audience for card in digest_cards(templates, digest, _SERIES, selection, edition=None)
    ]


def _item(title: str, *blocks: Block) -> Item:
    return Item(title, title, "https://read.example.com/p/1", blocks, (), "读者甲")


def _digest() -> Digest:
    """More than one card can hold, with every kind of block that looks different."""
    long = Paragraph((Text("读者甲在两台机器上重复了实验，结果相近。" * 30),))
    table = Table((((Text("模型"),), (Text("速度"),)), ((Text("基线"),), (Text("1.0×"),))))
    rich = _item(_TITLES[1], long, Listing(((long,), (long,))), table, Image("https://img.example.com/a.png", "曲线"))
    stories = (rich, *(_item(title, long) for title in _TITLES * 6), Item("untitled", None, None, (long,)))
    sections = tuple(Section(name, stories) for name in _SECTIONS[:2])
    return Digest("灯塔日报", _DAY, date(2025, 3, 9), "学术篇", (long,), (long,), sections)


def _readers() -> dict[str, dict[str, Make]]:
    """The cards around a subscription."""
    group, user = Kind.GROUP, Kind.USER
    return {
        "welcome": {
            "full": lambda t: welcome_card(t, series=[_SERIES] * 12, bot_name="灯塔", audience=group),
            "sparse": lambda t: welcome_card(t, series=[_PLAIN], bot_name="灯塔", audience=user),
        },
        "subscribed": {
            "full": lambda t: subscribed_card(t, series=_SERIES, audience=user, already=False, preference=_PREFERENCE),
            "sparse": lambda t: subscribed_card(t, series=_PLAIN, audience=Kind.WEBHOOK, already=True),
        },
        "goodbye": {
            "undo": lambda t: goodbye_card(t, series=_SERIES, audience=user, undo=True),
            "sparse": lambda t: goodbye_card(t, series=_PLAIN, audience=Kind.WEBHOOK),
        },
        "help": {
            "admin": lambda t: help_card(t, series=[_SERIES, _WEEKLY], admin=True),
            "sparse": lambda t: help_card(t, series=[]),
        },
        "settings": {
            "full": lambda t: _settings(t, user, _PREFERENCE, others=[_WEEKLY, _PLAIN]),
            "default": lambda t: _settings(t, user, Preference()),
            "group": lambda t: _settings(t, group, Preference(), set_by="管理员"),
            "stopped": lambda t: _settings(t, group, Preference(), stopped="机器人已被移出群", set_by="管理员"),
            "paused": lambda t: _settings(t, user, replace(_PREFERENCE, paused_until=date(2025, 3, 20))),
            "sparse": lambda t: _settings(t, user, None),
        },
        "pause": {
            "paused": lambda t: paused_card(t, series=_SERIES, audience=user, until=date(2025, 3, 12), now=_NOW),
            "resumed": lambda t: resumed_card(t, series=_SERIES, audience=group, next_at=_NEXT, now=_NOW),
            "sparse": lambda t: resumed_card(t, series=_PLAIN, audience=Kind.WEBHOOK, next_at=None, now=_NOW),
        },
    }


def _settings(
    templates: CardTemplates,
    audience: Kind,
    preference: Preference | None,
    *,
    stopped: str = "",
    set_by: str = "",
    others: Sequence[Series] = (),
) -> Card:
    return settings_card(
        templates,
        series=_SERIES,
        audience=audience,
        preference=preference,
        sections=_SECTIONS if preference else (),
        next_at=_NEXT,
        now=_NOW,
        stopped=stopped,
        set_by=set_by,
        others=others,
    )


def _pages() -> dict[str, dict[str, Make]]:
    """Lists with pages."""
    hits = [
        Hit(title, series, "2025-03-08", day, snippet, url)
        for title, series, day, snippet, url in (
            (
                _TITLES[1],
                _SERIES,
                _DAY,
                "……把推理时的缓存切成页，每页 16 个位置，显存省一半……",
                "https://read.example.com/p/1",
            ),
            (_TITLES[0], _WEEKLY, date(2024, 12, 30), "……推理的瓶颈在排队……", "https://read.example.com/p/2"),
            ("", _SERIES, date(2025, 2, 14), "一条没有标题的摘录，里面提到推理。", ""),
        )
    ]
    issues = [Issue(f"2025-03-0{day}", date(2025, 3, day), 12, title=_TITLES[day % 3]) for day in range(8, 1, -1)]
    whole = Issue("2024-12-30", date(2024, 12, 30), 9, date(2024, 12, 31), "学术篇", "岁末回顾")
    return {
        "results": {
            "full": lambda t: results_card(t, query="推理", hits=hits * 2, total=33, today=_DAY, page=2),
            "sparse": lambda t: results_card(t, query="缓存", hits=hits[2:], total=1, today=_DAY),
            "empty": lambda t: results_card(
                t, query="量子计算", hits=(), total=0, today=_DAY, series=[_SERIES, _WEEKLY]
            ),
        },
        "history": {
            "full": lambda t: history_card(
                t, series=_SERIES, issues=[*issues, whole], today=_DAY, cursor="9", next_cursor="17"
            ),
            "sparse": lambda t: history_card(t, series=_PLAIN, issues=issues[:1], today=_DAY),
            "empty": lambda t: history_card(t, series=_PLAIN, issues=(), today=_DAY),
        },
    }


def _preflights() -> dict[str, Make]:
    """Nothing to look at, everything, and after the decision."""
    quiet = Preflight(
        "daily/2025-03-08",
        1,
        _SERIES,
        _DAY,
        title="大模型里的流水线",
        outline=(Outline(None, _TITLES),),
        extents=(Extent(Density.BRIEF, 1, 3_100), Extent(Density.STANDARD, 1, 21_400), Extent(Density.FULL, 3, 61_000)),
        receivers=1_203,
        calls=1_240,
        estimate_s=82,
    )
    troubled = replace(
        quiet,
        day_end=date(2025, 3, 9),
        label="学术篇",
        outline=tuple(Outline(name, _TITLES * 4) for name in _SECTIONS),
        dead_links=(
            DeadLink(_TITLES[0], "https://read.example.com/gone", "404 不存在"),
            DeadLink(_TITLES[2], "https://slow.example.com/", "10 秒没有回答"),
        ),
        textless=(_TITLES[2],),
        holes=_TITLES * 3,
        repeats=(Repeat(_TITLES[1], date(2025, 2, 1)),),
        unclear_links=2,
        contacts=(Contact("138 0000 0000", _TITLES[1]), Contact("editor@mail.example.com", "结尾")),
        calls_left=900,
    )
    settled = Settled(Decision.APPROVE, "管理员", datetime(2025, 3, 8, 8, 30, tzinfo=_ZONE))
    return {
        "quiet": lambda t: preflight_card(t, quiet),
        "troubled": lambda t: preflight_card(t, troubled),
        "settled": lambda t: preflight_card(t, quiet, settled=settled),
        "sparse": lambda t: preflight_card(t, Preflight("plain/2025-03-08", 1, _PLAIN, _DAY)),
    }


def _reports() -> dict[str, dict[str, Make]]:
    """What admins are told."""
    good = Receipt(
        "daily/2025-03-08",
        7,
        _SERIES,
        _DAY,
        shares=(
            Share(Kind.USER, Density.STANDARD, 1_100),
            Share(Kind.USER, Density.FULL, 60),
            Share(Kind.GROUP, Density.BRIEF, 43),
        ),
        duration_s=82,
    )
    mixed = replace(
        good,
        failures=(
            Failure("机器人不在群里", 3, "请群主把机器人重新拉进群，再点卡片上的「现在恢复」。"),
            Failure("对方不在应用可用范围内", 8, "在开发者后台把他们加进可用范围，再点「只补发失败的」。"),
        ),
        unknown=2,
        unsent=5,
        reached=(1_160, 1_152),
        fallbacks=(("精简卡片", 4), ("图文消息", 1)),
        read=871,
    )
    alert = Alert(
        "今天的日报还没有来",
        "已经等到 12:00，读者今天还没有收到《灯塔日报》。",
        "看看来源里有没有今天的文件；放好之后补发一次就行。",
        "digest-bot edition publish daily/2025-03-08",
    )
    return {
        "receipt": {
            "full": lambda t: receipt_card(t, mixed),
            "sparse": lambda t: receipt_card(t, good),
            "progress": lambda t: receipt_card(t, replace(good, open=700)),
        },
        "alert": {
            "full": lambda t: alert_card(t, alert, at=_NOW),
            "sparse": lambda t: alert_card(t, Alert("队列已恢复", "", "", urgent=False, done=True), at=_NOW),
        },
    }
