"""editors' work: revisions of editions, reviews, receipts, and changes of messages that were sent."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

WORD = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
OPEN = "status IN ('pending', 'sending')"


def upgrade() -> None:
    op.add_column("cards", sa.Column("sections", sa.Text()))
    op.create_table(
        "edition_revisions",
        sa.Column("edition_id", ID, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("digest", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["edition_id"], ["editions.id"], name=op.f("fk_edition_revisions_edition_id_editions")),
        sa.PrimaryKeyConstraint("edition_id", "revision", name=op.f("pk_edition_revisions")),
    )
    op.execute(
        "INSERT INTO edition_revisions (edition_id, revision, digest, created_at) "
        "SELECT id, revision, digest, updated_at FROM editions"
    )
    op.create_table(
        "reviews",
        sa.Column("edition_id", ID, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("remind_at", sa.BigInteger()),
        sa.Column("decision", sa.Text()),
        sa.Column("decided_by", sa.Text()),
        sa.Column("decided_at", sa.BigInteger()),
        sa.Column("shown_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["edition_id"], ["editions.id"], name=op.f("fk_reviews_edition_id_editions")),
        sa.PrimaryKeyConstraint("edition_id", "revision", name=op.f("pk_reviews")),
    )
    op.create_table(
        "receipts",
        sa.Column("push_id", ID, nullable=False),
        sa.Column("shown", WORD, nullable=False),
        sa.Column("shown_at", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("read", sa.Integer()),
        sa.ForeignKeyConstraint(["push_id"], ["pushes.id"], name=op.f("fk_receipts_push_id_pushes")),
        sa.PrimaryKeyConstraint("push_id", name=op.f("pk_receipts")),
    )
    _changes()


def _changes() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", WORD, nullable=False),
        sa.Column("purpose", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("delivery_id", sa.BigInteger(), nullable=False),
        sa.Column("card_id", sa.BigInteger()),
        sa.Column("status", WORD, nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("maybe_sent_at", sa.BigInteger()),
        sa.Column("code", sa.BigInteger()),
        sa.Column("reason", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_changes")),
        sa.UniqueConstraint("key", name=op.f("uq_changes_key")),
    )
    op.create_index("ix_changes_purpose", "changes", ["purpose", "status"])
    for name, columns, where in (
        ("ix_changes_due", ["not_before", "id"], "status = 'pending'"),
        ("ix_changes_leased", ["lease_until"], "status = 'sending'"),
        ("ix_changes_open", ["delivery_id", "id"], OPEN),
    ):
        op.create_index(name, "changes", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
