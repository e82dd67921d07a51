"""The user that a key is bound to."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.add_column("api_keys", sa.Column("user_id", sa.String))
