"""Where entries, vectors, events and keys are kept: memory, SQLite or PostgreSQL.

Knows which URL means which; importing this costs nothing until a store is made.
Invariant: every store here passes `tests/conformance/test_store.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semcache.protocols import EntryStore
    from semcache.store.seal import Seal


def open_store(url: str, *, seal: Seal | None = None) -> EntryStore:
    """The store behind a URL, not opened yet.

    `memory://`, `sqlite:///FILE`, a plain path, or `postgresql://USER@HOST/NAME`. Raises ConfigError for anything else.
    """
    if url == "memory://":
        from semcache.store.memory import MemoryStore

        return MemoryStore()
    from semcache.store.engine import Database, parse_url
    from semcache.store.sql import SqlStore

    return SqlStore(Database(parse_url(url)), seal)
