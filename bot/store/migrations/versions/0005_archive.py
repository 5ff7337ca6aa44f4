"""a place for old deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORD = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "deliveries_archive",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", WORD, nullable=False),
        sa.Column("push_id", sa.BigInteger()),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("receiver", WORD, nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False),
        sa.Column("lane", WORD, nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("code", sa.BigInteger()),
        sa.Column("reason", sa.Text()),
        sa.Column("message_id", sa.Text()),
        sa.Column("sent_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries_archive")),
        sa.UniqueConstraint("key", name=op.f("uq_deliveries_archive_key")),
    )
    op.create_index("ix_deliveries_archive_push", "deliveries_archive", ["push_id", "status"])
