"""Putting a model folder in its place: whole, or not at all.

Knows folders, nothing of what is in them. Invariant: a reader of the place sees what was there before or the finished
folder; whatever fails, what was there before is still there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from semcache.errors import InvalidArgument, StoreError


@contextmanager
def published(out: Path, *, replace: bool) -> Iterator[Path]:
    """An empty folder beside `out` that becomes `out` when the block ends without an error.

    Raises InvalidArgument where `out` exists and `replace` is False, StoreError for a disk that is full or read-only.
    """
    vacant(out, replace=replace)
    staging: Path | None = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.staging-", dir=out.parent))
        staging.chmod(0o755)
        yield staging
        _sync(staging)
        _move(staging, out)
    except OSError as error:
        was = "what was there is untouched" if out.exists() else "nothing was left there"
        raise StoreError(f"{out} cannot be written: {error.strerror or error}; {was}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)


def vacant(out: Path, *, replace: bool) -> None:
    """Raise InvalidArgument where `published` would for what is there; asked before hours of work."""
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


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                with suppress(OSError):  # some file systems know no fsync
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
