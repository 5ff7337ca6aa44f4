"""each lane finds its own due rows without passing over the other's, and answers to people before all pushes."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_deliveries_due", "deliveries")
    columns, pending = ["lane", "not_before", "id", "card_id", "push_id"], sa.text("status = 'pending'")
    op.create_index("ix_deliveries_due", "deliveries", columns, sqlite_where=pending, postgresql_where=pending)
    columns, answers = ["lane", "not_before", "id", "card_id"], sa.text("status = 'pending' AND push_id IS NULL")
    op.create_index("ix_deliveries_answers", "deliveries", columns, sqlite_where=answers, postgresql_where=answers)
