"""Rows of a subscriber file: checked on their way in, complete on their way out."""

import re
from collections.abc import Collection, Mapping

from bot.domain.audience import Density, Kind, Receiver
from bot.domain.errors import UsageError
from bot.domain.webhooks import checked_address
from bot.store.subscribers import NewSubscription, Subscription

NEEDED = ("kind", "id", "series")
COLUMNS = (*NEEDED, "name", "sections", "density", "slot", "secret")
BETWEEN_SECTIONS = "|"

_KINDS = {str(one): one for one in Kind}
_DENSITIES = {str(one): one for one in Density}
_IDS = {Kind.USER: "ou_", Kind.GROUP: "oc_"}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SLOT = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
# What a spreadsheet would take for a formula goes out behind a quotation mark, and comes in without it.
_FORMULA = re.compile(r"'*[=+\-@]")


def read_row(cells: Mapping[str, str | None], series: Collection[str], base_url: str) -> NewSubscription:
    """A new subscription of the cells of a row, by column. Raises UsageError with the cell and the cure."""
    told = {name: _unguarded(cell.strip()) if (cell := cells.get(name)) else "" for name in COLUMNS}
    kind = _KINDS.get(told["kind"])
    if kind is None:
        raise UsageError(f"kind {told['kind']!r} is not one of {', '.join(_KINDS)}")
    receiver = Receiver(kind, _receiver_id(kind, told["id"], base_url))
    if told["series"] not in series:
        raise UsageError(f"there is no series {told['series']!r}; known: {', '.join(series) or 'none configured'}")
    density = _DENSITIES.get(told["density"] or Density.STANDARD)
    if density is None:
        raise UsageError(f"density {told['density']!r} is not one of {', '.join(_DENSITIES)}")
    if told["slot"] and not _SLOT.fullmatch(told["slot"]):
        raise UsageError(f"slot {told['slot']!r} is no time of day; write HH:MM, e.g. 08:05")
    if told["secret"] and kind is not Kind.WEBHOOK:
        raise UsageError(f"a {kind} has no secret; only a webhook's messages are signed")
    return NewSubscription(
        receiver,
        told["series"],
        " ".join(told["name"].split()),
        frozenset(one for name in told["sections"].split(BETWEEN_SECTIONS) if (one := name.strip())),
        density,
        told["slot"] or None,
        told["secret"],
    )


def write_row(subscription: Subscription, secret: str) -> dict[str, str]:
    """The cells of a subscription, by column: read again they say the same."""
    told = {
        "kind": subscription.receiver.kind,
        "id": subscription.receiver.id,
        "series": subscription.series,
        "name": subscription.name,
        "sections": BETWEEN_SECTIONS.join(sorted(subscription.selection.sections)),
        "density": subscription.selection.density,
        "slot": subscription.slot or "",
        "secret": secret,
    }
    return {name: _guarded(str(cell)) for name, cell in told.items()}


def _receiver_id(kind: Kind, text: str, base_url: str) -> str:
    if kind is Kind.WEBHOOK:
        try:
            return checked_address(text, base_url)
        except ValueError as exc:
            raise UsageError(f"id {exc}") from None  # the address itself is as good as a key: it is not repeated
    if not (text.startswith(_IDS[kind]) and _ID.fullmatch(text)):
        raise UsageError(f"id {text[:80]!r} is no {kind} id; it starts with {_IDS[kind]}")
    return text


def _guarded(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
