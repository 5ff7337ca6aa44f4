"""What one line of unmarked text looks like by itself: a link, prose, something short, a list number in front."""

import re
from dataclasses import dataclass, replace
from enum import Enum, auto

from bot.domain.digest import Block, Heading, Paragraph, Text
from bot.reading.inlines import find_url
from bot.reading.vocabulary import FAREWELL, LABEL, LINK_LABEL, POINTS_TO_LINK

TITLE_COLUMNS = 90
LATIN_TITLE_COLUMNS = 160  # titles of papers
EXCLAIMED_COLUMNS = 60
LABEL_COLUMNS = 60
LINK_LABEL_CHARS = 40

PSEUDO_LEVEL = 11

_WIDE = re.compile(r"[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6]")
_CLOSERS = "\"'”’」』）)】]》"
_STOPS = "。．.；;…"
_NUMBER = re.compile(
    r"(?:[0-9０-９]{1,3}(?:[、)）]|[.．](?![0-9０-９]|x\b))"
    r"|[一二三四五六七八九十]{1,3}[、.．]"
    r"|[(（](?:[0-9０-９]{1,3}|[一二三四五六七八九十]{1,3})[)）]"
    r"|[①-⑳⑴-⒛❶-❿➀-➓]|[0-9]\ufe0f?\u20e3"
    r"|[•·●▪◆◇■□▶►★☆※]|[-*+](?=\s)|\#{1,6}(?=\s))\s*(?=\S)"
)
_CHINESE_NUMBER = re.compile(r"[(（]?[一二三四五六七八九十]")
_FIRST = re.compile(r"[(（]?(?:[1１一](?![0-9０-９十])|[①⑴⒈❶➀])")
_RULE = re.compile(r"[-—–_=*·•~～+#＊…\s◆■▪●○☆★]+")
_BEFORE_LINK = " \t\u3000:：|｜-—–(（[【<《"


class Kind(Enum):
    """The shape of a line. EXCLAIMED may be a title or a sentence: it is short and ends in ？ or ！."""

    LINK = auto()
    LABEL = auto()
    PROSE = auto()
    SHORT = auto()
    EXCLAIMED = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, or a block that stands for one; never blank. `mark` is the list mark in front, part of `text`.

    `url` is set for a link line and for a title that is a link. `block`: what the line is, unless it is plain text.
    `level`: 1 to 9 for a heading, `PSEUDO_LEVEL` for what only looks like one. `parted`: a rule stands before it.
    `opens`: a story by itself, or a list or a table of stories.
    """

    number: int
    text: str
    kind: Kind
    mark: str = ""
    url: str | None = None
    block: Block | None = None
    level: int = 0
    parted: bool = False
    opens: bool = False

    @property
    def part(self) -> str | Block:
        """What an item takes over."""
        return self.block or self.text

    @property
    def unmarked_part(self) -> str | Block:
        """The same without its list mark."""
        first = self.block.inlines[0] if isinstance(self.block, Paragraph | Heading) else None
        if self.mark and isinstance(first, Text) and isinstance(self.block, Paragraph | Heading):
            rest = first.text.lstrip().removeprefix(self.mark).lstrip()
            return replace(self.block, inlines=((Text(rest),) if rest else ()) + self.block.inlines[1:])
        return self.block or self.body

    @property
    def body(self) -> str:
        """The text without its list mark."""
        return self.text[len(self.mark) :]

    @property
    def could_be_title(self) -> bool:
        """Short enough for a title, and no complete sentence."""
        return self.kind in {Kind.SHORT, Kind.EXCLAIMED}

    @property
    def around_url(self) -> str:
        """What stands on a link line beside the link."""
        return self.text.replace(self.url or "", "", 1).strip()

    @property
    def starts_numbering(self) -> bool:
        """Numbered as the first of a list."""
        return bool(_FIRST.match(self.mark))

    @property
    def chinese_numbered(self) -> bool:
        """Numbered 一、 or （一）, as headings are."""
        return bool(_CHINESE_NUMBER.match(self.mark))


def mark_line(number: int, text: str) -> Line:
    """The line with its shape; `text` is stripped and not empty."""
    found = find_url(text)
    if found and is_link_label(text[: found[0]]) and not has_words(text[found[0] + len(found[1]) :]):
        return Line(number, text, Kind.LINK, url=found[1])
    numbered = _NUMBER.match(text)
    mark = numbered[0] if numbered else ""
    return Line(number, text, _kind(text[len(mark) :], has_link=found is not None), mark)


def split_link(line: Line) -> list[Line]:
    """A title or a whole sentence that its link follows, `标题 https://…`, as two lines."""
    found = find_url(line.text)
    if line.kind is Kind.LINK or not found or not ending_link(line.text) or FAREWELL.match(line.text):
        return [line]
    before = line.text[: found[0]].rstrip(_BEFORE_LINK)
    if not before or POINTS_TO_LINK.search(before):
        return [line]
    text = mark_line(line.number, before)
    is_title = text.could_be_title and not is_ended(line.text)
    if not is_title and not is_ended(before):
        return [line]
    return [text, Line(line.number, line.text[len(before) :].strip(), Kind.LINK, url=found[1])]


def ending_link(text: str) -> str | None:
    """The one link of the text, if the text ends with it."""
    found = find_url(text)
    return found[1] if found and not has_words(text[found[0] + len(found[1]) :]) else None


def sets_off(text: str) -> bool:
    """A line that stands by itself wherever it stands: a link, a label, something numbered, a hash."""
    line = mark_line(0, text)
    return line.kind in {Kind.LINK, Kind.LABEL} or bool(line.mark) or text[0] in "#＃"


def is_rule(text: str) -> bool:
    """Nothing but dashes, stars and the like."""
    return bool(_RULE.fullmatch(text))


def columns(text: str) -> int:
    """Width on screen: a Chinese character takes two columns. Long texts are not measured to their end."""
    start = text[: 2 * LATIN_TITLE_COLUMNS]
    return len(start) + len(_WIDE.findall(start))


def is_ended(text: str) -> bool:
    """The text ends as a sentence does."""
    return text.rstrip(_CLOSERS).endswith(tuple(_STOPS + "！？!?"))


def is_link_label(text: str) -> bool:
    """What stands before a link without being a title: 链接：, 👉, read more."""
    return len(text) <= LINK_LABEL_CHARS and bool(LINK_LABEL.fullmatch(text))


def has_words(text: str) -> bool:
    """Anything but signs and blanks."""
    return any(char.isalnum() for char in text)


def _kind(text: str, *, has_link: bool) -> Kind:
    width = columns(text)
    if width <= LABEL_COLUMNS and LABEL.match(text):
        return Kind.LABEL
    bare = text.rstrip(_CLOSERS)
    if has_link or not bare or bare[-1] in _STOPS + ":：,，、" or "。" in text or _is_display_formula(text):
        return Kind.PROSE
    if bare[-1] in "！？!?":
        return Kind.EXCLAIMED if width <= EXCLAIMED_COLUMNS else Kind.PROSE
    limit = TITLE_COLUMNS if _WIDE.search(text) else LATIN_TITLE_COLUMNS
    return Kind.SHORT if width <= limit else Kind.PROSE


def _is_display_formula(text: str) -> bool:
    return text.startswith(("$$", "\\[", "\\("))
