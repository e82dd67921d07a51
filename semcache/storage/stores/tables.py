"""The tables of the entry store, as SQLAlchemy Core sees them, for SQLite and PostgreSQL alike.

Knows nothing of connections or of how a row becomes an `Entry`. `migrations/` is the history of this file; a test
proves that both make the same schema.
Invariant: what can be sealed (prompt text, canonical request, body) is bytes and comes last, so that reading the
front of a row never touches an answer.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

# INTEGER PRIMARY KEY is SQLite's own 64-bit row id; BIGINT would cost a second index.
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VERSION_TABLE = "semcache_version"

METADATA = sa.MetaData()


def _labelled() -> tuple[sa.Column[Any], ...]:
    """The columns of a label that are known before it is judged."""
    return (
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
        sa.Column("origin", sa.String),
    )


version = sa.Table(
    VERSION_TABLE,
    METADATA,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)

meta = sa.Table(
    "meta",
    METADATA,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.LargeBinary, nullable=False),
)

entries = sa.Table(
    "entries",
    METADATA,
    sa.Column("id", BIG, primary_key=True, autoincrement=False),
    sa.Column("exact", sa.LargeBinary, nullable=False),
    sa.Column("shelf", sa.LargeBinary, nullable=False),  # the partition
    sa.Column("category", sa.String, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("user_id", sa.String),
    sa.Column("namespace", sa.String, nullable=False),
    sa.Column("seal_key", sa.String),
    sa.Column("answer", BIG, nullable=False, server_default="0"),
    sa.Column("askers", sa.LargeBinary),
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
    sa.Index("entries_exact", "exact", unique=True),
    sa.Index("entries_scope", "tenant", "user_id", "namespace"),
    sa.Index("entries_namespace", "namespace"),
    sa.Index("entries_user", "user_id"),
    sa.Index("entries_category", "category"),
    sa.Index("entries_model", "model"),
    sa.Index("entries_source", "source"),
    sa.Index("entries_created", "created"),
    sa.Index("entries_expires", "expires"),
    sa.Index("entries_seal_key", "seal_key"),
)

tags = sa.Table(
    "entry_tags",
    METADATA,
    sa.Column("tag", sa.String, primary_key=True),
    sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
    sa.Index("entry_tags_entry", "entry_id"),
)

vectors = sa.Table(
    "vectors",
    METADATA,
    sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sa.Column("embedder_id", sa.String, nullable=False),
    sa.Column("dim", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Index("vectors_embedder", "embedder_id", "entry_id"),
)

# Digests of the canonical wordings of entries, sealed with the key of the entry where it has one.
wordings = sa.Table(
    "wordings",
    METADATA,
    sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
)

# Vectors of an embedder that is not in use (yet): beside those in `vectors` until `Reembedding.switch` exchanges them.
reembedded = sa.Table(
    "reembedded",
    METADATA,
    sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sa.Column("embedder_id", sa.String, primary_key=True),
    sa.Column("shelf", sa.LargeBinary, nullable=False),  # the partition
    sa.Column("dim", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

changes = sa.Table(
    "changes",
    METADATA,
    sa.Column("seq", BIG, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("entry_id", BIG, nullable=False),
    sa.Column("exact", sa.LargeBinary, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sqlite_autoincrement=True,
)

rejections = sa.Table(
    "rejections",
    METADATA,
    sa.Column("entry_id", BIG, sa.ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sa.Column("exact", sa.LargeBinary, primary_key=True),
    sa.Column("at", sa.Double, nullable=False),
)

# The label log. Labels outlive the entries that they are about.
labels = sa.Table(
    "labels",
    METADATA,
    sa.Column("seq", BIG, primary_key=True),
    *_labelled(),
    sa.Column("entry_id", BIG, nullable=False),
    sa.Column("correct", sa.Boolean, nullable=False),
    sa.Index("labels_entry", "entry_id"),
    sqlite_autoincrement=True,
)

# Saved states of what was learned; `seq` is the last label in one.
learned = sa.Table(
    "learned",
    METADATA,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("seq", BIG, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)

# Comparisons that a judge still owes; nobody holds one from the Unix time `free_at` on. They outlive their entries: an
# audit whose entry is gone is known to have been made.
judgements = sa.Table(
    "judgements",
    METADATA,
    sa.Column("id", BIG, primary_key=True),
    *_labelled(),
    sa.Column("entry_id", BIG, nullable=False),
    sa.Column("fresh_id", BIG, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("free_at", sa.Double, nullable=False),
    sa.Column("model", sa.String),
    sa.Index("judgements_free", "free_at"),
    sqlite_autoincrement=True,
)

events = sa.Table(
    "events",
    METADATA,
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
    sa.Column("overhead_cost", sa.Double, nullable=False, server_default="0"),
    sa.Index("events_entry", "entry_id"),
    sa.Index("events_at", "at"),
    sqlite_autoincrement=True,
)

# What trimmed events had added up to, so that totals never shrink.
totals = sa.Table(
    "totals",
    METADATA,
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
    sa.Column("overhead_cost", sa.Double, nullable=False, server_default="0"),
)

# The same by the hour, so that savings by tenant and model outlive the events they are made of.
hourly = sa.Table(
    "hourly",
    METADATA,
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

# Why requests were served or not: sampled, sealed and short-lived.
decisions = sa.Table(
    "decisions",
    METADATA,
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
    sa.Index("decisions_at", "at"),
    sa.Index("decisions_upstream", "upstream"),
    sa.Index("decisions_expires", "expires"),
    sa.Index("decisions_tenant", "tenant"),
    sa.Index("decisions_entry", "entry_id"),
)

# The entries that a decision is about: it goes with any of them.
mentions = sa.Table(
    "mentions",
    METADATA,
    sa.Column("entry_id", BIG, primary_key=True, autoincrement=False),
    sa.Column("decision_id", BIG, sa.ForeignKey("decisions.id", ondelete="CASCADE"), primary_key=True),
    sa.Index("mentions_decision", "decision_id"),
)

# Entries that were deleted and can be brought back until a time. `row` holds the row as it was, sealed as it was.
deleted = sa.Table(
    "deleted",
    METADATA,
    sa.Column("batch", sa.String, primary_key=True),
    sa.Column("id", BIG, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("user_id", sa.String),
    sa.Column("namespace", sa.String, nullable=False),
    sa.Column("seal_key", sa.String),
    sa.Column("row", sa.LargeBinary, nullable=False),
    sa.Index("deleted_until", "until"),
    sa.Index("deleted_entry", "id"),
)

# What administrators did: who, what, when.
actions = sa.Table(
    "actions",
    METADATA,
    sa.Column("id", BIG, primary_key=True),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("who", sa.String, nullable=False),
    sa.Column("tenant", sa.String),
    sa.Column("action", sa.String, nullable=False),
    sa.Column("detail", sa.String, nullable=False),
    sa.Index("actions_at", "at"),
    sqlite_autoincrement=True,
)

api_keys = sa.Table(
    "api_keys",
    METADATA,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("trusted", sa.Boolean, nullable=False),
    sa.Column("admin", sa.Boolean, nullable=False),
    sa.Column("revoked", sa.Double),
    sa.Column("user_id", sa.String),
    sa.Column("requests_per_minute", sa.BigInteger),
    sa.Column("tokens_per_minute", sa.BigInteger),
    sa.Column("dollars_per_day", sa.Double),
    sa.Column("read_only", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("expires", sa.Double),
    sa.Index("api_keys_digest", "digest", unique=True),
)

# Plan templates; an empty body marks one that is gone, until others have seen that.
plans = sa.Table(
    "plans",
    METADATA,
    sa.Column("id", BIG, primary_key=True, autoincrement=False),
    sa.Column("seq", BIG, nullable=False),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("seal_key", sa.String),
    sa.Column("embedder_id", sa.String, nullable=False),
    sa.Column("vectors", sa.LargeBinary, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Index("plans_seq", "seq", unique=True),
    sa.Index("plans_expires", "expires"),
)

# Results of tools, and the versions of what tools read: a change gives those that it touches a new one.
tool_results = sa.Table(
    "tool_results",
    METADATA,
    sa.Column("key", sa.LargeBinary, primary_key=True),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("tool", sa.String, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("seal_key", sa.String),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("user_id", sa.String),  # of a result that is one user's alone
    sa.Index("tool_results_expires", "expires"),
)
tool_versions = sa.Table(
    "tool_versions",
    METADATA,
    sa.Column("scope", sa.String, primary_key=True),
    sa.Column("resource", sa.String, primary_key=True),
    sa.Column("version", sa.LargeBinary, nullable=False),
    sa.Column("pending", sa.Double, nullable=False),
    sa.Column("changed", sa.Double, nullable=False),
    sa.Index("tool_versions_changed", "changed"),
)
