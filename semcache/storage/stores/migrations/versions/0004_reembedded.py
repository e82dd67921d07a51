"""Vectors of an embedder that entries are being moved to."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add a table."""
    op.create_table(
        "reembedded",
        sa.Column(
            "entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        sa.Column("embedder_id", sa.String, primary_key=True),
        sa.Column("shelf", sa.LargeBinary, nullable=False),
        sa.Column("dim", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
