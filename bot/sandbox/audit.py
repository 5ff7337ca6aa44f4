"""The tenant's audit of what is sent: sensitive words (230022) and plain contact data (230028). Off until switched on.

Source: feishu-platform notes 2.7. What the platform looks for is not documented; here it is the given words, mobile
numbers of the mainland and e-mail addresses, in every language of the visible text. Addresses of links are not visible.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from bot.sandbox.gateway import RefusalError
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import Audit, World

_NAME = "audit"
_SHOWN = {"content", "text", "title", "display_name"}
_WHOLLY_SHOWN = {"i18n_content", "rows"}
_HIDDEN = {"behaviors", "value", "chart_spec"}
_TARGETS_AND_TAGS = re.compile(r"\]\([^)]*\)|<[^>]*>")
_PHONE = re.compile(r"(?<![\w.])(?:\+?86[- ]?)?1[3-9]\d{9}(?!\w)", re.ASCII)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)


def audit_of(world: World, settings: SandboxSettings) -> Audit:
    """What was switched last, else what the settings say."""
    return world.audits.get(_NAME) or Audit(_NAME, settings.audit_words, settings.audit_leaks)


def switch_audit(world: World, words: tuple[str, ...], *, leaks: bool) -> None:
    world.put(Audit(_NAME, tuple(word for word in words if word), leaks))


def check_audit(audit: Audit, content: str) -> None:
    """`content`: the JSON of a message, already known to be well formed."""
    if not audit.words and not audit.leaks:
        return
    shown = "\n".join(_TARGETS_AND_TAGS.sub(" ", text) for text in _texts(msgspec.json.decode(content)))
    if any(word in shown for word in audit.words):
        raise RefusalError(230022, "The content of the message contains sensitive information.")
    if audit.leaks and (_PHONE.search(shown) or _EMAIL.search(shown)):
        raise RefusalError(230028, "The message is not audited by DLP.")


def _texts(value: Any, *, shown: bool = False, wholly: bool = False) -> Iterator[str]:
    if isinstance(value, str) and shown:
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, shown=shown, wholly=wholly)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in _HIDDEN:
                below = wholly or key in _WHOLLY_SHOWN
                yield from _texts(one, shown=below or key in _SHOWN, wholly=below)
