"""The lines of a log: unpacked and counted, and the first broken ones remembered.

Knows files and JSON, nothing of the meaning of a line. Invariant: a broken line stops nothing; it is counted, and the
first few are kept with their numbers. No more of a line is held than the longest sound one may have: a gzip of a
megabyte can be a line of a gigabyte.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from semcache.errors import StoreError

_SHOWN = 5
_LONGEST = 64 << 20  # bytes of a line: more than a request and its answer may have
_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"  # of the order of bytes, which Windows programs begin a file with


@dataclass
class LineTally:
    """The counts of the lines of a file; `skipped` counts sound lines without use by reason."""

    lines: int = 0
    broken: int = 0
    examples: list[tuple[int, str]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def failed(self, line: int, reason: str) -> None:
        """Count a broken line."""
        self.broken += 1
        if len(self.examples) < _SHOWN:
            self.examples.append((line, reason))

    def summary(self) -> list[str]:
        """Return the lines that were left out, in words, one line each."""
        lines = [f"{_count(count)} skipped: {reason}" for reason, count in self.skipped.most_common()]
        if self.broken:
            lines.append(f"{_count(self.broken)} skipped as broken; the first:")
            lines += [f"  line {number}: {reason}" for number, reason in self.examples]
        return lines


@contextmanager
def open_log(file: Path) -> Iterator[tuple[io.BufferedReader, Iterator[bytes]]]:
    """Open a file: its bytes on disk, and its lines, unpacked if it is a gzip. Raises StoreError."""
    try:
        with file.open("rb") as raw:
            packed = raw.peek(2)[:2] == _GZIP
            yield raw, _lines(gzip.GzipFile(fileobj=raw) if packed else raw)
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}") from error


def _lines(file: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the lines; of one that is too long, one byte more than the longest may have."""
    while line := file.readline(_LONGEST + 1):
        yield line
        while len(line) > _LONGEST and not line.endswith(b"\n"):
            line = file.readline(_LONGEST + 1)


def place(raw: io.BufferedReader) -> int:
    """Return how many bytes have been read; 0 of a pipe, which does not say."""
    return raw.tell() if raw.seekable() else 0


def rows(lines: Iterator[bytes], tally: LineTally) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON objects of the sound lines, with the numbers of their lines, counted from 1."""
    number = 0
    while True:
        number += 1
        try:
            line = next(lines, None)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            tally.failed(number, f"the gzip file is damaged from here on: {error}")
            return
        if line is None:
            return
        if number == 1:
            line = line.removeprefix(_MARK)
        if not line.strip():
            continue
        tally.lines += 1
        if len(line) > _LONGEST:
            tally.failed(number, f"it is longer than {_LONGEST >> 20} MiB")
            continue
        try:
            yield number, msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            tally.failed(number, f"no JSON object: {error}")


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines:,} lines"
