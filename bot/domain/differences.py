"""What has changed between two revisions of a digest, item by item."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.domain.digest import Digest, Item, plain

_CHARS = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """Names of items. `around`: something beside them, such as the title, the intro, or their order."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    around: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.around)


def difference(old: Digest, new: Digest) -> Difference:
    """Compare by key: an item whose key is another one was removed and added."""
    before, after = {one.key: one for one in old.items}, {one.key: one for one in new.items}
    return Difference(
        _names(one for key, one in after.items() if key not in before),
        _names(one for key, one in before.items() if key not in after),
        _names(one for key, one in after.items() if key in before and one != before[key]),
        _around(old) != _around(new),
    )


def _around(digest: Digest) -> tuple[object, ...]:
    """All but the items themselves: those that come or go change nothing around them."""
    sections = tuple(section.name for section in digest.sections)
    return (replace(digest, sections=()), sections)


def _names(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(_name(one) for one in items)


def _name(item: Item) -> str:
    text = " ".join((item.title or plain(item.blocks) or item.url or item.key).split())
    return text if len(text) <= _CHARS else text[: _CHARS - 1] + "…"
