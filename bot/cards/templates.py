"""Card templates: where they are, and how a view becomes a card.

JSON by construction: every printed value that is not a macro's output is JSON-encoded, so a template writes
`"content": {{ item.title }}` without quotes, and no value can leave its string. The filter `md` escapes plain text for
markdown.
"""

import json
from importlib.resources import files
from pathlib import Path

from jinja2 import ChoiceLoader, FileSystemLoader, StrictUndefined, Template, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from bot.cards.render import Card, card
from bot.cards.text import escape
from bot.domain.errors import BotError


def template_folder() -> Path:
    """The folder of all our templates: inside an installed wheel, else beside `bot/` in a checkout."""
    package = Path(str(files("bot")))
    for folder in (package / "_templates", package.parent / "templates"):
        if folder.is_dir():
            return folder
    raise BotError(f"no templates beside {package}; install the package again")


class CardTemplates:
    """All card templates, loaded and compiled once; afterwards no file is read."""

    def __init__(self, override: Path | None = None) -> None:
        """`override`: an operator's folder; a file of the same name there (or in its `cards/`) comes first."""
        folders = [FileSystemLoader(template_folder() / "cards")]
        if override is not None:
            folders.insert(0, FileSystemLoader([override / "cards", override]))
        self._environment = ImmutableSandboxedEnvironment(
            loader=ChoiceLoader(folders),
            autoescape=True,
            finalize=_json,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["md"] = escape
        for name in folders[-1].list_templates():
            self._load(name)

    def render(self, name: str, view: object) -> Card:
        """The card that template `name` makes of `view`.

        Raises: BotError naming the template if it fails or does not produce JSON.
        """
        template = self._load(name)
        try:
            rendered = template.render(view=view)
        except (TemplateError, TypeError, ValueError) as error:
            raise _broken(name, error) from error
        return card(name, rendered)

    def _load(self, name: str) -> Template:
        try:
            return self._environment.get_template(name)
        except (TemplateError, OSError, UnicodeDecodeError) as error:
            raise _broken(name, error) from error


def _json(value: object) -> Markup:
    """A value as JSON text. ASCII only, so that two halves of a surrogate pair become one character again."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, Undefined):
        str(value)  # raises, naming what is missing
    return Markup(json.dumps(value, allow_nan=False))  # noqa: S704 - JSON text, not HTML


def _broken(name: str, error: Exception) -> BotError:
    reason = " ".join(str(error).split())
    return BotError(f"card template {name} failed ({reason}); correct or remove it")
