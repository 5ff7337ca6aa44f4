"""Tables and their unique keys. Instants are UTC epoch milliseconds: both databases agree on integers.

Every unique key below is a promise of the product; the reason stands beside it.
"""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
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
    false,
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

# Words of machines are compared byte by byte, as SQLite does: the order of a language is slow, and no help to LIKE.
Word = Text().with_variant(Text(collation="C"), "postgresql")


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


def id_column() -> Column[int]:
    """A row's own number, which the database gives."""
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def partial_index(name: str, *columns: str, where: str) -> Index:
    """An index of the rows that are still at work. A statement is helped by it only if it says `where` literally."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


subscribers = Table(
    "subscribers",
    metadata,
    id_column(),
    Column("kind", Word, nullable=False),
    Column("receiver", Word, nullable=False),
    Column("name", Text, nullable=False, server_default=""),
    Column("added_by", Text),  # who brought the bot into the group: may decide for it
    Column("secret", Text),  # what a webhook's messages are signed with
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("kind", "receiver"),  # one person or group is one subscriber, however it came in
)

subscriptions = Table(
    "subscriptions",
    metadata,
    id_column(),
    Column("subscriber_id", ForeignKey("subscribers.id", ondelete="CASCADE"), nullable=False),
    Column("series", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("sections", SectionNames, nullable=False),
    Column("density", Text, nullable=False),
    Column("slot", Text),  # HH:MM on the wall of `zone`; none: with the push
    Column("zone", Text),  # none: the series' own
    Column("workdays", Boolean, nullable=False, server_default=false()),
    Column("paused_until", Date),  # the day on which it comes again; none: the pause is not the subscriber's own
    Column("set_by", Text),  # who set it up for a group, or added a webhook; none: an operator did
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("subscriber_id", "series"),  # subscribing twice is subscribing once
    Index(None, "series", "status"),
)

editions = Table(
    "editions",
    metadata,
    id_column(),
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
    id_column(),
    # one rendering per content and selection, shared by its receivers; looked up by its beginning too
    Column("key", Word, nullable=False, unique=True),
    Column("body", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("rung", Integer, nullable=False, server_default="0"),  # of the fallback ladder
    Column("sections", SectionNames),  # of the selection; none: not of an edition, or older than this column
    Column("of_card", BigInteger),  # the card that was refused, and for which this one stands
    Column("proven_at", Instant),  # when the platform first took it; until then it goes to one receiver at a time
    partial_index("ix_cards_unproven", "id", where="proven_at IS NULL"),
)

pushes = Table(
    "pushes",
    metadata,
    id_column(),
    Column("edition_id", ForeignKey("editions.id"), nullable=False),
    Column("key", Text, nullable=False, unique=True),  # one fan-out per edition; a resend is a new key
    Column("created_at", Instant, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    id_column(),
    Column("key", Word, nullable=False, unique=True),  # push + receiver + part: planned twice is planned once
    Column("uuid", Word, nullable=False, unique=True),  # the platform's idempotency key, the same on every attempt
    Column("push_id", ForeignKey("pushes.id")),  # none for answers to a person
    Column("card_id", ForeignKey("cards.id"), nullable=False),
    Column("kind", Word, nullable=False),
    Column("receiver", Word, nullable=False),
    Column("part", Integer, nullable=False),
    Column("lane", Word, nullable=False, server_default="single"),  # one by one, or many people in one call
    Column("status", Word, nullable=False),
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
    # The last columns spare a look at the row: a whole push may have to be passed over, unproven or stopped.
    partial_index("ix_deliveries_due", "lane", "not_before", "id", "card_id", "push_id", where="status = 'pending'"),
    partial_index(
        "ix_deliveries_answers", "lane", "not_before", "id", "card_id", where="status = 'pending' AND push_id IS NULL"
    ),
    # who is to prove a card
    partial_index("ix_deliveries_waiting", "card_id", "not_before", "id", "push_id", where="status = 'pending'"),
    partial_index("ix_deliveries_leased", "lease_until", where="status = 'sending'"),
    # a receiver's messages go one after the other, in the order of their ids
    partial_index("ix_deliveries_open", "kind", "receiver", "id", where="status IN ('pending', 'sending')"),
    Index("ix_deliveries_push", "push_id", "status"),
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
    id_column(),
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

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),  # one owner at a time for each kind of work
    Column("owner", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),  # grows with every new owner, so that an old one is known as such
    Column("until", Instant, nullable=False),
)

pictures = Table(
    "pictures",
    metadata,
    id_column(),
    Column("app_id", Text, nullable=False),
    Column("source_hash", Text, nullable=False),  # sha256 of the source's name: addresses may hold secrets
    Column("content_hash", Text, nullable=False),  # sha256 of the uploaded bytes
    Column("image_key", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("fetched_at", Instant, nullable=False),
    UniqueConstraint("app_id", "source_hash"),  # a source is one picture at a time; an app sees only its own keys
    Index(None, "app_id", "content_hash"),  # the same bytes are uploaded once
)

calls = Table(
    "calls",
    metadata,
    Column("month", Word, primary_key=True),  # YYYY-MM in China, where the platform counts
    Column("kind", Word, primary_key=True),
    Column("calls", BigInteger, nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    Column("key", Word, primary_key=True),  # cause and hour: nobody is told twice
    Column("at", Instant, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    Column("message_id", Word, primary_key=True),  # bm-…, in the ledger too
    Column("push_id", ForeignKey("pushes.id")),
    Column("people", Integer, nullable=False),
    Column("valid", Integer),
    Column("success", Integer),
    Column("read", Integer),
    Column("sent_at", Instant, nullable=False),
    Column("asked_at", Instant, index=True),  # none: not yet; its last answer is final once everybody valid has got it
)
