"""Reads a card as the client would, by the platform's documented rules and not by our own code."""

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cards.render import Card, Limits

_TEXT = {"tag", "content", "i18n_content", "text_size", "text_color", "text_align"}
# Properties by tag, from the platform's component pages (feishu-platform.md 5.2 and 5.4); any other is an error there.
ALLOWED = {
    "markdown": {"tag", "content", "i18n_content", "text_size", "text_align", "margin", "icon"},
    "plain_text": _TEXT,
    "div": {"tag", "text", "icon", "width", "margin"},
    "hr": {"tag", "margin"},
    "img": {"tag", "img_key", "alt", "scale_type", "size", "corner_radius", "preview", "margin"},
    "standard_icon": {"tag", "token", "color"},
    "collapsible_panel": {"tag", "header", "expanded", "border", "background_color", "elements", "margin"},
    "column_set": {"tag", "columns", "flex_mode", "horizontal_spacing", "horizontal_align", "margin"},
    "column": {"tag", "elements", "width", "weight", "vertical_align"},
    "button": {"tag", "text", "type", "size", "width", "behaviors"},
}
_CARD = {
    "": {"schema", "config", "header", "body", "card_link"},
    "config": {"update_multi", "summary", "width_mode", "enable_forward"},
    "header": {"title", "subtitle", "template", "text_tag_list", "icon", "padding"},
    "body": {"elements", "vertical_spacing", "direction", "padding"},
}
_PANEL_HEADER = {"title", "background_color", "width", "vertical_align", "padding", "icon", "icon_position"}

_LINK = re.compile(r"\[([^\[\]]*)\]\((https?://[^\s()<>\"'\\\[\]]+)\)")
_OURS = re.compile(r"</?font(?: color='grey')?>|<br>|(?<!\*)\*{1,3}(?!\*)")
_FENCE = re.compile(r"(`{3,9})[A-Za-z0-9+#.-]*")
_ENTRY = re.compile(r"((?:    )*)(?:- |\d{1,9}\. )(?=\S)")
_SIZE = re.compile(r"[1-9]\d{0,2}px [1-9]\d{0,2}px")
_DASHES = re.compile(r"\|(?: --- \|)+")
_CODE = re.compile(r"`([^`]+)`")
_LIVE = re.compile(r"[<>*_~`\[\]\\$!@]|https?:|www\.|:[A-Za-z]+:", re.IGNORECASE)


def tree(card: Card) -> dict[str, Any]:
    """The card's JSON."""
    return json.loads(card.body)


def tagged(value: Any) -> Iterator[dict[str, Any]]:
    """Every object with a tag, in order."""
    if isinstance(value, dict):
        if "tag" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for child in value:
            yield from tagged(child)


def buttons(card: Card) -> dict[str, dict[str, Any]]:
    """Button texts with their first behavior."""
    found = (one for one in tagged(tree(card)) if one["tag"] == "button")
    return {one["text"]["content"]: one["behaviors"][0] for one in found}


def contents(card: Card, *sizes: str) -> list[str]:
    """Markdown of the body in reading order; only of these text sizes if some are named."""
    found = (one for one in tagged(tree(card)["body"]) if one["tag"] == "markdown")
    return [one["content"] for one in found if not sizes or one.get("text_size") in sizes]


def shown(markdown: str) -> str:
    """What a reader sees, without the marks of lists and quotes. Fails on anything that would be live and is not ours,
    and on blocks that the platform would not read as such.
    """
    seen, fence, above, level = [], "", "", -1
    for line in markdown.split("\n"):
        if fence:
            assert fence not in line or line == fence, line
            fence = "" if line == fence else fence
            seen.append(line if fence else "")
        elif opening := _FENCE.fullmatch(line):
            assert not above, "code begins after a blank line"
            fence = opening[1]
        elif line.startswith("| "):
            seen.append(_cells(line, above))
        elif entry := _ENTRY.match(line):
            level = _level(entry, above, level)
            seen.append(_words(line[entry.end() :]))
        else:
            assert not above or not line, "a paragraph begins after a blank line"
            seen.append(_words(line.removeprefix("> ")))
        above = line
    assert not fence, "code is closed"
    return "\n".join(seen)


