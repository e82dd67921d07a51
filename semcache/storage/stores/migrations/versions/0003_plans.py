"""Plan templates of agents."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add a table."""
    op.create_table(
        "plans",
        sa.Column("id", BIG, primary_key=True, autoincrement=False),
        sa.Column("seq", BIG, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("seal_key", sa.String),
        sa.Column("embedder_id", sa.String, nullable=False),
        sa.Column("vectors", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("plans_seq", "plans", ["seq"], unique=True)
    op.create_index("plans_expires", "plans", ["expires"])
