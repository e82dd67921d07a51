"""Tables for operating: costs beside those of calls, sums by the hour, decisions, deleted entries, actions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make what is new."""
    for name in ("events", "totals"):
        op.add_column(name, sa.Column("overhead_cost", sa.Double, nullable=False, server_default="0"))
    op.create_table(
        "hourly",
        sa.Column("hour", BIG, primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.String, primary_key=True),
        sa.Column("model", sa.String, primary_key=True),
        sa.Column("category", sa.String, primary_key=True),
        sa.Column("outcome", sa.String, primary_key=True),
        sa.Column("requests", BIG, nullable=False),
        sa.Column("saved_prompt_tokens", BIG, nullable=False),
        sa.Column("saved_completion_tokens", BIG, nullable=False),
        sa.Column("saved_cost", sa.Double, nullable=False),
        sa.Column("spent_cost", sa.Double, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("calls", BIG, nullable=False),
        sa.Column("spent_prompt_tokens", BIG, nullable=False),
        sa.Column("spent_completion_tokens", BIG, nullable=False),
        sa.Column("overhead_cost", sa.Double, nullable=False),
    )
    op.create_table(
        "decisions",
        sa.Column("id", BIG, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("user_id", sa.String),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("why", sa.String, nullable=False),
        sa.Column("entry_id", BIG),
        sa.Column("upstream", BIG, nullable=False),
        sa.Column("seal_key", sa.String),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("decisions_at", "decisions", ["at"])
    op.create_index("decisions_upstream", "decisions", ["upstream"])
    op.create_index("decisions_expires", "decisions", ["expires"])
    op.create_index("decisions_tenant", "decisions", ["tenant"])
    op.create_index("decisions_entry", "decisions", ["entry_id"])
    op.create_table(
        "mentions",
        sa.Column("entry_id", BIG, primary_key=True, autoincrement=False),
        sa.Column("decision_id", BIG, sa.ForeignKey("decisions.id", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("mentions_decision", "mentions", ["decision_id"])
    op.create_table(
        "deleted",
        sa.Column("batch", sa.String, primary_key=True),
        sa.Column("id", BIG, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("user_id", sa.String),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("seal_key", sa.String),
        sa.Column("row", sa.LargeBinary, nullable=False),
    )
    op.create_index("deleted_until", "deleted", ["until"])
    op.create_index("deleted_entry", "deleted", ["id"])
    op.create_table(
        "actions",
        sa.Column("id", BIG, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("tenant", sa.String),
        sa.Column("action", sa.String, nullable=False),
        sa.Column("detail", sa.String, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("actions_at", "actions", ["at"])
