r"""Formulas as text: bot/cards/formulas.py. What is expected is what a reader would take for the same formula."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.formulas import unicode_of
from bot.cards.inlines import paragraph
from bot.domain.audience import Density
from bot.domain.digest import Formula, Paragraph, Text
from tests.builders import make_cards, make_digest, make_item
from tests.unit.card_reader import contents, links, shown
from tests.unit.test_reading_cases import read

SEED = next((Path(__file__).parents[3] / "shared" / "seeds").glob("003_*.txt"), None)

PIECES = [
    *(r"\frac", r"\sqrt", r"\sqrt[", r"\text", r"\mathbf", r"\hat", r"\sum", r"\left", r"\right", r"\alpha", r"\to"),
    *(r"\cdot", r"\operatorname", r"\{", r"\}", r"\\", r"\,"),
    *"{}[]()_^'&%$#~ab1 |<>*`-",
    r"\begin{cases}",
    r"\end{cases}",
    "中",
]


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"O = \text{softmax}(QK^T)V", "O = softmax(QKᵀ)V"),
        (r"w_{k+1} = \frac{1}{k}\sum_{i=1}^k x_i", "wₖ₊₁ = (1/k)∑ᵢ₌₁ᵏ xᵢ"),
        (r"{w}_{k + 1}", "wₖ₊₁"),
        (r"\frac{1}{\sqrt{D}}", "1/√D"),
        ("(L, D)", "(L, D)"),
        (r"\mathcal{X}", "𝒳"),
        (r"\{x_i\}_{i=1}^n", "{xᵢ}ᵢ₌₁ⁿ"),
        (r"\frac{a+b}{c+d}", "(a+b)/(c+d)"),
        (r"\bar{x}", "x̄"),
        (r"E[X] \approx \bar{x}", "E[X] ≈ x̄"),
        (r"D_{KL}(\pi_\theta \| \pi_{ref})", "D_KL(π_θ ‖ π_ref)"),
        (r"\log\left(1+e^{-x}\right)", "log(1+e⁻ˣ)"),
        (r"50\%", "50%"),
        (r"x\leq 1, y \in\mathbb{R}^n, z\to\infty", "x ≤ 1, y ∈ ℝⁿ, z → ∞"),
        (r"\frac{\partial L}{\partial \theta}", "∂L/∂θ"),
        (r"\nabla f \times g \cdot h \ldots", "∇f × g ⋅ h …"),
        (r"\int_0^\infty e^{-x} dx", "∫₀^∞ e⁻ˣ dx"),
        (r"\theta^* = \operatorname*{argmax}_\theta J(\theta)", "θ^* = argmax_θ J(θ)"),
        (r"\mathbf{x} \quad \mathrm{KL} \, \mathbb{1}", "𝐱 \u2003 KL 𝟙"),
        (r"\hat{\theta}_i \tilde y \vec{v}", "θ̂ᵢ ỹ v⃗"),
        (r"\sqrt[3]{x} + \sqrt[n]{x}", "∛x + ⁿ√x"),
        (r"\prod\limits_{t=1}^{T} f'(x_t)", "∏ₜ₌₁ᵀ f′(xₜ)"),
        (r"\pi(\cdot|s) = 1 - \frac12", "π(⋅|s) = 1 − 1/2"),
        (r"5 \text{ if } x > 0", "5 if x > 0"),
        (r"\text{损失}=\frac{\text{hits}}{\text{all}}", "损失 = hits/all"),
    ],
)
def test_a_formula_reads_as_a_person_would_write_it(tex, text):
    """Real scripts, signs and alphabets, brackets only where they are needed."""
    assert unicode_of(tex) == text


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"2\frac{1}{k}x", "2(1/k)x"),
        (r"{1+\frac{1}{k}}x", "1+(1/k)x"),
        (r"\frac{\frac{a}{b}}{cd}", "(a/b)/(cd)"),
        (r"\frac{a}{b}^2", "(a/b)²"),
        (r"{a+b}^2", "(a+b)²"),
        (r"{x^2}^3", "(x²)³"),
        (r"\sqrt{2}\pi", "(√2)π"),
        (r"\sqrt{x+1}", "√(x+1)"),
        (r"2\sqrt[n]{x}", "2(ⁿ√x)"),
        (r"a^n\sqrt{x}", "aⁿ(√x)"),
        ("W_Q^T", "Wᵀ_Q"),
        ("{W_Q}^T", "(W_Q)ᵀ"),
        ("W_{Q^T}", "W_(Qᵀ)"),
        ("W_QK", "W_Q K"),
        ("x_{i,j}", "x_(i,j)"),
        ("e^{-x^2}", "e^(−x²)"),
        (r"2\log x\log y", "2 log x log y"),
    ],
)
def test_on_one_line_nothing_belongs_to_another_than_before(tex, text):
    """What TeX says by height and size, brackets and blanks say here."""
    assert unicode_of(tex) == text


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{matrix} a & b \end{matrix}",
        r"\begin{cases} a \end{cases}",
        r"a \\ b",
        "a & b",
        r"\foo{x}",
        r"\hat{xy}",
        r"1\frac{1}{2}",
        r"\left. x \right|",
        r"\text{for $x$}",
        "a_b_c",
        "_x",
        "x^",
        "{a",
        "a}",
        "$x$",
        "a % b",
        "",
        "{}",
        r"\frac{a}",
        r"\frac{}{b}",
        "{" * 3_000 + "}" * 3_000,
        "{" * 900 + "x" + "}" * 900,
        r"\frac" * 400,
        r"\frac{" * 300,
        r"\sqrt{" * 40 + "x" + "}" * 40,
        r"\begin{a}" * 200,
        "x" * 2_001,
    ],
)
def test_what_has_no_certain_text_is_refused(tex):
    """Better the source than a guess, and no bomb goes off."""
    assert unicode_of(tex) is None


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_any_string_is_text_or_refused_and_never_live(tex):
    """No exception, no line break, and no markup once it is in a card."""
    text = unicode_of(tex)

    line = paragraph((Formula(tex, tex), Text("后")))
    shown(line)
    assert not links(line)
    assert text is None or (text.strip() == text and text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["x^2", "y", r"\frac{a}{b}", r"\alpha", "+", "=", "(z)"]), min_size=1, max_size=9))
def test_no_sign_of_a_plain_formula_is_lost(pieces):
    """Every letter is there, in order."""
    text = unicode_of(" ".join(pieces))

    letters = re.sub(r"\\alpha", "α", re.sub(r"\\frac|[{}^ ]", "", "".join(pieces))).replace("2", "²")
    assert text is not None
    assert re.sub(r"[ ()/]", "", text) == re.sub(r"[()]", "", letters)


def test_a_display_formula_stands_on_a_line_of_its_own():
    """As text, like any paragraph."""
    blocks = (Paragraph((Text("前"),)), Paragraph((Formula("x_1 = 2", "$$x_1 = 2$$", display=True),)))

    (card,) = make_cards(make_digest([make_item(1, blocks=blocks, text="")]), Density.FULL)

    assert "前\n\nx₁ = 2" in contents(card)


@pytest.mark.skipif(SEED is None, reason="the seeds are not beside the repository")
def test_every_formula_of_the_publishers_hardest_digest_is_text():
    """No TeX reaches a reader, not even as code."""
    assert SEED is not None
    (digest,) = read(SEED.read_text(encoding="utf-8")).digests

    lines = [one for card in make_cards(digest, Density.FULL) for one in contents(card)]
    seen = "\n".join(map(shown, lines))

    assert not re.search(r"\\frac|\\sum|\$", seen)
    assert not [line for line in lines if "`" in line]
    assert "softmax(QKᵀ)V" in seen
