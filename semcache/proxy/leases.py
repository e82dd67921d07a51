"""Single-flight across worker processes: a lease for each request that one of them is asking the backend.

Knows digests of requests and a file that the workers share. A lease is a lock on one byte of it, far beyond its end, so
that nothing is ever written and the kernel ends the leases of a worker that dies. Invariant: a fault of file or lock,
or a system without such locks, means that every worker asks; nobody waits longer than `patience` seconds, nor for a
lease of its own process.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

_FIRST, _LONGEST = 0.01, 0.1  # seconds between two looks


class Leases:
    """The leases of one worker process. `file` is made if it is missing."""

    def __init__(self, file: Path, *, patience: float = 30.0) -> None:
        self._patience = patience
        self._held: Counter[int] = Counter()
        self._file = -1
        with suppress(ImportError, OSError):
            import fcntl  # noqa: F401 - is there a way to lock

            self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, exact: bytes) -> bool:
        """Take the lease of the request with this digest; False while another worker has it."""
        place = _place(exact)
        if self._file < 0:
            return True
        import fcntl

        if place in self._held:
            self._held[place] += 1
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return True
        self._held[place] = 1
        return True

    async def wait(self, exact: bytes) -> bool:
        """Take the lease as soon as the worker that has it gives it back; False after `patience` seconds."""
        pause = _FIRST
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                while not self.take(exact):
                    await asyncio.sleep(pause)
                    pause = min(_LONGEST, 2 * pause)
                return True
        return False

    def give_back(self, exact: bytes) -> None:
        """Give a lease back as often as it was taken; do nothing if it is not held."""
        place = _place(exact)
        if place not in self._held:
            return
        import fcntl

        self._held[place] -= 1
        if not self._held[place]:
            del self._held[place]
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def lease(self, exact: bytes) -> Lease:
        """The lease of the request with this digest, for a `with` that takes it if it is free."""
        return Lease(self, exact)

    def close(self) -> None:
        """Give every lease back; from now on each can be taken."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
        self._held.clear()


class Lease:
    """The part that one request has in a lease: `mine` while it has taken it, and it gives back nothing else."""

    def __init__(self, leases: Leases, exact: bytes) -> None:
        self._leases, self._exact = leases, exact
        self.mine = False

    def __enter__(self) -> Lease:
        self.mine = self._leases.take(self._exact)
        return self

    def __exit__(self, *exc: object) -> None:
        self.give_back()

    async def turn(self) -> None:
        """Wait until the worker that has the lease gives it back, or patience ends, and let others have it at once."""
        self.mine = await self._leases.wait(self._exact)
        self.give_back()

    def give_back(self) -> None:
        """Give back what this request took, if it did and has not yet."""
        mine, self.mine = self.mine, False
        if mine:
            self._leases.give_back(self._exact)


def _place(exact: bytes) -> int:
    return int.from_bytes(exact[:8], "big") >> 2
