"""What stands above the items: title, day, position, contents line, and the summary in the chat list."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.cards.entries import Entry, shortened
from bot.cards.text import plain
from bot.domain.audience import Density
from bot.domain.digest import Digest, Item, Paragraph, Text
from bot.domain.digest import plain as written

_TITLE_CHARS = 120  # the header shows four lines of a title
_LABEL_CHARS = 60
_SUMMARY_CHARS = 120
_WORDS_PER_MINUTE = 400  # Chinese characters; a word or number in Latin letters counts as one
_WORD = re.compile(r"[A-Za-z0-9]+|\w")


def title(digest: Digest, series_name: str) -> str:
    """The digest's own title, else the series with the day."""
    own = plain(digest.title or "") or f"{plain(series_name)} {day(digest)}".strip()
    return shortened(own, _TITLE_CHARS)


def with_long_title(digest: Digest) -> Digest:
    """A title too long for a header begins the intro, so that it can be read to its end."""
    if len(plain(digest.title or "")) <= _TITLE_CHARS:
        return digest
    return replace(digest, intro=(Paragraph((Text(digest.title or ""),)), *digest.intro))


def subtitle(digest: Digest) -> str:
    """Day and label, unless the title says them already."""
    own = plain(digest.title or "")
    label = shortened(plain(digest.label or ""), _LABEL_CHARS)
    return " · ".join(filter(None, ("" if _tells_day(own, digest) else day(digest), "" if label in own else label)))


def day(digest: Digest) -> str:
    """「3月8日」, 「3月8–9日」 or 「3月31日–4月1日」; nothing without a day."""
    first, last = digest.day, digest.day_end
    if first is None:
        return ""
    start = f"{first.month}月{first.day}"
    if last is None or last == first:
        return f"{start}日"
    return f"{start}–{last.day}日" if last.month == first.month else f"{start}日–{last.month}月{last.day}日"


def contents(items: int, minutes: int, numbers: Sequence[int] = ()) -> tuple[str, str]:
    """One line in Chinese and English: the whole, or the span of items that a further part shows."""
    if not numbers:
        return f"{items} 条 · 约 {minutes} 分钟", f"{items} items · about {minutes} min"
    span = "–".join(str(number) for number in dict.fromkeys((numbers[0], numbers[-1])))
    return f"第 {span} 条，共 {items} 条", f"Items {span} of {items}"


def summary(entries: Sequence[Entry]) -> str:
    """The top titles."""
    names = [entry.name for entry in entries if entry.name]
    return shortened("；".join(names[:_SUMMARY_CHARS]), _SUMMARY_CHARS)


def minutes(digest: Digest, entries: Sequence[Entry], density: Density) -> int:
    """Reading time of what is shown, folded text included."""
    texts = [entry.name for entry in entries] if density is Density.BRIEF else [_words(item) for item in digest.items]
    return max(1, round(sum(len(_WORD.findall(text)) for text in texts) / _WORDS_PER_MINUTE))


def _tells_day(title: str, digest: Digest) -> bool:
    """Whether the header needs no day beside this title. Without a title of its own it has been made with the day."""
    if digest.day is None or not title:
        return True
    return {digest.day.month, digest.day.day} <= {int(number) for number in re.findall(r"[0-9]{1,4}", title)}


def _words(item: Item) -> str:
    return f"{item.title or ''}\n{written(item.blocks)}"
