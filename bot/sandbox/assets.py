"""The sandbox's templates, style sheet and script, wherever the package was installed from."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup


def template_folder() -> Traversable:
    """`bot/_templates` in an installed wheel, the sibling `templates/` in a checkout."""
    package = files("bot")
    packed = package / "_templates"
    return packed if packed.is_dir() else package / ".." / "templates"


@cache
def asset(name: str) -> str:
    """The text of one of the sandbox's own files, read once."""
    return (template_folder() / "sandbox" / name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Autoescaping templates; a misspelt name raises instead of showing nothing."""
    return Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(values)


def stylesheet() -> Markup:
    """The one style sheet, to be put inside a `<style>` element."""
    return Markup(asset("card.css"))  # noqa: S704 - our own file, nothing of a card is in it
