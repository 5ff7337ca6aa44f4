r"""What the macros of TeX stand for in plain text, and how such pieces stand beside each other.

Only what reads the same everywhere: a macro that is not here keeps its formula from becoming text.
"""

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise


class Kind(Enum):
    """What a piece of a formula is to its neighbours."""

    PLAIN = auto()
    SPACE = auto()
    WORD = auto()  # a name of more than one letter: must not run into another
    BIG = auto()  # sums and integrals: stand before all that follows
    PREFIX = auto()  # belongs to what follows, so no blank after it
    RELATION = auto()
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()
    RATIO = auto()  # a fraction: needs brackets between other factors
    ROOT = auto()  # needs brackets before another factor


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(text: str) -> dict[str, str]:
    words = _words(text)
    return dict(zip(words[::2], words[1::2], strict=True))


_SIGNS = {
    Kind.PLAIN: _pairs(r"""
        alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ
        mu μ nu ν xi ξ pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω
        Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
        infty ∞ ell ℓ hbar ℏ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ top ⊤ bot ⊥ prime ′ dagger † degree °
        ldots … dots … dotsc … cdots ⋯ dotsb ⋯ vdots ⋮ | ‖ Vert ‖ lVert ‖ rVert ‖ vert | lvert | rvert |
        % % $ $ # # & & _ _ colon : backslash \
    """),
    Kind.PREFIX: _pairs("partial ∂ nabla ∇ forall ∀ exists ∃ neg ¬ lnot ¬"),
    Kind.BIG: _pairs("sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂"),
    Kind.RELATION: _pairs("""
        le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ cong ≅
        equiv ≡ propto ∝ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ to → rightarrow → leftarrow ←
        leftrightarrow ↔ gets ← mapsto ↦ longrightarrow ⟶ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹ iff ⟺
        mid | parallel ∥ perp ⊥ prec ≺ succ ≻ preceq ⪯ succeq ⪰ triangleq ≜ coloneqq ≔ models ⊨ vdash ⊢
    """),
    Kind.OPERATOR: _pairs("""
        times × cdot ⋅ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • odot ⊙ oplus ⊕ otimes ⊗ cup ∪ cap ∩ setminus ∖
        wedge ∧ land ∧ vee ∨ lor ∨
    """),
    Kind.OPEN: _pairs("{ { lbrace { lbrack [ langle ⟨ lfloor ⌊ lceil ⌈"),
    Kind.CLOSE: _pairs("} } rbrace } rbrack ] rangle ⟩ rfloor ⌋ rceil ⌉"),
    Kind.WORD: {
        name: name
        for name in _words("""
            log ln lg exp sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh max min sup inf lim arg det dim
            deg gcd ker Pr
        """)
    },
    Kind.SPACE: dict.fromkeys((",", ":", ";", ">", " ", "\n", "\t", "space", "enspace", "thinspace"), " "),
}

WIDE_SPACE = "\u2003"
SILENT = frozenset(
    _words("""
        ! middle limits nolimits displaystyle textstyle
        big Big bigg Bigg bigl bigr bigm Bigl Bigr Bigm biggl biggr biggm Biggl Biggr Biggm
    """)
)
MACROS = {name: (sign, kind) for kind, signs in _SIGNS.items() for name, sign in signs.items()} | {
    "quad": (WIDE_SPACE, Kind.PLAIN),
    "qquad": (WIDE_SPACE, Kind.PLAIN),
    "limsup": ("lim sup", Kind.WORD),
    "liminf": ("lim inf", Kind.WORD),
}
CHARACTERS = {
    **dict.fromkeys("([", Kind.OPEN),
    **dict.fromkeys(")]", Kind.CLOSE),
    **dict.fromkeys("=<>≤≥≠≈∈→∼", Kind.RELATION),
    **dict.fromkeys("×⋅±", Kind.OPERATOR),
    **dict.fromkeys("∑∏∫", Kind.BIG),
    **dict.fromkeys("∂∇", Kind.PREFIX),
}

