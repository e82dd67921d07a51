"""The users who asked for an entry, as a quorum counts them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.add_column("entries", sa.Column("askers", sa.LargeBinary))