def tables(card: Card) -> int:
    """How many tables of markdown a card has."""
    return sum(bool(_DASHES.fullmatch(line)) for one in contents(card) for line in one.split("\n"))


def _level(entry: re.Match[str], above: str, before: int) -> int:
    """An entry stands at most one level below the entry above it; the first one of a list stands at the left."""
    level = len(entry[1]) // 4
    assert level <= before + 1 if above else not level, entry
    assert not above or _ENTRY.match(above), above
    return level


def _cells(line: str, above: str) -> str:
    assert line.endswith(" |"), line
    assert not above or above.count("|") == line.count("|"), (above, line)
    return "" if _DASHES.fullmatch(line) else "\n".join(map(_inline, line[2:-2].split("|")))


def _words(line: str) -> str:
    assert not re.match(r"[#+=|-]|\d{1,9}[.)]|[ \t]", line), line
    return _inline(line)


def _inline(line: str) -> str:
    codes = _CODE.findall(line)
    rest = _CODE.sub("\ue000", line)
    rest = _OURS.sub("", _LINK.sub(r"\1", rest))
    assert not _LIVE.search(rest), rest
    assert not re.search(r"&(?!amp;|#\d+;)", rest), rest
    text = html.unescape(rest)
    for code in codes:
        text = text.replace("\ue000", code, 1)
    return text


def story(parts: Iterable[Card]) -> str:
    """All items over all parts, without white space: leads and rests, nothing else.

    A picture is its key in brackets ⟦…⟧, with the caption that stands below it.
    """
    return squeezed("".join(one for part in parts for one in _told(tree(part)["body"])))


def _told(body: dict[str, Any]) -> Iterator[str]:
    above = ""
    for one in tagged(body):
        if one["tag"] == "img":
            yield f"⟦{one['img_key']}⟧"
        elif one["tag"] == "markdown" and one.get("text_size") == "normal":
            yield shown(one["content"])
        elif one.get("text_size") == "notation" and above == "img":
            yield re.sub("(^| · )原图$", "", shown(one["content"]))
        above = one["tag"] if one["tag"] != "plain_text" else above


def links(markdown: str) -> list[tuple[str, str]]:
    """Text and address of every link; there are none in code."""
    outside = _CODE.sub("", re.sub(r"^(`{3,9})[^`\n]*\n.*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL))
    return [(html.unescape(text), url) for text, url in _LINK.findall(outside)]


def squeezed(text: str) -> str:
    """Text without white space and without what has no form on a screen, for comparing."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return "".join(c for c in text if unicodedata.category(c) != "Cc" and not c.isspace() and c != "\ufeff")


def assert_legal(card: Card) -> None:
    """Only documented properties, links and colours; containers not too deep."""
    whole = tree(card)
    assert whole["schema"] == "2.0"
    for place, allowed in _CARD.items():
        assert set(whole[place] if place else whole) <= allowed
    for one in tagged(whole):
        assert set(one) <= ALLOWED[one["tag"]], one
        if one["tag"] == "collapsible_panel":
            assert set(one["header"]) <= _PANEL_HEADER | {"icon_expanded_angle"}
        if one["tag"] == "img":
            assert _SIZE.fullmatch(one.get("size", "1px 1px")), one
            assert ("size" in one) == (one["scale_type"] == "crop_center"), one
        if one["tag"] in {"markdown", "plain_text"}:
            assert one["content"].strip(), one
        for behavior in one.get("behaviors", ()):
            assert set(behavior) in ({"type", "value"}, {"type", "default_url"})
    assert _depth(whole["body"]) <= 5


def assert_golden(card: Card, name: str, request: pytest.FixtureRequest) -> None:
    """The card is what it was when a human last read it; `--update-golden` writes it anew."""
    path = Path(__file__).parents[1] / "golden" / "cards" / f"{name}.json"
    text = json.dumps(tree(card), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert_legal(card)
    assert card.fits(Limits())
    assert text == path.read_text(encoding="utf-8")


def _depth(value: Any) -> int:
    if isinstance(value, list):
        return max(map(_depth, value), default=0)
    if not isinstance(value, dict):
        return 0
    inner = max(map(_depth, value.values()), default=0)
    return inner + (value.get("tag") in {"column_set", "column", "collapsible_panel"})
