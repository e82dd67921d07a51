"""Users of tool results, so that what is one user's alone can be erased with that user.

Of results that are there nobody knows whose they are; they are deleted, and their tools are called again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.execute("DELETE FROM tool_results")
    op.add_column("tool_results", sa.Column("user_id", sa.String))
