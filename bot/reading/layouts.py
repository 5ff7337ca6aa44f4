"""Lines of unmarked text → where the introduction ends, where each item starts, where the farewell begins.

An item is a title, its paragraphs and its link. The link stands after the text or before it; which of the two is
decided once for the whole text, by what most links stand next to.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bot.reading.marks import Kind, Line, columns, is_ended
from bot.reading.outline import Outline, is_standing, list_style
from bot.reading.vocabulary import FAREWELL, INNER_HEADING

LONG_COLUMNS = 160
LEAST_EXCERPT_COLUMNS = 60
INNER_TITLE_COLUMNS = range(10, 61)
TITLE_WITH_COMMA_COLUMNS = 36
LONE_TITLE_COLUMNS = 17  # narrower, and a last line may be anything


def find_outline(lines: Sequence[Line], sections: frozenset[int]) -> Outline:
    """The structure of one day's text below its title."""
    end = _farewell(lines)
    has_links = any(line.kind is Kind.LINK for line in lines[:end])
    body = Outline(lines, sections, 0, end, has_links=has_links)
    if not has_links:
        return _without_links(body)
    body = replace(body, body_start=_introduction_end(body))
    return _with_leading_links(body) if _links_lead(body) else _with_trailing_links(body)


def _farewell(lines: Sequence[Line]) -> int:
    """Farewells and imprints at the very end are no part of the last item."""
    end = len(lines)
    while end:
        if FAREWELL.match(lines[end - 1].text):
            end -= 1
        elif end > 1 and lines[end - 1].kind is Kind.LINK and FAREWELL.match(lines[end - 2].text):
            end -= 2
        else:
            break
    return end


def _introduction_end(body: Outline) -> int:
    """Index of the first line that belongs to an item or names a section."""
    first = next((index for index in body.body if _opens_body(body, index)), body.body_end)
    if first < body.body_end and not _tells_story(body.lines[:first]):
        return first
    standing = [index for index in range(first) if is_standing(body.lines[index])]
    end = standing[-1] + 1 if standing else 0
    return end + 1 if standing and end < first and body.kind(end) is Kind.LINK else end


def _opens_body(body: Outline, index: int) -> bool:
    line = body.lines[index]
    if index in body.sections or (line.mark and line.kind is not Kind.LINK):
        return True
    return line.kind is Kind.SHORT and index + 1 < body.body_end and not is_standing(line)


def _tells_story(lines: Sequence[Line]) -> bool:
    """News with its link, and no standing text: an untitled item, or a link that opens one."""
    for index, line in enumerate(lines):
        if line.kind is Kind.LINK:
            previous = lines[index - 1] if index else None
            if previous is None or not (previous.text.endswith((":", "：")) or is_standing(previous)):
                return True
    return False


def _links_lead(body: Outline) -> bool:
    """Links stand before the text: most of them follow something short and are followed by prose."""
    votes = 0
    texts = [index for index in body.body if body.lines[index].kind is not Kind.LABEL]
    for before, index, after in zip([-1, *texts], texts, [*texts[1:], -1], strict=False):
        if body.kind(index) is Kind.LINK:
            previous, following = body.kind(before), body.kind(after)
            votes += (following is Kind.PROSE) - (following in {Kind.SHORT, None})
            votes += (previous in {Kind.SHORT, None} and following is Kind.PROSE) - (previous is Kind.PROSE)
    return votes > 0


def _with_leading_links(body: Outline) -> Outline:
    """The title is the short line before the link, contributor lines left out."""
    starts: set[int] = set()
    previous_link = body.body_start - 1
    for index in body.body:
        if body.kind(index) is Kind.LINK:
            title = index - 1
            while title > previous_link and body.kind(title) is Kind.LABEL:
                title -= 1
            has_title = title > previous_link and body.kind(title) in {Kind.SHORT, Kind.EXCLAIMED}
            if has_title or body.kind(index - 1) is not Kind.LINK:
                starts.add(title if has_title else index)
            previous_link = index
        elif _is_inner_title(body, index) and not body.lines[index].mark:
            starts.add(index)
    return replace(body, starts=frozenset(starts))


def _with_trailing_links(body: Outline) -> Outline:
    """The title is the first line after the link before."""
    fresh = _fresh_lines(body)
    if all(body.kind(index) in {Kind.LINK, None} for index in body.body):
        return replace(body, starts=frozenset(body.body) - body.sections)
    titled = 2 * sum(body.lines[index].could_be_title for index in fresh) >= len(fresh)
    inner = _inner_titles(body, fresh)
    starts = set(inner)
    for index, following in pairwise([*fresh, body.body_end]):
        run = range(index, following)
        has_inner = not inner.isdisjoint(run)
        if any(body.kind(other) is Kind.LINK for other in run):
            # prose right after a link, with a titled item behind it, still belongs to the item before
            is_leftover = titled and has_inner and body.kind(index) is Kind.PROSE
            starts |= set() if is_leftover else {index}
        elif following < body.body_end:
            starts |= {index} if body.lines[index].could_be_title else set()
        elif _is_last_item(body, index, titled=titled):
            starts.add(index)
        elif not has_inner:
            body = replace(body, body_end=index)
    return replace(body, starts=frozenset(starts))


