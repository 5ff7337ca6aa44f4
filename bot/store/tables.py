"""Tables and their unique keys. Instants are UTC epoch milliseconds: both databases agree on integers.

Every unique key below is a promise of the product; the reason stands beside it.
"""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Date,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Instant(TypeDecorator[datetime]):
    """Aware datetime ↔ epoch milliseconds. A naive datetime is a bug and is refused."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("naive datetime")
        return round(value.timestamp() * 1000)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        del dialect
        return None if value is None else datetime.fromtimestamp(value / 1000, UTC)


class SectionNames(TypeDecorator[frozenset[str]]):
    """A set of section names ↔ sorted JSON text, so that equal sets are equal in SQL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: frozenset[str] | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else json.dumps(sorted(value), ensure_ascii=False)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> frozenset[str] | None:
        del dialect
        return None if value is None else frozenset(json.loads(value))


def _id() -> Column[int]:
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


subscribers = Table(
    "subscribers",
    metadata,
    _id(),
    Column("kind", Text, nullable=False),
    Column("receiver", Text, nullable=False),
    Column("name", Text, nullable=False, server_default=""),
    Column("added_by", Text),  # who brought the bot into the group: may decide for it
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("kind", "receiver"),  # one person or group is one subscriber, however it came in
)

subscriptions = Table(
    "subscriptions",
    metadata,
    _id(),
    Column("subscriber_id", ForeignKey("subscribers.id", ondelete="CASCADE"), nullable=False),
    Column("series", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("sections", SectionNames, nullable=False),
    Column("density", Text, nullable=False),
    Column("slot", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("subscriber_id", "series"),  # subscribing twice is subscribing once
    Index(None, "series", "status"),
)

editions = Table(
    "editions",
    metadata,
    _id(),
    Column("series", Text, nullable=False),
    Column("slug", Text, nullable=False),
    Column("day", Date, nullable=False),
    Column("day_end", Date),
    Column("label", Text, nullable=False, server_default=""),
    Column("title", Text),
    Column("state", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("digest", JSON, nullable=False),
    Column("source_hash", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("published_at", Instant),
    UniqueConstraint("series", "day", "label"),  # publishing the same digest again finds the same edition
    UniqueConstraint("series", "slug"),
)

cards = Table(
    "cards",
    metadata,
    _id(),
    Column(
        "key", Text, nullable=False, unique=True
    ),  # one rendering per content and selection, shared by its receivers
    Column("body", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("proven_at", Instant),  # when the platform first took it; until then it goes to one receiver at a time
    Index("ix_cards_unproven", "id", sqlite_where=text("proven_at IS NULL")),
)

pushes = Table(
    "pushes",
    metadata,
    _id(),
    Column("edition_id", ForeignKey("editions.id"), nullable=False),
    Column("key", Text, nullable=False, unique=True),  # one fan-out per edition; a resend is a new key
    Column("created_at", Instant, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    _id(),
    Column("key", Text, nullable=False, unique=True),  # push + receiver + part: planned twice is planned once
    Column("uuid", Text, nullable=False, unique=True),  # the platform's idempotency key, the same on every attempt
    Column("push_id", ForeignKey("pushes.id")),  # none for answers to a person
    Column("card_id", ForeignKey("cards.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("receiver", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("not_before", Instant, nullable=False),
    Column("lease_until", Instant),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("started_at", Instant),
    Column("maybe_sent_at", Instant),
    Column("code", BigInteger),
    Column("reason", Text),
    Column("message_id", Text),
    Column("sent_at", Instant),
    Column("created_at", Instant, nullable=False),
    Index("ix_deliveries_due", "not_before", "id", sqlite_where=text("status = 'pending'")),
    Index("ix_deliveries_leased", "lease_until", sqlite_where=text("status = 'sending'")),
    # a receiver's messages go one after the other, in the order of their ids
    Index("ix_deliveries_open", "kind", "receiver", "id", sqlite_where=text("status IN ('pending', 'sending')")),
    Index("ix_deliveries_push", "push_id", "status"),
    Index("ix_deliveries_card", "card_id", "status", "id"),  # who is to prove a card
)

inbox = Table(
    "inbox",
    metadata,
    Column("event_id", Text, primary_key=True),  # a redelivered event finds its first answer
    Column("answer", JSON, nullable=False),
    Column("received_at", Instant, nullable=False, index=True),
)

audit = Table(
    "audit",
    metadata,
    _id(),
    Column("at", Instant, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("before", JSON),
    Column("after", JSON),
)

pace = Table(
    "pace",
    metadata,
    Column("key", Text, primary_key=True),
    Column("tat_ms", BigInteger, nullable=False),  # theoretical arrival time of the next send
)

pauses = Table(
    "pauses",
    metadata,
    Column("name", Text, primary_key=True),
    Column("code", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("since", Instant, nullable=False),
    Column("until", Instant),  # none: until a human has acted
)
