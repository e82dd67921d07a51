"""Comparisons that a judge still owes outlive the entries that they are about."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_COPY = (
    "INSERT INTO judgements (id, at, category, tenant, answer, exact, score, features, p_correct, source, served, "
    "chance, entry_id, fresh_id, tries, free_at) SELECT id, at, category, tenant, answer, exact, score, features, "
    "p_correct, source, served, chance, entry_id, fresh_id, tries, free_at FROM judgements_before"
)


def upgrade() -> None:
    """Make what is new."""
    op.drop_index("judgements_entry", "judgements")
    op.drop_index("judgements_fresh", "judgements")
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint("judgements_entry_id_fkey", "judgements", type_="foreignkey")
        op.drop_constraint("judgements_fresh_id_fkey", "judgements", type_="foreignkey")
        return
    # SQLite drops no constraint of a table.
    op.drop_index("judgements_free", "judgements")
    op.rename_table("judgements", "judgements_before")
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("answer", sa.Integer, nullable=False),
        sa.Column("exact", sa.LargeBinary, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("features", sa.LargeBinary, nullable=False),
        sa.Column("p_correct", sa.Double, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("served", sa.Boolean, nullable=False),
        sa.Column("chance", sa.Double, nullable=False),
        sa.Column("entry_id", sa.Integer, nullable=False),
        sa.Column("fresh_id", sa.Integer, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("free_at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.execute(_COPY)
    op.drop_table("judgements_before")
    op.create_index("judgements_free", "judgements", ["free_at"])
