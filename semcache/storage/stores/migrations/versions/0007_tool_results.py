"""Results of tools that processes share, and the versions of what tools read."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "tool_results",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("tool", sa.String, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("seal_key", sa.String),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tool_results_expires", "tool_results", ["expires"])
    op.create_table(
        "tool_versions",
        sa.Column("scope", sa.String, primary_key=True),
        sa.Column("resource", sa.String, primary_key=True),
        sa.Column("version", sa.LargeBinary, nullable=False),
        sa.Column("pending", sa.Double, nullable=False),
        sa.Column("changed", sa.Double, nullable=False),
    )
    op.create_index("tool_versions_changed", "tool_versions", ["changed"])
