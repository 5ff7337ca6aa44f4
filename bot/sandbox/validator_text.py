"""Texts and links of a card. Source: feishu-platform notes 5.3 (markdown), 2.8 and 5.6 (links), 15.6 (warnings)."""

import re
from collections import defaultdict, deque
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from bot.sandbox.validator_fields import (
    LOCALES,
    CardRefusedError,
    Check,
    Place,
    Reading,
    image_key,
    malformed,
    string,
    user_id,
)

MOST_TABLES_IN_ONE = 4
NO_SUCH_USER = 100290
ELEMENT_LIMIT = 11310
PLATFORM_OFF = "lark://msgcard/unsupported_action"  # switches one platform off
KNOWN_TAGS = {
    "a", "at", "audio", "br", "font", "hr", "link", "local_datetime", "number_tag", "person", "raw", "text_tag",
}  # fmt: skip

# every pattern below is linear: a card of 30 KB of brackets must not hold up the sandbox
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_TICKS = re.compile("`+")
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\(([^()\s]*)(?:\s[^()]*)?\)")
_LINK = re.compile(r"\[[^\[\]]*\]\(((?:[^()\n]|\([^()\n]*\))*)\)")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_]*)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"(?<![a-z_])([a-z_]++)\s*+=\s*+(?:'([^']*)'|\"([^\"]*)\"|([^\s'\">]+))")
_DELIMITER = re.compile(r":?-+:?")
_MATH = re.compile(r"\$[^$\n]+\$")
_BEFORE_CJK = re.compile(r"(?<![!-~])[!-~]++(?=[\u3000-\u9fff\uff00-\uffef])")
_ENTITY = re.compile(r"&(?:reg|copy|amp|lt|gt|para|sect|times|not|deg|micro|yen|cent|pound)")
_URL = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")  # printable ASCII without " < > \ ^ ` { | }


def link(value: Any, place: Place, reading: Reading) -> None:
    """The scheme http or https, with a host, special characters percent-encoded."""
    string()(value, place, reading)
    try:
        host = urlsplit(value).hostname
    except ValueError:
        host = None
    if not _URL.fullmatch(value) or not host:
        raise malformed(place, "link is invalid: only well-formed http and https", value)


def platform_link(value: Any, place: Place, reading: Reading) -> None:
    """A link of one platform: may be empty, or switch that platform off."""
    if value not in ("", PLATFORM_OFF):
        link(value, place, reading)


def markdown(value: Any, place: Place, reading: Reading) -> None:
    """Content of a markdown component: links, images, mentions, tables."""
    string()(value, place, reading)
    text = without_code(value)
    _check_tables(text, place, reading)
    for found in _IMAGE.finditer(text):
        image_key(found[1], place, reading)
    _check_inline(_IMAGE.sub("", text), place, reading)


def lark_md(value: Any, place: Place, reading: Reading) -> None:
    """The subset without tables and images."""
    string()(value, place, reading)
    _check_inline(without_code(value), place, reading)


def text_size(value: Any, place: Place, reading: Reading) -> None:
    """An unknown size is shown as normal (5.6), so it only warns."""
    string()(value, place, reading)
    sizes = "heading(-[0-4])?|normal|notation|(x{1,4}-)?large|medium|(x-)?small|cus-[0-9]+"
    if not re.fullmatch(sizes, value):
        reading.warn(place, f"unknown text_size {value}")


def content_of(tag: str) -> Check:
    """The check of `content` in a text object with this tag."""
    return {"plain_text": string(), "lark_md": lark_md, "markdown": markdown}[tag]


def without_code(text: str) -> str:
    """The text without fenced blocks and code spans: nothing in them is a link, a tag or a table."""
    kept, fence = [], ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            closes = found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif found is not None:
            fence = found[1]
        else:
            kept.append(line)
    return _without_spans("\n".join(kept))


def _without_spans(text: str) -> str:
    """A run of backticks opens a span if a run of the same length follows; the span ends there."""
    runs = list(_TICKS.finditer(text))
    later: dict[int, deque[int]] = defaultdict(deque)
    for index, run in enumerate(runs):
        later[len(run[0])].append(index)
    kept, end, index = [], 0, 0
    while index < len(runs):
        same = later[len(runs[index][0])]
        while same and same[0] <= index:
            same.popleft()
        if same:
            kept.append(text[end : runs[index].start()])
            index = same[0]
            end = runs[index].end()
        index += 1
    return "".join([*kept, text[end:]])


def _is_delimiter(line: str) -> bool:
    """`|---|:-:|`, the line under the head of a table."""
    bare = line.strip(" \t>")
    cells = bare.strip("|").split("|")
    return "|" in bare and all(_DELIMITER.fullmatch(cell.strip()) for cell in cells)


def _check_tables(text: str, place: Place, reading: Reading) -> None:
    lines = text.split("\n")
    tables = sum(_is_delimiter(line) and bool(above.strip()) for above, line in pairwise(lines))
    if tables > MOST_TABLES_IN_ONE:
        raise CardRefusedError(ELEMENT_LIMIT, place, "card table number over limit", "table")
    if place.path.rsplit(" -> ", 1)[-1] not in LOCALES:  # translations show instead of the content, not beside it
        reading.tables += tables


def _check_inline(text: str, place: Place, reading: Reading) -> None:
    for found in _LINK.finditer(text):
        _check_target(found[1].strip(), place, reading)
    for closing, tag, attributes in _TAG.findall(text):
        if not closing:
            _check_tag(tag, _attributes(attributes), place, reading)
    _warn_of_bad_looks(text, place, reading)


def _check_target(target: str, place: Place, reading: Reading) -> None:
    """`[t](target)`; telephone links work on phones."""
    if re.fullmatch(r"tel://[0-9+\-]+", target):
        return
    link(target, place, reading)
    if "&" in target and _ENTITY.search(target):
        reading.warn(place, "an entity inside a link is converted even without ';'")


def _check_tag(tag: str, attributes: dict[str, str], place: Place, reading: Reading) -> None:
    if tag == "at":
        _check_mention(attributes, place, reading)
    elif tag == "a":
        _check_target(attributes.get("href", ""), place, reading)
    elif tag == "link":
        link(attributes.get("url", ""), place, reading)
        for platform in ("pc_url", "ios_url", "android_url"):
            platform_link(attributes.get(platform, ""), place, reading)
    elif tag not in KNOWN_TAGS:
        reading.warn(place, f"<{tag}> is no tag of the platform: it disappears")


def _check_mention(attributes: dict[str, str], place: Place, reading: Reading) -> None:
    """`<at id=…>`, `ids=a,b`, or an e-mail address, which the sandbox's people do not have."""
    ids = [one for one in (attributes.get("ids") or attributes.get("id") or "").split(",") if one]
    if not ids:
        raise CardRefusedError(NO_SUCH_USER, place, "invalid user resource (at/person)", str(attributes)[:80])
    for one in ids:
        if one == "all":
            reading.mention_all = place.path
        else:
            user_id(one, place, reading)


def _warn_of_bad_looks(text: str, place: Place, reading: Reading) -> None:
    if _MATH.search(text):
        reading.warn(place, "$…$ is shown as it stands: cards have no formulas")
    if any("http://" in run or "https://" in run for run in _BEFORE_CJK.findall(_LINK.sub("", text))):
        reading.warn(place, "a bare address touches Chinese text and is taken as one wrong link")
    if "****" in text or "____" in text:
        reading.warn(place, "four * or _ in a row")


def _attributes(text: str) -> dict[str, str]:
    return {found[1]: found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(text)}