UPRIGHT = frozenset({"text", "textrm", "textit", "textbf", "textnormal", "mathrm", "mbox", "operatorname"})
ALPHABETS = {  # macro → how Unicode calls the alphabet
    "mathbf": "BOLD",
    "boldsymbol": "BOLD",
    "bm": "BOLD",
    "mathbb": "DOUBLE-STRUCK",
    "mathcal": "SCRIPT",
    "mathscr": "SCRIPT",
    "mathfrak": "FRAKTUR",
    "mathsf": "SANS-SERIF",
}
ACCENTS = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "bar": "\u0304",
    "overline": "\u0304",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "vec": "\u20d7",
    "dot": "\u0307",
    "ddot": "\u0308",
    "check": "\u030c",
    "breve": "\u0306",
}

SUBSCRIPTS = dict(zip("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
SUPERSCRIPTS = dict(
    zip(
        "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ⊤′†∘",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡᵀ′†°",
        strict=True,
    )
)

_LOW, _HIGH = ("".join(table.values()) for table in (SUBSCRIPTS, SUPERSCRIPTS))
_MARKS = "\u0300-\u036f\u20d7"
_LETTER = rf"[^\W\d_][{_MARKS}]*"
_LOWERED = rf"(?:\d+(?:\.\d+)?|{_LETTER})[{_LOW}]*(?:_[^\W_]+)?"  # may stand behind √
_FACTOR = re.compile(rf"√?{_LOWERED}|∂?{_LETTER}[{_LOW}{_HIGH}]*(?:_[^\W_]+)?|\d+[{_HIGH}]*|\([^()]*\)")
_PRODUCT = re.compile(rf"∂?[\w.{_MARKS}{_LOW}{_HIGH}]+(?:\([^()]*\))?|\([^()]*\)")
_WORD_END = re.compile(rf"[\w{_MARKS}]\Z")
_HAS_SCRIPT = re.compile(rf"[{_LOW}{_HIGH}]\Z|[_^]")
_OPEN_SCRIPT = re.compile(r"[_^][^_^()\s]+\Z")  # a letter behind it would seem part of it
_APART = frozenset({*"+-−,;:", WIDE_SPACE})  # what stands between terms


class RefusedError(Exception):
    """The formula has no text that says the same."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a formula as text."""

    text: str
    kind: Kind = Kind.PLAIN


def styled_letter(style: str, character: str) -> str:
    """The letter in another alphabet. A few stand where Unicode had them before, under shorter names."""
    if not character.isalnum():
        return character
    name = re.sub("^(LATIN|GREEK) ", "", unicodedata.name(character)).replace(" LETTER", "")
    older = {"FRAKTUR": "BLACK-LETTER"}.get(style, style)
    for full in (f"MATHEMATICAL {style} {name}", f"{older} {name}"):
        with contextlib.suppress(KeyError):
            return unicodedata.lookup(full)
    raise RefusedError


def as_product(text: str) -> str:
    """Text that stays together before a stroke or a power, in brackets if it needs them."""
    return text if _PRODUCT.fullmatch(text) else f"({text})"


def ratio(top: Sequence[Piece], bottom: Sequence[Piece]) -> Piece:
    """A fraction on one line; a denominator of more than one factor is in brackets."""
    over, under = joined(top), joined(bottom)
    if not over or not under:
        raise RefusedError
    is_one = _FACTOR.fullmatch(under) or (len(bottom) == 1 and under.isalpha())
    return Piece(f"{as_product(over)}/{under if is_one else f'({under})'}", Kind.RATIO)


def root(index: str, text: str) -> Piece:
    """A root; its index is "" for a square one."""
    if not text:
        raise RefusedError
    inner = text if re.fullmatch(_LOWERED, text) else f"({text})"
    if index in {"", "2", "3", "4"}:
        return Piece({"3": "∛", "4": "∜"}.get(index, "√") + inner, Kind.ROOT)
    small = _small(index, SUPERSCRIPTS)
    if small is None:
        raise RefusedError
    return Piece(f"{small}√{inner}", Kind.RATIO)  # behind a letter the index would be its power


def scripted(base: Piece, sub: str, sup: str) -> Piece:
    """The base with its scripts, small where each character has a small form."""
    if not sub and not sup:
        return base
    if not base.text.strip():
        raise RefusedError
    low, high = _small(sub, SUBSCRIPTS), _small(sup, SUPERSCRIPTS)
    if low is None and high is not None:
        scripts = high + _subscript(sub)  # the other way round, it would be the subscript's own
    elif low is None:
        scripts = f"_({sub})" + _superscript(sup)
    else:
        scripts = low + (_superscript(sup) if high is None else high)
    if base.kind in {Kind.RATIO, Kind.ROOT} or _HAS_SCRIPT.search(base.text):
        return Piece(f"({base.text}){scripts}")
    return replace(base, text=base.text + scripts)


def _small(script: str, table: dict[str, str]) -> str | None:
    small = "".join(table.get(character, " ") for character in script)
    return None if " " in small else small


def _subscript(text: str) -> str:
    is_name = all(unicodedata.category(character) in {"Lu", "Ll", "Lo", "Nd"} for character in text)
    return f"_{text}" if is_name else f"_({text})"


def _superscript(text: str) -> str:
    return f"^{text}" if len(text) == 1 else f"^({text})"


def joined(pieces: Iterable[Piece]) -> str:
    """Pieces as text, with the blanks and brackets that they need from each other."""
    shown, spaced = [Piece("", Kind.OPEN)], [False]
    for piece in pieces:
        if piece.kind is Kind.SPACE:
            spaced[-1] = spaced[-1] or bool(piece.text)
        elif piece.text:
            shown.append(piece)
            spaced.append(False)
    shown.append(Piece("", Kind.CLOSE))
    whole = [_settled(*three) for three in zip(shown, shown[1:], shown[2:], strict=False)]
    gaps = [_gap(left, right, space=space) for (left, right), space in zip(pairwise(whole), spaced[1:], strict=False)]
    return "".join(text for piece, gap in zip(whole, [*gaps, ""], strict=False) for text in (piece.text, gap))


def _settled(before: Piece, piece: Piece, after: Piece) -> Piece:
    """The piece as it is between these two: a sign without two sides is no operator, a factor needs brackets."""
    free_before = before.kind in {Kind.OPEN, Kind.RELATION, Kind.OPERATOR} or before.text in _APART
    free_after = after.kind in {Kind.CLOSE, Kind.RELATION, Kind.OPERATOR} or after.text in _APART | {"."}
    match piece.kind:
        case Kind.OPERATOR if free_before or free_after or "|" in {before.text, after.text}:
            return replace(piece, kind=Kind.PLAIN)
        case Kind.RATIO if before.text[-1:].isdecimal() and piece.text.replace("/", "").isdecimal():
            raise RefusedError  # one and a half, or once a half
        case Kind.RATIO if not (free_before and free_after):
            return Piece(f"({piece.text})")
        case Kind.ROOT if not free_after or before.text[-1:] in set(_HIGH):  # a power would be its index
            return Piece(f"({piece.text})")
        case _:
            return piece


def _gap(left: Piece, right: Piece, *, space: bool) -> str:
    if left.kind in {Kind.OPEN, Kind.PREFIX} or right.kind is Kind.CLOSE or right.text in {",", ";"}:
        return ""
    if {left.kind, right.kind} & {Kind.RELATION, Kind.OPERATOR}:
        return "" if left.kind is right.kind else " "
    if left.kind is Kind.WORD and right.kind is Kind.OPEN:
        return ""
    is_before_word = right.text[0].isalnum() or right.kind in {Kind.BIG, Kind.PREFIX, Kind.ROOT}
    runs_on = left.kind in {Kind.WORD, Kind.BIG} or _OPEN_SCRIPT.search(left.text)
    if is_before_word and runs_on and not (left.kind is Kind.BIG and right.kind is Kind.BIG):
        return " "
    if right.kind is Kind.WORD and right.text[0].isalnum() and _WORD_END.search(left.text):
        return " "
    return " " if space else ""
