"""Atomic publication of a model folder: whole, or not at all.

Knows folders, nothing of their content. Invariant: a reader of the place sees the old folder or the finished one, or
for the moment between two renames nothing; on any failure the old folder is still there. The remains of a killed
process beside the place are cleared away by the next one, never the folder that another process is still writing.
"""

from __future__ import annotations

import glob
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from semcache.errors import InvalidArgument, StoreError

_TRIES, _PAUSE = 100, 0.05  # seconds; others hold a folder for as long as two renames take
_log = logging.getLogger(__name__)


@contextmanager
def published(out: Path, *, replace: bool) -> Iterator[Path]:
    """An empty folder beside `out` that becomes `out` when the block ends without an error.

    Raises InvalidArgument where `out` exists and `replace` is False, StoreError for a disk that is full or read-only.
    """
    vacant(out, replace=replace)
    place = out.resolve()  # a link stays: what it points to is replaced
    staging: Path | None = None
    held: int | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _held(place.parent):
            staging = Path(tempfile.mkdtemp(prefix=f".{place.name}.staging-", dir=place.parent))
            held = _hold(staging)
        staging.chmod(0o755)
        yield staging
        _sync(staging)
        with _held(place.parent):
            _move(staging, place)
    except OSError as error:
        was = "what was there is untouched" if out.exists() else "nothing was left there"
        raise StoreError(f"{out} cannot be written: {error.strerror or error}; {was}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        if held is not None:
            os.close(held)


@contextmanager
def workplace(out: Path, name: str) -> Iterator[Path]:
    """The folder beside `out` for what a training leaves to go on from; removed when the block ends without an error.

    Raises StoreError where another process works there: each would take up, or clear away, what the other has left.
    """
    work = out.parent / f".{out.name}.{name}"
    held = _claimed(work, out)
    try:
        yield work
        shutil.rmtree(work, ignore_errors=True)
    finally:
        with suppress(OSError):  # what was broken off is gone on with; an empty folder holds nothing of it
            work.rmdir()
        if held is not None:
            os.close(held)


def _claimed(work: Path, out: Path) -> int | None:
    """A descriptor whose lock ends with it; None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        fcntl = None  # type: ignore[assignment]
    try:
        while True:
            work.mkdir(parents=True, exist_ok=True)
            if fcntl is None:
                return None
            held = os.open(work, os.O_RDONLY)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(held)
                raise StoreError(f"another process is making {out}: wait for it, or name another folder") from error
            except OSError:  # some file systems know no locks
                return held
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(held), work.stat()):
                    return held
            os.close(held)  # who worked there before has removed it in between
    except OSError as error:
        raise StoreError(f"{work} cannot be written: {error.strerror or error}") from error


def vacant(out: Path, *, replace: bool) -> None:
    """Raise InvalidArgument where `published` would for the present content; asked before hours of work.

    The remains of a killed process are cleared away first: the model that it had set aside may be the one that is
    there.
    """
    place = out.resolve()
    _tidy(place)
    if place == Path.cwd() or os.path.ismount(place):
        raise InvalidArgument(
            f"{out} is the current folder or a mount point: it cannot be replaced; name a folder in it"
        )
    if out.exists() and not replace:
        raise InvalidArgument(f"{out} exists: name another folder, or --force to replace it")
    if out.exists() and not out.is_dir():
        raise InvalidArgument(f"{out} is a file: name a folder")
    if out.exists() and any(out.iterdir()) and not (out / "model.json").is_file():
        raise InvalidArgument(f"{out} holds something that is no model: it will not be replaced; name another folder")


def _move(staging: Path, out: Path) -> None:
    """A folder that holds something cannot be renamed over: the old one steps aside first, and back if that fails."""
    if not out.exists():
        staging.rename(out)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.old-", dir=out.parent))
    try:
        out.rename(aside)
        staging.rename(out)
    finally:  # whatever ends it between the two, Ctrl-C among others
        if not out.exists():
            aside.rename(out)
        shutil.rmtree(aside, ignore_errors=True)


def _tidy(out: Path) -> None:
    """Put back a folder that a killed process had set aside, and remove one that it had not finished."""
    name = glob.escape(out.name)
    with suppress(OSError), _held(out.parent) as alone:
        if not alone:
            return
        for aside in out.parent.glob(f".{name}.old-*"):  # the folder is held: nobody is between the two renames
            if out.exists() or not any(aside.iterdir()):
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.rename(out)
                _log.warning("%s is back: a process was killed while it replaced it", out)
        for staging in out.parent.glob(f".{name}.staging-*"):
            with _held(staging, tries=1) as unused:
                if unused:
                    shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _held(folder: Path, *, tries: int = _TRIES) -> Iterator[bool]:
    """Return True if this process alone holds `folder` while the block runs; False where locks are not to be had."""
    held = _hold(folder, tries=tries)
    try:
        yield held is not None
    finally:
        if held is not None:
            os.close(held)


def _hold(folder: Path, *, tries: int = _TRIES) -> int | None:
    """A descriptor whose lock ends with it, and with a process that is killed; None where there is no lock to have.

    It is not waited for without end: `flock DIR COMMAND` holds a folder for as long as the command runs.
    """
    try:
        import fcntl

        held = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    for left in reversed(range(tries)):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE)
        except OSError:
            break
        else:
            return held
    os.close(held)
    return None


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                with suppress(OSError):  # some file systems know no fsync
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
