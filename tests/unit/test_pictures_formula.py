r"""Formulas as pictures: what is drawn, and that what would be drawn wrongly is not."""

import contextlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bot.pictures.formula import DENSITY, MOST_HEIGHT, MOST_WIDTH, PADDING_PX, draw
from bot.pictures.ready import PictureError
from tests.effort import calls_of

LONG = (
    r"\mathcal{J} = \frac{1}{G}\sum_{i=1}^{G}\frac{1}{|o_i|}\sum_{t=1}^{|o_i|}\left[\min\left("
    r"\frac{\pi_\theta(o_{i,t}|q)}{\pi_{old}(o_{i,t}|q)}\hat{A}_{i,t}, \operatorname{clip}\left(\frac{\pi_\theta}"
    r"{\pi_{old}}, 1-\epsilon, 1+\epsilon\right)\hat{A}_{i,t}\right) - \beta D_{KL}(\pi_\theta\|\pi_{ref})\right]"
)
DRAWN = [
    LONG,
    r"O = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V",
    r"w_{k+1} = \frac{1}{k}\sum_{i=1}^k x_i",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix} \begin{bmatrix} 1 & \cdots \\ \vdots & \ddots \end{bmatrix}",
    r"f(x) = \begin{cases} x^2 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{aligned} \mathcal{L}(\theta) &= \mathbb{E}_{x \sim p}[\log p(x)] \\ &\le \sum_{i=1}^{N} q_i \end{aligned}",
    r"\frac{1}{1+\frac{1}{1+\frac{1}{1+x}}}",
    r"\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt[3]{\pi}",
    r"\operatorname*{argmax}_{\theta} \prod_{i=1}^n p(x_i \mid \theta)",
    r"\mathbb{1}[x>0], \mathfrak{g}, \mathbf{I}, \boldsymbol{\mu}, \bm{\Sigma}, \mathrm{softmax}",
    r"\left\| \nabla f \right\|_2 \left\lfloor x \right\rfloor \left\{ a \,\middle|\, b \right\} \left. y \right|_{0}",
    r"\hat{x}, \bar{x}, \tilde{x}, \vec{x}, \widehat{abc}, \overline{abc}, \underbrace{a+b}_{\text{sum}}",
    r"\binom{n_{1}}{k_{2}} + \sum_{\substack{i=1\\ i\ne j}}^n a_{ij}",
    r"\begin{align} a &= b + c \\ d &= e \tag{1} \label{eq:x} \nonumber \end{align}",
    r"a < b \not= c \neq d",
    r"\text{Top-k}, 50\%, \{x\}",
]
REFUSED = {
    "": "formula_broken",
    " ": "formula_broken",
    "{}": "formula_size",
    r"\phantom{x}": "formula_size",
    "x" * 2001: "formula_long",
    r"\foo{x}": "formula_unknown",
    r"x + \undefined": "formula_unknown",
    r"\begin{tikzpicture} x \end{tikzpicture}": "formula_unknown",
    r"\def\x{y}\x": "formula_unknown",
    r"\newcommand{\x}[1]{#1#1}\x{y}": "formula_unknown",
    r"\href{https://example.com}{x}": "formula_unknown",
    r"\colorbox{black}{x}": "formula_unknown",
    r"\rule{10em}{5em}": "formula_unknown",
    "50% of it": "formula_unknown",
    r"\text{if $x$}": "formula_unknown",
    r"\text{a {b} c}": "formula_unknown",
    r"\text{</mtext><mspace width='9em'/><mtext>}": "formula_unknown",
    r"\text{采样}": "formula_glyph",
    "损失 = x": "formula_glyph",
    "x 😀": "formula_glyph",
    "a & b": "formula_broken",
    r"\left( x": "formula_broken",
    r"\frac{a}": "formula_broken",
    "x^{": "formula_broken",
    "x}": "formula_broken",
    r"x^{a}^{b}": "formula_broken",
    r"\text{}": "formula_unknown",
    "+".join("x" * 300): "formula_size",
    r"\hspace{100000em}x": "formula_size",
    r" \\ ".join("x" * 60): "formula_size",
    "{" * 20 + "x" + "}" * 20: "formula_size",
}


def seen(tex: str) -> Image.Image:
    """The picture of a formula, in grey."""
    return Image.open(BytesIO(draw(tex).content)).convert("L")


def code_of(tex: str) -> str:
    """The code of a refusal."""
    with pytest.raises(PictureError) as caught:
        draw(tex)
    return caught.value.code


