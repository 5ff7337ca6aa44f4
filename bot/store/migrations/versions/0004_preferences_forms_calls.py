"""preferences of a subscription, forms of a card, lanes of delivery, calls of a month, what people were told."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORD = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("subscribers", sa.Column("secret", sa.Text()))
    op.add_column("subscriptions", sa.Column("zone", sa.Text()))
    op.add_column("subscriptions", sa.Column("workdays", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("subscriptions", sa.Column("paused_until", sa.Date()))
    op.add_column("subscriptions", sa.Column("set_by", sa.Text()))
    op.add_column("cards", sa.Column("rung", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("cards", sa.Column("of_card", sa.BigInteger()))
    op.add_column("deliveries", sa.Column("lane", WORD, nullable=False, server_default="single"))
    op.create_table(
        "calls",
        sa.Column("month", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("month", "kind", name=op.f("pk_calls")),
    )
    op.create_table(
        "alerts",
        sa.Column("key", WORD, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_alerts")),
    )
    op.create_table(
        "batches",
        sa.Column("message_id", WORD, nullable=False),
        sa.Column("push_id", ID),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Integer()),
        sa.Column("success", sa.Integer()),
        sa.Column("read", sa.Integer()),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["push_id"], ["pushes.id"], name=op.f("fk_batches_push_id_pushes")),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_batches")),
    )
    op.create_index(op.f("ix_batches_asked_at"), "batches", ["asked_at"])
