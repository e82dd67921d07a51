"""The folder in which the metrics of several workers meet, made for one run of `semcache serve`.

Invariant: a folder is removed with its server, or by the next one to start if that was killed, never while it lives;
where there is no room, each worker has metrics of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semcache.cli import output
from semcache.runtime.metric_files import FOLDER, take

# Folders of earlier versions had no lock, and a server of one of those may live: their names have no such middle.
_PREFIX = "semcache-metrics-held-"
_ROOM = 1 << 19  # bytes that a worker's files take at the start


@contextmanager
def shared_metrics(workers: int) -> Iterator[None]:
    """Have a folder named in the environment, unless it names one, until the end."""
    if workers == 1 or os.environ.get(FOLDER):
        yield
        return
    os.environ.pop(FOLDER, None)
    try:
        parent = Path(tempfile.gettempdir())
        remove_abandoned(parent)
        folder, lock = _made(parent, _ROOM * (workers + 1))
    except OSError as error:
        output.note(
            "warning: the metrics of the workers are not added up, for there is no room for them in the temporary "
            f"folder ({error}): free some space, or name another folder with {FOLDER}, and restart"
        )
        yield
        return
    os.environ[FOLDER] = str(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove folders whose servers have ended without doing so."""
    for folder in parent.glob(f"{_PREFIX}*"):
        lock = _locked(folder)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _made(parent: Path, room: int) -> tuple[Path, int | None]:
    """Make a folder with `room` and hold it. Raises OSError."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = _locked(folder)
        # Another server that started just now may have found it before it was held, and removed it.
        if folder.is_dir():
            break
    try:
        take(folder / "room", room)
        (folder / "room").unlink()
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder, lock


def _locked(folder: Path) -> int | None:
    """Return a descriptor that holds a folder of this user, None if somebody else does or there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(held).st_uid == os.getuid():
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return held
    except OSError:
        pass
    os.close(held)
    return None