def _fresh_lines(body: Outline) -> list[int]:
    """Indexes of the first lines after a link or a section name, contributor lines left out."""
    fresh: list[int] = []
    is_fresh = True
    for index in body.body:
        kind = body.kind(index)
        if kind is None or kind is Kind.LINK:
            if kind is Kind.LINK and (not fresh or body.kind(index - 1) is None):
                fresh.append(index)
            is_fresh = True
        elif is_fresh and kind is not Kind.LABEL:
            fresh.append(index)
            is_fresh = False
    return fresh


def _inner_titles(body: Outline, fresh: Sequence[int]) -> set[int]:
    """Titles of items that no link stands before; where the items are numbered, numbered ones only."""
    numbered = [body.lines[index] for index in fresh if body.lines[index].mark]
    style = list_style(numbered[0]) if 2 * len(numbered) > len(fresh) else ""
    titles = {index for index in body.body if _is_inner_title(body, index)}
    return {index for index in titles.difference(fresh) if list_style(body.lines[index]) == style}


def _is_last_item(body: Outline, index: int, *, titled: bool) -> bool:
    """Text after the last link that is an item cut off, and no closing words."""
    line = body.lines[index]
    if index + 1 < body.body_end:
        return line.could_be_title or not titled
    return columns(line.text) >= LONE_TITLE_COLUMNS if line.kind is Kind.SHORT else not titled


def _is_inner_title(body: Outline, index: int) -> bool:
    """Short and open, between a finished paragraph and prose."""
    line = body.lines[index]
    if body.kind(index) is not Kind.SHORT or {body.kind(index - 1), body.kind(index + 1)} != {Kind.PROSE}:
        return False
    width = columns(line.body)
    limit = TITLE_WITH_COMMA_COLUMNS if "，" in line.body or "," in line.body else INNER_TITLE_COLUMNS.stop
    before = body.lines[index - 1].text
    is_finished = is_ended(before) or (columns(before) > INNER_TITLE_COLUMNS.stop and not before.endswith((":", "：")))
    return is_finished and width in INNER_TITLE_COLUMNS and width <= limit and not INNER_HEADING.fullmatch(line.body)


def _without_links(body: Outline) -> Outline:
    """Lines of a list, else titles before prose, else long excerpts that have no titles at all."""
    titles = {index for index in body.body if _is_bare_title(body, index)}
    starts = _numbered_items(body, titles) or _semicolon_list(body)
    if starts:
        body = replace(body, body_end=_list_end(body, starts))
    else:
        starts = _excerpts(body, titles) or titles
    if not starts:
        return replace(body, sections=frozenset(), body_start=body.body_end)
    return replace(body, body_start=min({*starts, *body.sections}), starts=frozenset(starts))


def _numbered_items(body: Outline, titles: set[int]) -> set[int]:
    """Lines of the list that is the digest, or none if the lists stand inside titled items."""
    marked = [index for index in body.body if body.kind(index) and body.lines[index].mark]
    if not marked:
        return set()
    style = list_style(body.lines[marked[0]])
    numbered = {index for index in marked if list_style(body.lines[index]) == style}
    restarts = [index for index in numbered if index > marked[0] and body.lines[index].starts_numbering]
    over_text = [index for index in titles if not body.lines[index + 1].mark]
    is_inside = any(body.kind(index - 1) is Kind.SHORT and not body.lines[index - 1].mark for index in restarts)
    is_inside = is_inside or (len(over_text) > 1 and min(over_text) < marked[0])
    is_list = len(numbered) > 1 or body.lines[marked[0]].starts_numbering
    return numbered if is_list and not is_inside else set()


def _semicolon_list(body: Outline) -> set[int]:
    """A list without marks: lines that end with a semicolon, and the one after the last of them."""
    listed = [index for index in body.body if body.kind(index) and body.lines[index].text.endswith(("；", ";"))]
    return {*listed, *[index + 1 for index in listed[-1:] if body.kind(index + 1)]} if len(listed) > 1 else set()


def _list_end(body: Outline, starts: set[int]) -> int:
    """In a list of single lines, what follows the last one is a farewell."""
    last = max(starts)
    is_single = all(index in starts or index in body.sections for index in range(min(starts), last))
    return last + 1 if is_single else body.body_end


def _is_bare_title(body: Outline, index: int) -> bool:
    line = body.lines[index]
    if line.mark or is_standing(line) or INNER_HEADING.fullmatch(line.text):
        return False
    follower = body.kind(index + 1)
    asks = body.kind(index) is Kind.EXCLAIMED and line.text.endswith(("？", "?"))
    heads_text = follower is Kind.PROSE or (follower is not None and bool(body.lines[index + 1].mark))
    return heads_text and (asks or body.kind(index) is Kind.SHORT)


def _excerpts(body: Outline, titles: set[int]) -> set[int]:
    """Paragraphs that are items by themselves: most are cut off, or they are long and nothing has a title."""
    prose = [index for index in body.body if body.kind(index) is Kind.PROSE]
    wide = {index for index in prose if columns(body.lines[index].text) >= LEAST_EXCERPT_COLUMNS}
    cut = [index for index in wide if body.lines[index].text.endswith(("...", "…"))]
    long = [index for index in wide if columns(body.lines[index].text) >= LONG_COLUMNS]
    are_cut = len(cut) > 1 and 2 * len(cut) > len(prose) and len(titles) < len(cut)
    return wide if are_cut or (long and not titles) else set()