@pytest.mark.parametrize("tex", DRAWN)
def test_a_formula_is_drawn_dark_on_white_with_air_around_it(tex):
    """Three pixels for one of the screen; the ground is opaque, so that a dark chat changes nothing."""
    ready = draw(tex)
    picture = Image.open(BytesIO(ready.content))

    assert picture.size == (ready.width * DENSITY, ready.height * DENSITY)
    assert ready.width <= MOST_WIDTH
    assert ready.height <= MOST_HEIGHT
    assert picture.format == "PNG"
    assert not picture.has_transparency_data
    assert picture.getextrema()[0] < 20
    ink = picture.point(tuple(range(255, -1, -1))).getbbox()
    air = (PADDING_PX - 4) * DENSITY
    assert min(ink[:2]) >= air
    assert ink[2] <= picture.width - air
    assert ink[3] <= picture.height - air


@pytest.mark.parametrize(("tex", "code"), REFUSED.items(), ids=[tex[:20] for tex in REFUSED])
def test_what_would_be_drawn_wrongly_is_refused(tex, code):
    """Unknown names, characters without a glyph, what is broken or absurd: the card shows text instead."""
    assert code_of(tex) == code


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"a \nonumber b \label{eq}", "a b"),
        (r"\color{red}{x} + \textcolor{white}{y}", "{x} + {y}"),
        (r"a \not= b", r"a \ne b"),
        (r"\begin{align} a &= b \end{align}", r"\begin{align*} a &= b \end{align*}"),
    ],
)
def test_what_says_the_same_looks_the_same(one, other):
    """Labels draw nothing, colours cannot hide a part, lines get no number of their own."""
    assert draw(one) == draw(other)


@pytest.mark.parametrize(
    ("one", "other"), [(r"\mathbb{1}", "1"), (r"\mathsf{A}", "A"), (r"\mathtt{x}", "x"), (r"\mathbf{I}", r"\mathit{I}")]
)
def test_alphabets_that_mean_something_are_told_apart(one, other):
    """A letter in another alphabet is another thing."""
    assert draw(one).content != draw(other).content


def test_equal_formulas_give_equal_bytes_in_every_thread_and_after_every_error():
    """The bytes name the picture: a text that cannot be set leaves nothing behind."""
    alone = {tex: draw(tex) for tex in DRAWN[1:]}
    script = "import sys; from bot.pictures.formula import draw; sys.stdout.buffer.write(draw(sys.argv[1]).content)"
    fresh = subprocess.run([sys.executable, "-c", script, DRAWN[1]], capture_output=True, check=True).stdout

    def again(tex: str):
        for broken in ("\\text{\n}", r"\text{采}", r"\frac{a}"):
            with pytest.raises(PictureError):
                draw(broken)
        return draw(tex)

    with ThreadPoolExecutor(4) as threads:
        together = dict(zip(alone, threads.map(again, alone), strict=True))

    assert together == alone
    assert fresh == alone[DRAWN[1]].content


def test_importing_the_drawing_loads_no_library():
    """They cost half a second, which commands without formulas need not pay."""
    script = (
        "import sys, bot.pictures.formula, bot.pictures.photo, bot.services.illustrate;"
        "print([name for name in ('ziamath', 'latex2mathml', 'resvg_py', 'PIL') if name in sys.modules])"
    )

    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"[]\n"


TOKENS = sorted(
    {*"{}_^&|()[]xy1+-='%$<>/ \n", *(word for tex in DRAWN for word in tex.replace("{", " { ").split()), "中", "\0",
     r"\left(", r"\right)", r"\text{", r"\over", r"\limits", r"\not", r"\sqrt[", r"\begin{cases}", r"\end{cases}"}
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=40).map("".join) | st.text(max_size=60))
def test_whatever_stands_in_a_formula_it_is_drawn_or_refused(tex):
    """Never another error, never a picture that no card can show."""
    try:
        ready = draw(tex)
    except PictureError:
        return
    assert ready.width <= MOST_WIDTH
    assert ready.height <= MOST_HEIGHT


@pytest.mark.parametrize(
    "part", ["{", r"\sqrt{", r"\frac{1}{1+", "x^{1+", r"\left(", r"\hat{", r"\sqrt ", "^", r"\substack{", r"\boxed{"]
)
def test_nesting_cannot_keep_the_drawing_busy(part):
    """Each level doubles the work of the library: the work is counted before it is done."""
    close = "}" if part.endswith(("{", "+")) else r"\right)" if part.endswith("(") else ""

    def work():
        for depth in (4, 14, 40):
            with contextlib.suppress(PictureError):
                draw((part * depth + "x" + close * depth)[:2000])

    assert calls_of(work) < 3_000_000  # without the count of the work it would be 2 ** 40
