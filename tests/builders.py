"""Invented data for tests: say only what the test is about."""

from datetime import UTC, date, time
from functools import cache
from typing import Any

from bot.cards.digest_card import digest_cards
from bot.cards.render import Card, Limits
from bot.cards.templates import CardTemplates
from bot.domain.audience import Density, Kind, Selection
from bot.domain.digest import (
    Block,
    Code,
    CodeBlock,
    Digest,
    Emphasis,
    Formula,
    Heading,
    Image,
    Inline,
    Item,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Section,
    Strong,
    Table,
    Text,
)
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


def make_table(*rows: tuple[str, ...]) -> Table:
    """A table of plain cells, the head first."""
    return Table(tuple(tuple((Text(cell),) for cell in row) for row in rows))


def make_listing(*entries: str | tuple[Block, ...], start: int | None = None) -> Listing:
    """A list; an entry that is text is one paragraph."""
    return Listing(tuple(make_paragraphs(one) if isinstance(one, str) else one for one in entries), start)


def make_rich_blocks() -> tuple[Block, ...]:
    """Every kind of block and inline, as an editor would use them."""
    return (
        _line(Strong((Text("一句话："),)), Text("把 "), Code("kv_cache"), Text(" 换成分页，显存省一半。")),
        _line(
            Text("作者"), Strong((Text("三次"),)), Text("重复实验，"), Emphasis((Text("结果相近"),)), Text("；细节见"),
            Link("https://read.example.com/appendix", "附录"), Text("，售价 $5，标签 <think> 不变。"),
        ),
        Heading(3, (Text("做法"),)),
        Listing(
            (
                make_paragraphs("把缓存切成页，每页 16 个位置。", "页表放在主机内存里。"),
                (
                    *make_paragraphs("按需分配："),
                    Listing((make_paragraphs("先问空闲表；"), make_paragraphs("没有就换出最旧的一页。"))),
                ),
                (*make_paragraphs("调用很短："), CodeBlock(_CODE, "python")),
                make_paragraphs("最后核对结果。"),
            ),
            start=1,
        ),
        Paragraph((Formula(r"\mathrm{mem} = \frac{2 L d}{p}", "$$…$$", display=True),)),
        Heading(3, (Text("结果"),)),
        make_table(
            ("模型", "显存（GB）", "速度"),
            ("基线", "38.2", "1.0×"),
            ("分页", "19.6", "1.7×"),
            ("分页 | 共享", "-", "1.9×"),
        ),
        Quote((*make_paragraphs("读者甲：", "“在两台机器上都能跑。”"), Listing((make_paragraphs("不用改模型"),)))),
        Rule(),
        Image("https://img.example.com/a.png", "显存随长度的变化"),
    )  # fmt: skip


def make_rich_digest() -> Digest:
    """A digest with an item of every block, between two plain ones."""
    rich = make_item(2, title="分页的缓存：同样的卡，装下两倍的上下文", blocks=make_rich_blocks(), tags=("推理",))
    return make_digest([make_item(1), rich, make_item(3)])


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


_CODE = """def allocate(pages: list[int], need: int) -> list[int]:
    if len(pages) < need:  # <at id=all> is code here
        evict(need - len(pages))

    return [pages.pop() for _ in range(need)]"""


def _line(*inlines: Inline) -> Paragraph:
    return Paragraph(inlines)


@cache
def card_templates() -> CardTemplates:
    """Our own templates, loaded once for all tests."""
    return CardTemplates()
