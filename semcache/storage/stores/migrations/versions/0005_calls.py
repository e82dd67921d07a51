"""Calls and their tokens among what trimmed events had added up to."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add columns."""
    for name in ("calls", "spent_prompt_tokens", "spent_completion_tokens"):
        op.add_column("totals", sa.Column(name, BIG, nullable=False, server_default="0"))
