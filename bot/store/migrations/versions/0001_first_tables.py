"""first tables."""

# The way back is the backup taken before the upgrade: there are no downgrades.

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORD = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

POSTGRES_ONLY = (
    # What is finished leaves dead entries at the front of the queue: they go once a hundredth of the table has changed,
    # not a fifth. (Room on the page would not help: every step of a delivery changes an index.)
    "ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02)",
    # The rate rows are rewritten in place, which does need room on their page.
    "ALTER TABLE pace SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)",
    # A third of the time of a fan-out went into asking for the same push and card a hundred thousand times. Both ids
    # come from rows of the same transaction, and neither table ever loses a row.
    "ALTER TABLE deliveries DROP CONSTRAINT fk_deliveries_card_id",
    "ALTER TABLE deliveries DROP CONSTRAINT fk_deliveries_push_id",
)


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_table(
        "cards",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", WORD, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("parts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("proven_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cards")),
        sa.UniqueConstraint("key", name=op.f("uq_cards_key")),
    )
    _create_partial_index("ix_cards_unproven", "cards", ["id"], "proven_at IS NULL")

    op.create_table(
        "editions",
        sa.Column("id", ID, nullable=False),
        sa.Column("series", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("day_end", sa.Date(), nullable=True),
        sa.Column("label", sa.Text(), server_default="", nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("digest", sa.JSON(), nullable=False),
        sa.Column("source_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_editions")),
        sa.UniqueConstraint("series", "day", "label", name=op.f("uq_editions_series_day_label")),
        sa.UniqueConstraint("series", "slug", name=op.f("uq_editions_series_slug")),
    )
    op.create_table(
        "inbox",
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_inbox")),
    )
    op.create_index(op.f("ix_inbox_received_at"), "inbox", ["received_at"], unique=False)

    op.create_table(
        "pace",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("tat_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_pace")),
    )
    op.create_table(
        "pauses",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("code", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_pauses")),
    )
    op.create_table(
        "subscribers",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("receiver", WORD, nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("added_by", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscribers")),
        sa.UniqueConstraint("kind", "receiver", name=op.f("uq_subscribers_kind_receiver")),
    )
    op.create_table(
        "pushes",
        sa.Column("id", ID, nullable=False),
        sa.Column("edition_id", ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["edition_id"], ["editions.id"], name=op.f("fk_pushes_edition_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pushes")),
        sa.UniqueConstraint("key", name=op.f("uq_pushes_key")),
    )
    op.create_table(
        "subscriptions",
        sa.Column("id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("series", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("sections", sa.Text(), nullable=False),
        sa.Column("density", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_subscriptions_subscriber_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
        sa.UniqueConstraint("subscriber_id", "series", name=op.f("uq_subscriptions_subscriber_id_series")),
    )
    op.create_index(op.f("ix_subscriptions_series_status"), "subscriptions", ["series", "status"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", WORD, nullable=False),
        sa.Column("uuid", WORD, nullable=False),
        sa.Column("push_id", ID, nullable=True),
        sa.Column("card_id", ID, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("receiver", WORD, nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("maybe_sent_at", sa.BigInteger(), nullable=True),
        sa.Column("code", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["card_id"], ["cards.id"], name=op.f("fk_deliveries_card_id")),
        sa.ForeignKeyConstraint(["push_id"], ["pushes.id"], name=op.f("fk_deliveries_push_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("key", name=op.f("uq_deliveries_key")),
        sa.UniqueConstraint("uuid", name=op.f("uq_deliveries_uuid")),
    )
    op.create_index("ix_deliveries_card", "deliveries", ["card_id", "status", "id"], unique=False)
    _create_partial_index("ix_deliveries_due", "deliveries", ["not_before", "id"], "status = 'pending'")
    _create_partial_index("ix_deliveries_leased", "deliveries", ["lease_until"], "status = 'sending'")
    _create_partial_index(
        "ix_deliveries_open", "deliveries", ["kind", "receiver", "id"], "status IN ('pending', 'sending')"
    )
    op.create_index("ix_deliveries_push", "deliveries", ["push_id", "status"], unique=False)
    if op.get_bind().dialect.name == "postgresql":
        for statement in POSTGRES_ONLY:
            op.execute(statement)


def _create_partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, unique=False, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
