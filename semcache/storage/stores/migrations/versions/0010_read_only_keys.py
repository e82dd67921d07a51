"""Keys that change nothing, and labels that are found by their entries."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.add_column("api_keys", sa.Column("read_only", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index("labels_entry", "labels", ["entry_id"])
