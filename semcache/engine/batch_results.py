"""The file of a batch's results, to which one process at a time adds.

Knows lines and files, no model. Invariant: an answer that is there stays, and is not asked for again; a last line that
was cut off, and the results of requests that failed, leave the file in one step, before anything is added.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import msgspec

from semcache.engine.batch_file import RESULT, custom_id_of
from semcache.errors import InvalidArgument

_OK = 200


class BatchResults:
    """The results at `target`, a file that is made if need be; `done` holds the custom_ids that it has answers to.

    Raises InvalidArgument for a file that cannot be written, that holds something else, or that another process writes.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        try:
            self._file: IO[bytes] = target.open("ab")
            try:
                _lock(self._file, target)
                content = target.read_bytes()
                whole = content[: content.rfind(b"\n") + 1]
                rest = content[len(whole) :]
                if rest and not (rest.startswith(RESULT) or RESULT.startswith(rest)):
                    raise InvalidArgument(
                        f"{str(target)!r} ends in something else than a result: name another file for results"
                    )
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise InvalidArgument(f"results cannot be written to {str(target)!r}: {error.strerror}") from error
        lines = whole.splitlines(keepends=True)
        self._kept = [line for line in lines if not _is_failure(line)]
        self._clean = not rest and len(self._kept) == len(lines)
        self.done = frozenset(name for line in self._kept if (name := custom_id_of(line)) is not None)

    def begin(self) -> None:
        """Take out what was cut off, and what failed and is about to be tried again. Raises InvalidArgument."""
        if self._clean:
            return
        try:
            file = _rewritten(self._target, self._kept)
        except OSError as error:
            raise InvalidArgument(f"results cannot be written to {str(self._target)!r}: {error.strerror}") from error
        self._file.close()
        self._file, self._clean = file, True

    def add(self, result: bytes) -> None:
        """Append the line of a result."""
        self._file.write(result + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Let others write to the file."""
        self._file.close()


def _rewritten(target: Path, lines: list[bytes]) -> IO[bytes]:
    staged = target.with_name(f".{target.name}.part")
    file = staged.open("wb")
    try:
        _lock(file, target)  # before it has the name under which others look for it
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
        staged.replace(target)
    except BaseException:
        file.close()
        staged.unlink(missing_ok=True)
        raise
    return file


def _lock(file: IO[bytes], target: Path) -> None:
    """Hold the file while it is open, where locks are to be had."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InvalidArgument(f"another process writes to {str(target)!r}: name another file for results") from error
    except (ImportError, OSError):
        return


def _is_failure(line: bytes) -> bool:
    """Return True for the result of a request that got no answer."""
    if not line.startswith(RESULT):
        return False
    try:
        return bool(msgspec.json.decode(line)["response"]["status_code"] != _OK)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError, LookupError):
        return False
