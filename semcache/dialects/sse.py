"""Server-sent events: an incremental reader, what is made of the events of a stream, and a writer.

Follows the parsing rules of the HTML standard (section 9.2) and also knows at which byte each event starts, so that a
relay can hold an event back. Knows nothing of what the events carry.
Invariant: cutting the bytes differently never changes the events.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    """One dispatched event. `start` is the offset of the first byte of its block in the whole stream."""

    start: int
    name: str
    data: bytes


class EventReader:
    """Turns bytes, cut anywhere, into events."""

    __slots__ = ("_data", "_name", "_offset", "_pending", "_skip_lf", "_start")

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._offset = 0  # of the first byte of the line that is being collected
        self._start = 0  # of the block that is being collected
        self._skip_lf = False
        self._data: list[bytes] = []
        self._name = ""

    def feed(self, chunk: bytes) -> list[Event]:
        """Take the next bytes and return the events they complete."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[:1] == b"\n":
                chunk = chunk[1:]
                if self._start == self._offset:
                    self._start += 1
                self._offset += 1
        if b"\n" not in chunk and b"\r" not in chunk:
            if chunk:
                self._pending.append(chunk)
            return []
        if self._pending:
            chunk = b"".join((*self._pending, chunk))
            self._pending.clear()
        events: list[Event] = []
        offset, position = self._offset, 0
        if b"\r" in chunk:
            for end in _END.finditer(chunk):
                self._line(chunk[position : end.start()], offset + position, offset + end.end(), events)
                position = end.end()
            self._skip_lf = position == len(chunk) and chunk.endswith(b"\r")
        else:
            while (end_of_line := chunk.find(b"\n", position)) >= 0:
                self._line(chunk[position:end_of_line], offset + position, offset + end_of_line + 1, events)
                position = end_of_line + 1
        self._offset = offset + position
        if position < len(chunk):
            self._pending.append(chunk[position:])
        return events

    def close(self) -> list[Event]:
        """Return the event that the end of the stream cut off before its blank line, if any.

        The standard discards it; clients of language models read it, and so does this reader.
        """
        events: list[Event] = []
        if self._pending:
            line = b"".join(self._pending)
            self._pending.clear()
            self._line(line, self._offset, self._offset + len(line), events)
        self._line(b"", self._offset, self._offset, events)
        return events

    def _line(self, line: bytes, at: int, after: int, events: list[Event]) -> None:
        if at == 0 and line.startswith(_BOM):
            line = line[3:]
        if not line:
            if self._data:
                events.append(Event(self._start, self._name, b"\n".join(self._data)))
                self._data = []
            self._name = ""
            self._start = after
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value[1:] if value[:1] == b" " else value)
        elif field == b"event":
            self._name = (value[1:] if value[:1] == b" " else value).decode("utf-8", "replace")


class StreamAssembler(ABC):
    """Takes the events of a stream up to its terminal one, or to the first that is no part of an answer."""

    def __init__(self) -> None:
        self._reader = EventReader()
        self._broken = False
        self._terminal: int | None = None

    @property
    def terminal(self) -> int | None:
        """Offset at which the terminal event starts; None until it was seen."""
        return self._terminal

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they came."""
        self._read(self._reader.feed(chunk))

    def _close(self) -> None:
        """Take the event that the end of the stream cut off."""
        self._read(self._reader.close())

    def _read(self, events: list[Event]) -> None:
        for one in events:
            if self._terminal is None and not self._broken:
                self._take(one)

    @abstractmethod
    def _take(self, event: Event) -> None:
        """Take one event; set `_terminal` if it ends the answer, `_broken` if it is no part of one."""


def event(data: bytes, name: str | None = None) -> bytes:
    """One event as bytes; every line of `data` becomes a data line."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    if b"\n" in data or b"\r" in data:
        return head + b"".join(b"data: " + line + b"\n" for line in _END.split(data)) + b"\n"
    return head + b"data: " + data + b"\n\n"
