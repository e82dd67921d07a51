"""The end of a key, from which on it is refused."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.add_column("api_keys", sa.Column("expires", sa.Double))
