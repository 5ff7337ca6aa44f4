"""Short messages without a card around them."""

import hashlib
import json
from datetime import datetime

from sqlalchemy import select

from bot.domain.ladder import Rung
from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import cards


def save(tx: Transaction, text: str, now: datetime) -> int:
    """Store a text message as what a delivery may carry. A text is kept once, whoever gets it.

    In a text message `<at …>` would call people: whatever may be somebody else's word loses its brackets.
    """
    body = json.dumps({"text": text.replace("<", "＜").replace(">", "＞")}, ensure_ascii=False)
    key = f"text:{hashlib.sha256(body.encode()).hexdigest()}"
    new = insert(tx, cards).values(key=key, body=body, part=1, parts=1, rung=Rung.TEXT, created_at=now)
    tx.execute(new.on_conflict_do_nothing(index_elements=["key"]))
    return int(tx.execute(select(cards.c.id).where(cards.c.key == key)).scalar_one())
