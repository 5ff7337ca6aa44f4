"""Card templates: where they are, and how a view becomes a card.

JSON by construction: every printed value that is not a macro's output is JSON-encoded, so a template writes
`"content": {{ item.title }}` without quotes, and no value can leave its string. The filter `md` escapes plain text for
markdown.
"""

import json
import logging
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, FileSystemLoader, StrictUndefined, Template, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from bot.cards.render import Card, card
from bot.cards.text import escape
from bot.domain.errors import BotError

log = logging.getLogger(__name__)

LONGEST_LOOP = 200  # of `range` in a template; a card has fewer elements
_LONGEST = 500_000  # characters of a rendering: far more than any card may have, far less than would hurt


class BrokenTemplateError(BotError):
    """A template that makes no card. `file` and `line`: where to look; `line` None where that is not known."""

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        self.file, self.line, self.reason = file, line, " ".join(reason.split())
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"card template {place} failed ({self.reason}); correct or remove it")


def template_folder() -> Path:
    """The folder of all our templates: inside an installed wheel, else beside `bot/` in a checkout."""
    package = Path(str(files("bot")))
    for folder in (package / "_templates", package.parent / "templates"):
        if folder.is_dir():
            return folder
    raise BotError(f"no templates beside {package}; install the package again")


def own_loader() -> FileSystemLoader:
    """Where the built-in card templates come from."""
    return FileSystemLoader(template_folder() / "cards")


def environment(loader: BaseLoader) -> ImmutableSandboxedEnvironment:
    """How templates of cards are read: sandboxed, strict, and JSON by construction."""
    made = ImmutableSandboxedEnvironment(
        loader=loader,
        autoescape=True,
        finalize=_json,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["md"] = escape
    made.globals["range"] = _short_range
    return made


def rendered(template: Template, view: object) -> Card:
    """The card that a template makes of a view.

    Raises: BrokenTemplateError if it fails or does not produce one JSON object.
    """
    try:
        text = template.render(view=view)
    except (
        TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise BrokenTemplateError(*_place(error, template), str(error)) from error
    if len(text) > _LONGEST:
        raise BrokenTemplateError(_name(template), None, f"it writes {len(text):,} characters")
    try:
        return card(_name(template), text)
    except BotError as error:
        cause = error.__cause__
        if not isinstance(cause, json.JSONDecodeError):
            raise BrokenTemplateError(_name(template), None, "it does not produce a JSON object") from error
        line, near = _written_at(template, view, cause.pos), text[max(0, cause.pos - 30) : cause.pos + 20]
        raise BrokenTemplateError(_name(template), line, f"not JSON, {cause.msg}, near {near!r}") from error


class CardTemplates:
    """All card templates, loaded and compiled once; afterwards no file is read."""

    def __init__(self, override: Path | None = None) -> None:
        """`override`: an operator's folder; a sound file of the same name there (or in its `cards/`) comes first."""
        self._own: Mapping[str, Template] = _built_in()
        self._theirs: Mapping[str, Template] = {}
        self._told: set[str] = set()
        if override is not None:
            from bot.cards.overrides import approved  # tries every card, and every card knows its templates

            self._theirs = approved(override, tuple(self._own))

    @classmethod
    def of(cls, templates: Mapping[str, Template]) -> "CardTemplates":
        """Just these templates, with nothing to fall back to."""
        made = cls.__new__(cls)
        made._own, made._theirs, made._told = templates, {}, set()  # noqa: SLF001 - its own
        return made

    def render(self, name: str, view: object) -> Card:
        """The card that template `name` makes of `view`. An operator's template that fails gives way to ours.

        Raises: BrokenTemplateError if ours fails.
        """
        theirs = self._theirs.get(name)
        if theirs is not None:
            try:
                return rendered(theirs, view)
            except BrokenTemplateError as error:
                if name not in self._told:
                    self._told.add(name)
                    tell_broken(error)
        return rendered(self._own[name], view)


@cache
def _built_in() -> Mapping[str, Template]:
    """Ours, compiled once in a process: that takes longer than a hundred cards."""
    own = environment(own_loader())
    return {name: own.get_template(name) for name in own.list_templates()}


def tell_broken(error: BrokenTemplateError) -> None:
    """One line for the operator, who has to correct a file; the built-in template is used meanwhile."""
    log.error("template_broken", extra={"file": error.file, "line": error.line, "reason": error.reason})


def _json(value: object) -> Markup:
    """A value as JSON text. ASCII only, so that two halves of a surrogate pair become one character again."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, Undefined):
        str(value)  # raises, naming what is missing
    return Markup(json.dumps(value, allow_nan=False))  # noqa: S704 - JSON text, not HTML


def _short_range(*limits: int) -> range:
    """Loops that end. Whoever nests them or repeats long lists can still be slow: a template is its operator's."""
    made = range(*limits)
    if len(made) > LONGEST_LOOP:
        raise ValueError(f"a loop of {len(made):,} rounds; a card has room for {LONGEST_LOOP} at most")
    return made


def _name(template: Template) -> str:
    return str(template.filename or template.name)


def _place(error: BaseException, template: Template) -> tuple[str, int | None]:
    """The innermost line of a template in a traceback, which Jinja has written in lines of templates.

    An operator's line counts before one of ours, which is only as wrong as what it was given.
    """
    own, step = str(template_folder()), error.__traceback__
    places: list[tuple[str, int | None]] = [(_name(template), None)]
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file.endswith(".j2"):
            places.append((file, step.tb_lineno))
        step = step.tb_next
    return next((place for place in reversed(places[1:]) if not place[0].startswith(own)), places[-1])


def _written_at(template: Template, view: object, position: int) -> int | None:
    """The line of the template that wrote the character at `position` of its output."""
    made: Any = template
    source, _, _ = made.environment.loader.get_source(made.environment, made.name)
    pieces = made.root_render_func(made.new_context({"view": view}))
    for piece in pieces:
        line: int = made.get_corresponding_lineno(pieces.gi_frame.f_lineno)
        if position < len(piece):
            # Text stands in the source as it is, at or after the statement that Jinja remembers.
            start = len("".join(source.splitlines(keepends=True)[: line - 1]))
            found = source.find(piece, start)
            return line if found < 0 else 1 + source.count("\n", 0, found + position)
        position -= len(piece)
    return None
