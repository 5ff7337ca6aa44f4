"""The fallback ladder: in which other form a refused card may still arrive."""

from enum import IntEnum


class Rung(IntEnum):
    """Forms of one content, each different in kind from the one before; all hold the same text."""

    CARD = 0  # as designed
    LIGHT = 1  # a card of text, links and buttons only
    POST = 2  # a rich text message
    TEXT = 3  # a text message with bare addresses

    @property
    def label(self) -> str:
        """Its name in the ledger."""
        return self.name.lower()


def below(rung: Rung, least: Rung | None) -> tuple[Rung, ...]:
    """The forms to try after `rung` was refused, in order. `least`: the first with a chance; None: none has."""
    return () if least is None else tuple(one for one in Rung if one > rung and one >= least)
