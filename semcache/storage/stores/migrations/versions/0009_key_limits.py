"""The limits of a key."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.add_column("api_keys", sa.Column("requests_per_minute", sa.BigInteger))
    op.add_column("api_keys", sa.Column("tokens_per_minute", sa.BigInteger))
    op.add_column("api_keys", sa.Column("dollars_per_day", sa.Double))
