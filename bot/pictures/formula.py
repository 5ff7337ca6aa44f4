r"""TeX to a picture: black on opaque white, so that it reads the same in a light and in a dark chat.

latex2mathml reads, ziamath sets, resvg paints; all three are loaded by the first formula. None of them refuses what it
does not know: an unknown macro is set as its own name, an unknown environment as its content, a missing glyph as a box,
and each level of nesting doubles the work. So everything is looked at before and after; in doubt there is no picture.
"""

import re
import threading
import warnings
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from bot.pictures.ready import PictureError, ReadyPicture

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_CHARS = 2000
MOST_WIDTH, MOST_HEIGHT = 1000, 600
DENSITY = 3
TEXT_PX = 18
PADDING_PX = 10
MOST_BUILDS = 8_000  # of parts, 0.1 to 0.2 ms each
MOST_DEPTH = 40
EDGE_PX = 2  # of the padding: what is painted there was cut off beyond

# What the reader would take: it defines, addresses, styles, or paints what is no formula.
_FORBIDDEN = re.compile(
    r"\\(?:def|newcommand|newenvironment|DeclareMathOperator|href|class|style|rule|f?colorbox|verb)(?![a-zA-Z])"
    r"|(?<!\\)%"  # a comment, or a per cent sign that would swallow the rest
)
_SILENT = re.compile(r"\\(?:label|color|textcolor)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])")
_BLOCK = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_ENVIRONMENTS = {
    *("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "array", "cases"),
    *("align", "aligned", "split", "gather", "gathered", "equation"),
}
# Better readings of the same: a number of a line stands apart, a bracket is no markup, and these two are set wrongly.
_READ_AS = ((r"\tag", r"\qquad\tag"), ("<", r"\lt "), (r"\binom", r"\dbinom"), (r"\not=", r"\ne "))
_ESCAPED = re.compile(r"\\[\\{}]")
_ROWS = {"math", "mrow", "mtd", "mpadded", "mphantom", "menclose"}
_PARTS = {
    *("mi", "mn", "mo", "mtext", "mspace", "mfrac", "mroot", "msqrt", "mtable", "mtr", "mstyle"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover"),
}
# MathML's names of alphabets → ziamath's; it takes an unknown one for the ordinary alphabet.
_ALPHABETS = {"double-struck": "double", "sans-serif": "sans", "monospace": "mono"}
_NO_GLYPH = re.compile(r"#\w+_0$")

_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'

# ziamath switches its one font back and forth while it sets a text.
_setting = threading.Lock()


def draw(tex: str) -> ReadyPicture:
    """A formula on its own line. Equal TeX gives equal bytes.

    Raises: PictureError `formula_long`, `formula_unknown`, `formula_glyph`, `formula_size`, `formula_broken`.
    """
    source = _readable(tex)
    tools = _tools()
    with _setting:
        try:
            svg, width, height = _set(source, tools)
            png = tools.paint(svg_string=svg, skip_system_fonts=True, zoom=DENSITY, background="#ffffff")
        except PictureError:
            raise
        except Exception as exc:  # three libraries, each with its own ideas of errors
            raise PictureError("formula_broken", f"cannot be set ({type(exc).__name__})") from exc
    return ReadyPicture(_packed(png, tools), width, height)


def _readable(tex: str) -> str:
    """The source without what draws nothing. Raises PictureError for what would come out wrong."""
    if len(tex) > MOST_CHARS:
        raise PictureError("formula_long", f"is longer than {MOST_CHARS} characters")
    if _FORBIDDEN.search(tex):
        raise PictureError("formula_unknown", "holds a command that no formula needs")
    for _, name in _BLOCK.findall(tex):
        if name.removesuffix("*") not in _ENVIRONMENTS:
            raise PictureError("formula_unknown", "holds an unknown environment")
    tex = _BLOCK.sub(_starred, _SILENT.sub("", tex))
    depth = 0
    for char in _ESCAPED.sub("", tex):
        depth += (char == "{") - (char == "}")
        if not 0 <= depth <= MOST_DEPTH:
            raise PictureError("formula_broken", "has unbalanced or too deep braces")
    if depth:
        raise PictureError("formula_broken", "has an open brace")
    for written, read in _READ_AS:
        tex = tex.replace(written, read)
    return tex


def _starred(block: re.Match[str]) -> str:
    """Without the number that an unstarred environment gives each line."""
    side, name = block.groups()
    return rf"\{side}{{{'align*' if name == 'align' else name}}}"


def _set(tex: str, tools: SimpleNamespace) -> tuple[str, int, int]:
    """The formula as SVG with its size in pixels on a screen."""
    root = tools.parse(tools.to_mathml(tex).replace(_NAMESPACE, "", 1))
    _check(root)
    tools.font.language("math", "")  # an error inside a text leaves it in another one
    svg = tools.math(root, size=TEXT_PX, margin=PADDING_PX).svgxml()
    if any(_NO_GLYPH.search(use.get("href", "")) for use in svg.iter("use")):
        raise PictureError("formula_glyph", "holds a character that the font lacks")
    x, y, *size = map(float, svg.attrib["viewBox"].split())
    width, height = (int(-(-side // 1)) for side in size)
    if not (2 * PADDING_PX < width <= MOST_WIDTH and 2 * PADDING_PX < height <= MOST_HEIGHT):
        raise PictureError("formula_size", f"would be {width} x {height} pixels")
    svg.attrib |= {"width": str(width), "height": str(height), "viewBox": f"{x} {y} {width} {height}"}
    return tools.write(svg, encoding="unicode"), width, height


def _check(root: Element) -> None:
    """Mend what can be mended in place. Raises PictureError for what would be set wrong, or for ever."""
    if _builds(root) > MOST_BUILDS:
        raise PictureError("formula_size", "is nested too deeply")
    for part in root.iter():
        if part.tag not in _ROWS | _PARTS:
            raise PictureError("formula_unknown", f"needs {part.tag[:20]}, which is not drawn")
        text = part.text or ""
        if set(text) & {"\\", "\u0338"} or (part.tag == "mtext" and (not text or set(text) & set("{}$"))):
            raise PictureError("formula_unknown", "holds an unknown command")
        if part.tag == "mtext":
            part.text = text.replace("-", "\u2010")  # a plain one is drawn as a rule
        if part.get("width") == "negativethinmathspace":
            part.set("width", "-0.05em")  # it stands before brackets, which ziamath sets closer than TeX does
        if (alphabet := part.get("mathvariant")) is not None:
            part.set("mathvariant", " ".join(_ALPHABETS.get(word, word) for word in alphabet.split()))


def _builds(part: Element) -> int:
    """How many parts ziamath will make of this one: a row makes each of its children twice."""
    inner = sum(map(_builds, part))
    return 1 + inner * (2 if part.tag in _ROWS else 1)


def _packed(png: bytes, tools: SimpleNamespace) -> bytes:
    """The same picture in shades of grey. Raises PictureError if it is empty or was cut off."""
    picture: Image = tools.open(BytesIO(png)).convert("L")
    ink = picture.point(tuple(range(255, -1, -1))).getbbox()
    edge = EDGE_PX * DENSITY
    if ink is None:
        raise PictureError("formula_size", "shows nothing")
    if min(ink[:2]) < edge or ink[2] > picture.width - edge or ink[3] > picture.height - edge:
        raise PictureError("formula_size", "does not fit its own frame")
    packed = BytesIO()
    picture.save(packed, "PNG", optimize=True)
    return packed.getvalue()


@cache
def _tools() -> SimpleNamespace:
    """The libraries, half a second the first time."""
    from xml.etree.ElementTree import fromstring, tostring

    import resvg_py
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it finds its font in an old way
        from ziamath.tex import tex2mml
        from ziamath.zmath import Math, loadedfonts

    return SimpleNamespace(
        to_mathml=tex2mml,
        parse=fromstring,
        write=tostring,
        math=Math,
        font=loadedfonts["default"],
        paint=resvg_py.svg_to_bytes,
        open=Image.open,
    )
