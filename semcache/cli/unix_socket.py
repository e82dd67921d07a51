"""A Unix socket on which a command listens: made, taken over from a process that was killed, removed at the end.

Invariant: a socket that somebody listens on, and a file that is no socket, are left alone. A socket is made, replaced
and removed under a lock of its folder, and listens before the lock is released, so one that refuses has nobody behind
it, and of two commands that start together the second is told. What remains is a program that replaces the file without
taking the lock, between the check and the removal; and a file system without such locks.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from semcache.errors import ConfigError, StoreError
from semcache.runtime.unix_address import UNIX

LONGEST = 107 if sys.platform == "linux" else 103  # bytes of a path, without the zero behind it: unix(7)
_ANYBODY = 0o666  # as on loopback: who may connect is for the permissions of the folder to say
_BACKLOG = 2048  # as uvicorn's
_PATIENCE, _POLL = 5.0, 0.02  # seconds to wait for the lock, which is held for less than one

_OTHER = "name another path with --host"


@contextmanager
def listening_at(path: str) -> Iterator[socket.socket]:
    """Listen at `path`; its file is removed at the end, unless another process has replaced it.

    It listens at once: clients wait until they are accepted.
    Raises ConfigError for a path at which no socket can be, StoreError for one that is in use.
    """
    check(path)  # before its folder is opened
    listener, made = socket.socket(socket.AF_UNIX), None
    try:
        made = _listen(listener, path)
        yield listener
    finally:
        # Where this fails, the next start takes the file over.
        with suppress(OSError, StoreError), _folder_lock(path):
            # A signal may have come between the making of the file and the reading of its identity.
            if made == _identity(path) or (made is None and listener.getsockname() == path):
                Path(path).unlink()
        listener.close()


def check(path: str) -> bool:
    """Return True if a socket lies at `path` that nobody listens on, False if nothing does. Changes nothing.

    Raises ConfigError for a path at which no socket can be, StoreError for one that is in use.
    """
    size = len(os.fsencode(path))
    if size > LONGEST:
        raise ConfigError(
            f"{UNIX + path!r}: the path has {size} bytes, and the kernel takes {LONGEST} at most: "
            "name a shorter one with --host"
        )
    folder = Path(path).parent
    if not folder.is_dir():
        raise ConfigError(f"{UNIX + path!r}: there is no folder {str(folder)!r}: make it, or {_OTHER}")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigError(
            f"{UNIX + path!r}: the folder {str(folder)!r} may not be written: change its owner, or {_OTHER}"
        )
    try:
        mode = Path(path).lstat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{UNIX + path!r}: there is something else than a socket: {_OTHER}")
    if _has_listener(path):
        raise StoreError(f"cannot listen on {UNIX}{path}: a process listens there already; end it, or {_OTHER}")
    return True


def _listen(listener: socket.socket, path: str) -> tuple[int, int, int]:
    """Have it listen at `path`; return the identity of its file."""
    try:
        with _folder_lock(path):
            if check(path):
                Path(path).unlink(missing_ok=True)
            listener.bind(path)
            Path(path).chmod(_ANYBODY)
            listener.listen(_BACKLOG)
            listener.set_inheritable(True)
            return _identity(path)
    except OSError as error:
        raise StoreError(f"cannot listen on {UNIX}{path}: {error.strerror or error}; {_OTHER}") from error


def _has_listener(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)  # it would wait where too many wait already
        try:
            caller.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # a full queue, another user's socket, another kind of socket
    return True


def _identity(path: str) -> tuple[int, int, int]:
    """Return what tells a file from one that has replaced it, which may get the number of the file before it."""
    found = Path(path).lstat()
    return found.st_dev, found.st_ino, found.st_mtime_ns


@contextmanager
def _folder_lock(path: str) -> Iterator[None]:
    """Hold the lock of a file's folder. Raises StoreError if others hold it for too long."""
    folder = Path(path).parent
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise StoreError(
                        f"cannot listen on {UNIX}{path}: another process holds a lock of {str(folder)!r}; {_OTHER}"
                    ) from None
                time.sleep(_POLL)
                continue
            except OSError:
                pass  # NFS, for one, has no locks of folders
            break
        yield
    finally:
        os.close(descriptor)
