"""Second opinions: the language model that is asked what the judge cannot tell."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make what is new."""
    op.add_column("judgements", sa.Column("model", sa.String))
