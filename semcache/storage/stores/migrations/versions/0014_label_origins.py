"""The origins of labels: the promise under which an audited hit was served, or the report that a label repeats."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    for table in ("labels", "judgements"):
        op.add_column(table, sa.Column("origin", sa.String))
