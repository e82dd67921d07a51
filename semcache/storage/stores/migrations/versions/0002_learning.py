"""What is learned: the label log, saved states, comparisons to be judged, and which entries share an answer."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add a column to the entries, and three tables."""
    op.add_column("entries", sa.Column("answer", BIG, nullable=False, server_default="0"))
    op.create_table(
        "labels",
        sa.Column("seq", BIG, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("answer", BIG, nullable=False),
        sa.Column("exact", sa.LargeBinary, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("features", sa.LargeBinary, nullable=False),
        sa.Column("p_correct", sa.Double, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("served", sa.Boolean, nullable=False),
        sa.Column("chance", sa.Double, nullable=False),
        sa.Column("entry_id", BIG, nullable=False),
        sa.Column("correct", sa.Boolean, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "learned",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("seq", BIG, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "judgements",
        sa.Column("id", BIG, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("answer", BIG, nullable=False),
        sa.Column("exact", sa.LargeBinary, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("features", sa.LargeBinary, nullable=False),
        sa.Column("p_correct", sa.Double, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("served", sa.Boolean, nullable=False),
        sa.Column("chance", sa.Double, nullable=False),
        sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), nullable=False),
        sa.Column("fresh_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("free_at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("judgements_entry", "judgements", ["entry_id"])
    op.create_index("judgements_fresh", "judgements", ["fresh_id"])
    op.create_index("judgements_free", "judgements", ["free_at"])
