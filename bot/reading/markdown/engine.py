"""markdown-it as digests need it: Chinese bold, formulas and bare links by our own rules, a floor for nesting."""

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline, emphasis
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bot.reading.inlines import Marks, formula_at, url_at

DEEPEST = 12  # quotes in quotes, lists in lists: further in, text is text, since whoever walks over blocks recurses
MOST_LEVELS = 100
MOST_TABLE_TOKENS = 100_000

_CJK = re.compile(r"[\u1100-\u11ff\u2018-\u201d\u2014\u2026\u00b7\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)


def tokens_of(text: str) -> list[Token]:
    """The flat tokens of a document."""
    return _engine().parse(text, {})


@cache
def _engine() -> MarkdownIt:
    engine = MarkdownIt("commonmark", {"maxNesting": MOST_LEVELS}).enable(["table", "strikethrough"])
    engine.normalizeLink = str  # type: ignore[assignment,method-assign]  # addresses stay as the editor wrote them
    engine.use(dollarmath_plugin)
    engine.block.ruler.before("table", "floor", _floor)
    engine.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    engine.inline.ruler.at("math_inline", _formula)
    engine.inline.ruler.before("emphasis", "bare_link", _bare_link)
    engine.inline.ruler.at("emphasis", _emphasis)
    return engine


def _floor(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """What stands deeper than anybody nests is one paragraph; markdown-it alone would leave it out."""
    if silent or state.level < 2 * DEEPEST:
        return False
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, end, state.blkIndent, keepLastLF=False).strip()
    inline.map, inline.children = [start, end], []
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it's rule, which fills short rows up to the width of the head: a few bytes can ask for any number."""
    if state.env.get("table tokens", 0) > MOST_TABLE_TOKENS:
        return False
    known = len(state.tokens)
    found = table(state, start, end, silent)
    state.env["table tokens"] = state.env.get("table tokens", 0) + len(state.tokens) - known
    return found


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    marks = state.env.get("formula marks")
    if marks is None or marks.text is not state.src:
        marks = state.env["formula marks"] = Marks(state.src)
    formula = formula_at(state.src, state.pos, marks)
    if formula is None or state.pos + len(formula.written) > state.posMax:
        return False
    if not silent:
        state.push("formula", "", 0).meta = {"formula": formula}
    state.pos += len(formula.written)
    return True


def _bare_link(state: StateInline, silent: bool) -> bool:
    """Found by its colon, where markdown-it stops anyway; taken whole, so that no `_` in it is emphasis."""
    if state.linkLevel or not state.src.startswith("://", state.pos):
        return False
    scheme = _SCHEME.search(state.pending[-6:])
    url = scheme and url_at(state.src, state.pos - len(scheme[0]), state.posMax)
    if not scheme or not url:
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        state.push("link_open", "a", 1).attrs = {"href": url}
        state.push("text", "", 0).content = url
        state.push("link_close", "a", -1)
    state.pos += len(url) - len(scheme[0])
    return True


def _emphasis(state: StateInline, silent: bool) -> bool:
    """markdown-it's rule, and `**粗体。**后文` closes too: no blanks part Chinese words from their stops."""
    start, known = state.pos, len(state.delimiters)
    if not emphasis.tokenize(state, silent):
        return False
    before = state.src[start - 1] if start else " "
    after = state.src[state.pos] if state.pos < state.posMax else " "
    if state.src[start] == "*" and (_CJK.match(before) or _CJK.match(after)):
        for delimiter in state.delimiters[known:]:
            delimiter.open = delimiter.open or not after.isspace()
            delimiter.close = delimiter.close or not before.isspace()
    return True
