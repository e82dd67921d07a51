"""The first schema.

Its number is that of the last schema before it: five steps were made one, and a store that has taken them all is at the
same place as one that was made at once.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "meta",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("id", BIG, primary_key=True, autoincrement=False),
        sa.Column("exact", sa.LargeBinary, nullable=False),
        sa.Column("shelf", sa.LargeBinary, nullable=False),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("user_id", sa.String),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("seal_key", sa.String),
        sa.Column("answer", BIG, nullable=False, server_default="0"),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sa.Column("endpoint", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("embedder_id", sa.String, nullable=False),
        sa.Column("prompt_tokens", BIG, nullable=False),
        sa.Column("completion_tokens", BIG, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("latency", sa.Double, nullable=False),
        sa.Column("tags", sa.String, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("canonical", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("entries_exact", "entries", ["exact"], unique=True)
    op.create_index("entries_scope", "entries", ["tenant", "user_id", "namespace"])
    op.create_index("entries_namespace", "entries", ["namespace"])
    op.create_index("entries_user", "entries", ["user_id"])
    op.create_index("entries_category", "entries", ["category"])
    op.create_index("entries_model", "entries", ["model"])
    op.create_index("entries_source", "entries", ["source"])
    op.create_index("entries_created", "entries", ["created"])
    op.create_index("entries_expires", "entries", ["expires"])
    op.create_index("entries_seal_key", "entries", ["seal_key"])
    op.create_table(
        "entry_tags",
        sa.Column("tag", sa.String, primary_key=True),
        sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("entry_tags_entry", "entry_tags", ["entry_id"])
    op.create_table(
        "vectors",
        sa.Column(
            "entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        sa.Column("embedder_id", sa.String, nullable=False),
        sa.Column("dim", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index("vectors_embedder", "vectors", ["embedder_id", "entry_id"])
    op.create_table(
        "changes",
        sa.Column("seq", BIG, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("entry_id", BIG, nullable=False),
        sa.Column("exact", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rejections",
        sa.Column(
            "entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        sa.Column("exact", sa.LargeBinary, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", BIG, primary_key=True),
        sa.Column("request_id", sa.String, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("endpoint", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("user_id", sa.String),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("why", sa.String, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("entry_id", BIG),
        sa.Column("exact", sa.LargeBinary, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("p_correct", sa.Double),
        sa.Column("stored", sa.String),
        sa.Column("stream", sa.Boolean, nullable=False),
        sa.Column("collapsed", sa.Boolean, nullable=False),
        sa.Column("requests", BIG, nullable=False),
        sa.Column("saved_prompt_tokens", BIG, nullable=False),
        sa.Column("saved_completion_tokens", BIG, nullable=False),
        sa.Column("saved_cost", sa.Double, nullable=False),
        sa.Column("spent_prompt_tokens", BIG, nullable=False),
        sa.Column("spent_completion_tokens", BIG, nullable=False),
        sa.Column("spent_cost", sa.Double, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("timings", sa.String, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("events_entry", "events", ["entry_id"])
    op.create_index("events_at", "events", ["at"])
    op.create_table(
        "totals",
        sa.Column("category", sa.String, primary_key=True),
        sa.Column("outcome", sa.String, primary_key=True),
        sa.Column("requests", BIG, nullable=False),
        sa.Column("saved_prompt_tokens", BIG, nullable=False),
        sa.Column("saved_completion_tokens", BIG, nullable=False),
        sa.Column("saved_cost", sa.Double, nullable=False),
        sa.Column("spent_cost", sa.Double, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("calls", BIG, nullable=False, server_default="0"),
        sa.Column("spent_prompt_tokens", BIG, nullable=False, server_default="0"),
        sa.Column("spent_completion_tokens", BIG, nullable=False, server_default="0"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("trusted", sa.Boolean, nullable=False),
        sa.Column("admin", sa.Boolean, nullable=False),
        sa.Column("revoked", sa.Double),
    )
    op.create_index("api_keys_digest", "api_keys", ["digest"], unique=True)
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
