"""Stores of entries, vectors, events and keys: memory, SQLite or PostgreSQL.

Knows which URL means which; importing this costs nothing until a store is made.
Invariant: every store here passes the suites `tests/conformance/test_store_*.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.config import plugins

if TYPE_CHECKING:
    from semcache.protocols import EntryStore
    from semcache.storage.stores.seal import Seal

SCHEMES = ("memory", "sqlite", "postgres", "postgresql")


def open_store(url: str, *, seal: Seal | None = None) -> EntryStore:
    """The store behind a URL, not opened yet.

    `memory://`, `sqlite:///FILE`, a plain path, `postgresql://USER@HOST/NAME`, or a URL whose scheme is the name of a
    plug-in: its maker is given the URL and the seal, which it has to keep. Raises ConfigError for anything else.
    """
    if url == "memory://":
        from semcache.storage.stores.memory import MemoryStore

        return MemoryStore()
    name = plugged(url)
    if name is not None:
        made: EntryStore = plugins.make("stores", name, url, seal)
        return made
    from semcache.storage.stores.database import Database, parse_url
    from semcache.storage.stores.sql import SqlStore

    return SqlStore(Database(parse_url(url)), seal)


def plugged(url: str) -> str | None:
    """The plug-in that a URL names; None where the store is a built-in one, or none at all."""
    scheme, separator, _ = url.partition("://")
    if not separator or scheme.partition("+")[0] in SCHEMES or scheme not in plugins.names("stores"):
        return None
    return scheme
