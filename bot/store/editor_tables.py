"""Tables of editors' work: what was decided, told, and changed after it was sent."""

from sqlalchemy import JSON, BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, Text

from bot.store.tables import Instant, Word, id_column, metadata, partial_index

edition_revisions = Table(
    "edition_revisions",
    metadata,
    Column("edition_id", ForeignKey("editions.id"), primary_key=True),
    Column("revision", Integer, primary_key=True),  # what was sent can be compared with what is there now
    Column("digest", JSON, nullable=False),
    Column("created_at", Instant, nullable=False),
)

reviews = Table(
    "reviews",
    metadata,
    Column("edition_id", ForeignKey("editions.id"), primary_key=True),
    Column("revision", Integer, primary_key=True),  # a later revision needs a decision of its own
    Column("answers", JSON, nullable=False),  # how its links answered
    Column("round", Integer, nullable=False),  # how often admins were asked
    Column("remind_at", Instant),  # none: nobody asked for more time
    Column("decision", Text),
    Column("decided_by", Text),
    Column("decided_at", Instant),
    Column("shown_at", Instant),  # when the admins' cards were changed to say so
)

receipts = Table(
    "receipts",
    metadata,
    Column("push_id", ForeignKey("pushes.id"), primary_key=True),  # admins are told of a push on one card each
    Column("shown", Word, nullable=False),  # hash of what that card shows
    Column("shown_at", Instant, nullable=False),
    Column("number", Integer, nullable=False),  # how often it was changed
    Column("is_final", Boolean, nullable=False),  # shown with nothing left to come
    Column("read", Integer),  # none: not asked yet, or not to be asked
)

# The second outbox: changes of messages that were sent. The same states and leases; a repeat does no harm.
changes = Table(
    "changes",
    metadata,
    id_column(),
    Column("key", Word, nullable=False, unique=True),  # planned twice is planned once
    Column("purpose", Word, nullable=False),  # what belongs together: one correction, one recall
    Column("kind", Word, nullable=False),  # patch, recall, or recall of a whole batch
    Column("delivery_id", BigInteger, nullable=False),  # whose message it is; a row of the ledger may be put away later
    Column("card_id", BigInteger),  # what takes the message's place
    Column("status", Word, nullable=False),
    Column("not_before", Instant, nullable=False),
    Column("lease_until", Instant),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("started_at", Instant),
    Column("maybe_sent_at", Instant),
    Column("code", BigInteger),
    Column("reason", Text),
    Column("created_at", Instant, nullable=False),
    Column("done_at", Instant),
    Index("ix_changes_purpose", "purpose", "status"),
    partial_index("ix_changes_due", "not_before", "id", where="status = 'pending'"),
    partial_index("ix_changes_leased", "lease_until", where="status = 'sending'"),
    # a message's changes go one after the other
    partial_index("ix_changes_open", "delivery_id", "id", where="status IN ('pending', 'sending')"),
)
