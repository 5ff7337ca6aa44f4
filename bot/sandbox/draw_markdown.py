"""The block half of the card markdown dialect as HTML: headings, quotes, lists, code, tables and rules.

Every block reader looks at the lines from `start` on and answers its HTML with the number of the next line, or None
where that block does not begin there.
"""

import re
from collections.abc import Callable, Sequence

from markupsafe import Markup

from bot.sandbox.draw_html import Viewer, join, tag
from bot.sandbox.draw_inline import draw_inline

_Block = tuple[Markup, int] | None
_DEEPEST = 8  # quotes and lists inside each other; deeper ones are drawn as paragraphs
_PAGE_ROWS = 5

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_RULE = re.compile(r"\s*(?:<hr\s*/?>|(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})\s*$")
_QUOTE = re.compile(r" {0,3}> ?")
_MARKER = re.compile(r"( {0,3}(?:[-*+]|(\d{1,9})[.)])\s+)(?=\S)")
_SEPARATOR_CELL = re.compile(r":?-+:?")


def draw_markdown(text: str, viewer: Viewer, depth: int = 0) -> Markup:
    """Markdown of a card as HTML blocks. Newlines inside a paragraph are shown, as the client shows them."""
    return _blocks(text.expandtabs(4).replace("\r\n", "\n").split("\n"), viewer, depth)


def _blocks(lines: Sequence[str], viewer: Viewer, depth: int) -> Markup:
    drawn, start = [], 0
    while start < len(lines):
        if not lines[start].strip():
            start += 1
            continue
        block, start = _block(lines, start, viewer, depth)
        drawn.append(block)
    return join(drawn)


def _block(lines: Sequence[str], start: int, viewer: Viewer, depth: int) -> tuple[Markup, int]:
    for read in _READERS if depth < _DEEPEST else ():
        found = read(lines, start, viewer, depth)
        if found is not None:
            return found
    return _paragraph(lines, start, viewer, depth)


def _fence(lines: Sequence[str], start: int, _viewer: Viewer, _depth: int) -> _Block:
    opening = _FENCE.match(lines[start])
    if not opening:
        return None
    end = start + 1
    while end < len(lines) and not _closes(lines[end], opening[1]):
        end += 1
    return _code("\n".join(lines[start + 1 : end]), opening[2]), end + 1


def _closes(line: str, fence: str) -> bool:
    shown = line.strip()
    return len(shown) >= len(fence) and set(shown) == {fence[0]}


def _code(text: str, language: str) -> Markup:
    label = tag("span", language, class_="code-language") if language else Markup("")
    return tag("div", label, tag("pre", tag("code", text), tabindex="0"), class_="code-block")


def _indented(lines: Sequence[str], start: int, _viewer: Viewer, _depth: int) -> _Block:
    end = start
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return (_code("\n".join(line[4:] for line in lines[start:end]), ""), end) if end > start else None


def _heading(lines: Sequence[str], start: int, viewer: Viewer, _depth: int) -> _Block:
    found = _HEADING.match(lines[start])
    return (tag(f"h{len(found[1])}", draw_inline(found[2], viewer)), start + 1) if found else None


def _rule(lines: Sequence[str], start: int, _viewer: Viewer, _depth: int) -> _Block:
    return (tag("hr"), start + 1) if _RULE.match(lines[start]) else None


def _quote(lines: Sequence[str], start: int, viewer: Viewer, depth: int) -> _Block:
    end = start
    while end < len(lines) and _QUOTE.match(lines[end]):
        end += 1
    inner = [_QUOTE.sub("", line, count=1) for line in lines[start:end]]
    return (tag("blockquote", _blocks(inner, viewer, depth + 1)), end) if inner else None


def _list(lines: Sequence[str], start: int, viewer: Viewer, depth: int) -> _Block:
    first = _MARKER.match(lines[start])
    if not first:
        return None
    ordered, drawn, end = first[2] is not None, [], start
    while end < len(lines):
        marker = _MARKER.match(lines[end])
        if not marker or (marker[2] is not None) != ordered or _RULE.match(lines[end]):
            break
        item, end = _item_lines(lines, end, marker)
        drawn.append(tag("li", _blocks(item, viewer, depth + 1)))
    return tag("ol" if ordered else "ul", *drawn, start=first[2] if ordered and first[2] != "1" else None), end


def _item_lines(lines: Sequence[str], start: int, marker: re.Match[str]) -> tuple[list[str], int]:
    """The lines of one item without their indent, and the number of the line after them."""
    lead = len(marker[1]) - len(marker[1].lstrip(" "))
    indent = min(len(marker[1]), lead + 4)
    item, end = [lines[start][marker.end() :]], start + 1
    while end < len(lines) and _continues(lines, end, " " * (lead + 2)):
        line = lines[end]
        item.append(line[min(len(line) - len(line.lstrip(" ")), indent) :])
        end += 1
    return item, end


def _continues(lines: Sequence[str], index: int, inside: str) -> bool:
    """An item goes on with indented lines, with text right below it, and over one blank line before an indent."""
    line = lines[index]
    if not line.strip():
        return index + 1 < len(lines) and lines[index + 1].startswith(inside)
    if line.startswith(inside):
        return True
    return bool(lines[index - 1].strip()) and not _begins_block(lines, index)


def _begins_block(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    starts = (_FENCE, _HEADING, _RULE, _QUOTE, _MARKER)
    return any(pattern.match(line) for pattern in starts) or _is_table(lines, index)


def _is_table(lines: Sequence[str], start: int) -> bool:
    if start + 1 >= len(lines) or "|" not in lines[start] or "|" not in lines[start + 1]:
        return False
    return all(_SEPARATOR_CELL.fullmatch(cell) for cell in _cells(lines[start + 1]))


def _cells(line: str) -> list[str]:
    shown = line.strip()
    shown = shown.removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", shown)]


def _table(lines: Sequence[str], start: int, viewer: Viewer, _depth: int) -> _Block:
    if not _is_table(lines, start):
        return None
    end = start + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    head = [draw_inline(cell, viewer) for cell in _cells(lines[start])]
    rows = [[draw_inline(cell, viewer) for cell in _cells(line)] for line in lines[start + 2 : end]]
    return draw_table(head, rows, _PAGE_ROWS), end


def draw_table(head: Sequence[str], rows: Sequence[Sequence[str]], page_rows: int) -> Markup:
    """A table that scrolls sideways. All rows are shown, with a word about where the client would turn the page."""
    header = tag("thead", tag("tr", *(tag("th", cell) for cell in head)))
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    note = tag("p", f"共 {len(rows)} 行，客户端每页显示 {page_rows} 行", class_="hint") if len(rows) > page_rows else ""
    return join((tag("div", tag("table", header, body), class_="table", tabindex="0"), note))


def _paragraph(lines: Sequence[str], start: int, viewer: Viewer, _depth: int) -> tuple[Markup, int]:
    end = start + 1
    while end < len(lines) and lines[end].strip() and not _begins_block(lines, end):
        end += 1
    text = "\n".join(line.strip() for line in lines[start:end])
    return tag("p", draw_inline(text, viewer)), end


_READERS: tuple[Callable[[Sequence[str], int, Viewer, int], _Block], ...] = (
    _fence,
    _heading,
    _rule,
    _quote,
    _list,
    _table,
    _indented,
)
