"""What an editor does with one edition beside sending it: look, hold it back, let it go, see how it would come."""

from datetime import datetime
from typing import Any

from bot.cards.render import Card
from bot.domain.audience import Density, Receiver, Selection
from bot.domain.errors import UsageError
from bot.services.manage import edition_named
from bot.services.rendering import Renderer
from bot.store import audit, changes, edition_states, editions, ledger, outbox
from bot.store.editions import Edition, State
from bot.store.engine import Store, Transaction
from bot.store.resends import PREVIEW


def show(store: Store, name: str) -> dict[str, Any]:
    """One edition with its items, its pushes, and the changes that were made of it: the shape of `edition show`."""
    edition = edition_named(store, name)
    digest = edition.digest
    return {
        "edition": edition.name,
        "title": digest.title,
        "day": digest.day,
        "day_end": digest.day_end,
        "label": digest.label,
        "state": edition.state,
        "revision": edition.revision,
        "published_at": edition.published_at,
        "sections": [
            {"name": one.name, "items": [{"key": item.key, "title": item.title, "url": item.url} for item in one.items]}
            for one in digest.sections
        ],
        "pushes": store.read_now(_pushes, edition),
        "changes": store.read_now(_changes, edition),
    }


def hold(store: Store, name: str, now: datetime, actor: str) -> bool:
    """Let nobody get an edition any more. False if it is held already."""
    return store.write_now(_hold, edition_named(store, name), now, actor)


def release(store: Store, name: str, now: datetime, actor: str) -> State:
    """Let a held edition go on. Returns its state. Raises UsageError if it is not held."""
    return store.write_now(_release, edition_named(store, name), now, actor)


def cards(store: Store, renderer: Renderer, name: str, density: str) -> tuple[Card, ...]:
    """A stored edition as a reader of all its sections would get it."""
    edition = edition_named(store, name)
    pictures = store.read_now(renderer.known_pictures, edition.digest)
    return renderer.cards(edition, Selection(density=Density(density)), pictures)


def preview_to(
    store: Store, renderer: Renderer, name: str, density: str, receiver: Receiver, now: datetime, actor: str
) -> int:
    """Send an edition to one receiver, who is not served by it. Returns how many messages."""
    return store.write_now(_preview, renderer, edition_named(store, name), density, receiver, now, actor)


def _preview(
    tx: Transaction, renderer: Renderer, edition: Edition, density: str, receiver: Receiver, now: datetime, actor: str
) -> int:
    selection = Selection(density=Density(density), audience=receiver.kind)
    ids = renderer.cards_of(tx, edition, selection, now)
    key = f"{PREVIEW}{edition.id}:{receiver.kind}:{receiver.id}:{now:%Y%m%d%H%M%S%f}"
    for part, card in enumerate(ids, 1):
        outbox.enqueue(tx, f"{key}:{part}", receiver, card, now, part=part)
    audit.append(tx, now, actor, "preview", edition.name, after={"messages": len(ids)})
    return len(ids)


def _hold(tx: Transaction, edition: Edition, now: datetime, actor: str) -> bool:
    done = edition_states.hold(tx, edition_states.locked(tx, edition), now)
    if done:
        audit.append(tx, now, actor, "hold", edition.name, before={"state": edition.state})
    return done


def _release(tx: Transaction, edition: Edition, now: datetime, actor: str) -> State:
    state = edition_states.release(tx, edition_states.locked(tx, edition), State.READY, now)
    if state is None:
        raise UsageError(f"{edition.name} is not held; it is {edition.state}")
    audit.append(tx, now, actor, "release", edition.name, after={"state": state})
    return state


def _pushes(tx: Transaction, edition: Edition) -> list[dict[str, Any]]:
    found = editions.push_ids(tx, edition)
    return [
        {"push": one, "receivers": ledger.receivers(tx, one), "messages": dict(ledger.counts(tx, one))} for one in found
    ]


def _changes(tx: Transaction, edition: Edition) -> list[dict[str, Any]]:
    return [
        {
            "kind": purpose.partition(":")[0],
            "messages": dict(changes.counts(tx, purpose)),
            "misses": changes.misses(tx, purpose),
        }
        for purpose in changes.purposes(tx, edition.id)
    ]
