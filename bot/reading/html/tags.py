"""What an element of HTML says by its name, its class and its style: chrome, hidden, a heading, a badge."""

import re
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

Attributes = Mapping[str, str | None]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS = _words(
    "html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu ol p pre section summary table tbody td tfoot"
    " th thead tr caption ul"
)
STRONG = frozenset({"b", "strong"})
EMPHASIS = frozenset({"i", "em", "cite", "var", "dfn"})
CODE = frozenset({"code", "kbd", "samp", "tt"})
# their text is no text of the page
SILENT = _words("title script style template iframe object embed audio video canvas datalist noembed noframes")

_CHROME = {
    "nav": "导航", "button": "按钮", "select": "表单", "textarea": "表单",
    "noscript": "脚本停用时的替代文字", "svg": "图形文字"
}  # fmt: skip
_ROLES = {"navigation": "导航", "search": "表单", "banner": "页眉", "contentinfo": "页脚", "button": "按钮"}
_CHROME_CLASS = re.compile(
    r"(?:site|page|main|top|global)?[-_]?(?:nav|navbar|navigation|menu|sidebar|breadcrumbs?|pagination|pager|toolbar)"
    r"|(?:site|page|global)[-_](?:header|footer)|skip-?link",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"[\s\x00-\x1f]*(?:java|vb)?(?:script|data)\s*:", re.IGNORECASE)  # a button, no address
_HIDING = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
# the part of a class name that says so: article-title-row, cat-header, sectionName
_HEADING_CLASS = re.compile(
    r"(?:^|[\s_-])(?:sub)?(?:title|heading|headline|header|subject)(?:[\s_-]?(?:row|text|line|bar|name))?(?=\s|$)"
    r"|(?:section|category|cat|group|column)[_-]?(?:name|label)(?=\s|$)|[a-z](?:Title|Heading|Header|Headline)(?=\s|$)",
)
_BADGE_CLASS = re.compile(r"(?:^|[\s_-])(?:badges?|tags?|labels?|chips?|pills?)(?=[\s_-]|$)", re.IGNORECASE)
_EMOJI_CLASS = re.compile(r"emoji|smiley", re.IGNORECASE)
_TEX_CLASS = re.compile(r"(?:^|[\s_-])(?:latex|tex|math)(?=[\s_-]|$)", re.IGNORECASE)
_DECLARED = re.compile(
    rb"""(?:<\?xml[^>]*?encoding|<meta[^>]*?charset)\s*=\s*["']?\s*([A-Za-z0-9_-]{2,30})""", re.IGNORECASE
)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|brush:)[-\s]?([A-Za-z0-9+#_-]+)")


def chrome(tag: str, attributes: Attributes) -> str | None:
    """Why the element is left out: part of the site, or not to be seen. Whether a footer is one, its place decides."""
    if not attributes:
        return _CHROME.get(tag)
    if "hidden" in attributes or _HIDING.search(attributes.get("style") or ""):
        return "隐藏文字"
    if attributes.get("aria-hidden") == "true":
        return "隐藏文字"
    if tag in _CHROME:
        return _CHROME[tag]
    if tag == "a" and _PROGRAM.match(attributes.get("href") or ""):
        return "脚本链接"
    role = _ROLES.get((attributes.get("role") or "").strip().lower())
    return role or ("导航" if any(map(_CHROME_CLASS.fullmatch, classes(attributes).split())) else None)


def classes(attributes: Attributes) -> str:
    """The class names; a long attribute is no class."""
    return (attributes.get("class") or "")[:500]


def is_heading_class(attributes: Attributes) -> bool:
    """The class says that this is a title."""
    return bool(_HEADING_CLASS.search(classes(attributes)))


def is_badge(attributes: Attributes) -> bool:
    """A word about a title, which stands beside it."""
    return bool(_BADGE_CLASS.search(classes(attributes)))


def is_drawn_formula(attributes: Attributes) -> bool:
    """A formula drawn for the eye beside its source, as KaTeX and MathJax do."""
    return any(word in classes(attributes) for word in ("katex", "MathJax", "mwe-math"))


def number(written: str | None, otherwise: int) -> int:
    """A count in an attribute."""
    return int(written) if written and written.isdecimal() and len(written) < 7 else otherwise


def formula_of_image(attributes: Attributes) -> str | None:
    """TeX of a picture of a formula, as 知乎 and WordPress draw them."""
    alt = (attributes.get("alt") or "").strip()
    is_formula = "eeimg" in attributes or _TEX_CLASS.search(classes(attributes))
    return alt if alt and is_formula else None


def is_emoji(attributes: Attributes) -> bool:
    """A picture that stands for one character."""
    return bool(_EMOJI_CLASS.search(classes(attributes)))


def is_pixel(attributes: Attributes) -> bool:
    """A picture that nobody sees: it counts readers."""
    return any((attributes.get(side) or "").strip() in {"0", "1", "0px", "1px"} for side in ("width", "height"))


def image_address(attributes: Attributes, base: str | None) -> str | None:
    """Where the picture lies. Pages that load late keep it beside `src`."""
    names = ("data-src", "data-original", "data-actualsrc", "data-lazy-src", "src")
    return next(filter(None, (web_address(attributes.get(name), base) for name in names)), None)


def language_of(attributes: Attributes) -> str:
    """The language of code, as highlighters note it."""
    found = _LANGUAGE.search(classes(attributes))
    return found[1] if found else ""


def web_address(written: str | None, base: str | None) -> str | None:
    """The http(s) address that a link means; None for a place in the page, a script, an address without a host."""
    written = (written or "").strip()
    if not written or written.startswith("#"):
        return None
    try:
        address = urljoin(base or "", written.replace(" ", "%20"))
        if address.startswith("//"):
            address = f"https:{address}"
        split = urlsplit(address)
        return split.geturl() if split.scheme in {"http", "https"} and split.hostname else None
    except ValueError:
        return None


def declared_encoding(data: bytes) -> str | None:
    """The encoding that `<?xml … encoding=…>` or `<meta charset=…>` states.

    None for UTF-8 that says to be something else: Chinese in it would decode as GB18030 too, into other characters.
    """
    found = _DECLARED.search(data[:2048])
    if not found:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return found[1].decode("ascii")
    return None if any(byte > 0x7F for byte in data[:200_000]) else found[1].decode("ascii")
