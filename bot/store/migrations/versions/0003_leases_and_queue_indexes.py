"""leases of work that one process does for all; indexes that let the queue pass over what has to wait."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

PENDING = sa.text("status = 'pending'")


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.drop_index("ix_deliveries_card", "deliveries")
    op.drop_index("ix_deliveries_due", "deliveries")
    for name, columns in (
        ("ix_deliveries_due", ["not_before", "id", "card_id", "push_id"]),
        ("ix_deliveries_waiting", ["card_id", "not_before", "id", "push_id"]),
    ):
        op.create_index(name, "deliveries", columns, sqlite_where=PENDING, postgresql_where=PENDING)
