"""Templates of the pages that people open: HTML, escaped, without a script."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

# Nothing from elsewhere, nobody's frame; an address that holds a key goes nowhere as a referrer and into no cache.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}


@cache
def _environment() -> Environment:
    """`bot/_templates` in an installed wheel, the sibling `templates/` in a checkout."""
    package = Path(str(files("bot")))
    packed = package / "_templates"
    folder = packed if packed.is_dir() else package.parent / "templates"
    loader = FileSystemLoader(folder / "web")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def page(template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """A page for one person's eyes."""
    return HTMLResponse(_environment().get_template(template).render(values), status_code=status, headers=HEADERS)
