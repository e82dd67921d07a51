"""Content encodings of a reply, undone piece by piece: gzip and deflate, and brotli and zstd where a package is there.

Knows bytes only. Invariant: what comes out is the whole body, or `Damaged` is raised after the part that was readable:
a body that is cut inside its encoding, or goes on behind its end, never passes for a shorter one. httpx2's own decoders
do not say so.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol

_PIECE = 1 << 20  # bytes that are inflated at a time
_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's arguments for a gzip header, its own header, and none


class Damaged(ValueError):
    """A body that is not what its encoding says, or not all of it."""


class _Decoder(Protocol):
    """Undoes one encoding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Give what can be read so far."""
        ...

    def whole(self) -> bool:
        """Return True if the body may end here."""
        ...


def encodings(named: Sequence[str]) -> list[str]:
    """Return the encodings that the `content-encoding` headers name, in the order in which they were applied."""
    words = (word.strip().lower() for value in named for word in value.split(","))
    return [word for word in words if word not in ("", "identity")]


def undecodable(applied: Sequence[str]) -> list[str]:
    """Return the encodings among these that cannot be undone here."""
    return sorted({name for name in applied if _maker(name) is None})


async def decoded(body: AsyncIterable[bytes], applied: Sequence[str]) -> AsyncIterator[bytes]:
    """Undo the encodings of a body, all of which can be undone. Raises Damaged."""
    decoders = [maker() for name in reversed(applied) if (maker := _maker(name)) is not None]
    empty = True
    async for data in body:
        empty = empty and not data
        for piece in _through(decoders, data):
            if piece:
                yield piece
    # No body is an empty body, whatever it would have been encoded in.
    if not empty and not all(decoder.whole() for decoder in decoders):
        raise Damaged(f"the body ends in the middle of its content-encoding {', '.join(applied)}")


def _through(decoders: Sequence[_Decoder], data: bytes) -> Iterator[bytes]:
    if not decoders:
        yield data
        return
    for piece in decoders[0].feed(data):
        yield from _through(decoders[1:], piece)


class _Gzip:
    """gzip: one member or several, and zeros behind them (RFC 1952)."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._member.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._member, self._begun = zlib.decompressobj(_GZIP), False
            self._begun = True
            yield from _inflated(self._member, data)
            data = self._member.unused_data

    def whole(self) -> bool:
        return self._member.eof or not self._begun


class _Deflate:
    """deflate: with zlib's header, as RFC 9110 says, or without it, as some servers send it."""

    def __init__(self) -> None:
        self._head = b""
        self._inflater: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inflater is None:
            self._head += data
            if len(self._head) < 2:
                return
            first, second = self._head[:2]
            headed = first & 15 == 8 and (first << 8 | second) % 31 == 0
            self._inflater, data = zlib.decompressobj(_ZLIB if headed else _RAW), self._head
        if self._inflater.eof and data:
            raise Damaged("there are bytes behind the end of a body in deflate")
        yield from _inflated(self._inflater, data)
        if self._inflater.unused_data:
            raise Damaged("there are bytes behind the end of a body in deflate")

    def whole(self) -> bool:
        return self._inflater is not None and bool(self._inflater.eof)


class _Brotli:
    """br, by the package brotli or brotlicffi."""

    def __init__(self, module: Any) -> None:
        self._error: type[Exception] = module.error
        self._decompressor = module.Decompressor()
        # Packages before 1.2 inflate whatever they are given at once.
        bounded = hasattr(self._decompressor, "can_accept_more_data")
        self._bound = {"output_buffer_limit": _PIECE} if bounded else {}

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            piece = self._decompressor.process(data, **self._bound)
            while piece:
                yield piece
                if not self._bound or self._decompressor.is_finished():
                    return
                piece = self._decompressor.process(b"", **self._bound)
        except self._error as error:
            raise Damaged(str(error)) from error

    def whole(self) -> bool:
        return bool(self._decompressor.is_finished())


class _Zstandard:
    """zstd: one frame or several (RFC 8878), by Python 3.14 or the package backports.zstd."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._frame = module.ZstdDecompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            while data:
                if self._frame.eof:
                    self._frame = self._module.ZstdDecompressor()
                yield self._frame.decompress(data, _PIECE)
                while not self._frame.eof and not self._frame.needs_input:
                    yield self._frame.decompress(b"", _PIECE)
                data = self._frame.unused_data if self._frame.eof else b""
        except self._module.ZstdError as error:
            raise Damaged(str(error)) from error

    def whole(self) -> bool:
        return bool(self._frame.eof)


def _inflated(inflater: Any, data: bytes) -> Iterator[bytes]:
    try:
        piece = inflater.decompress(data, _PIECE)
        while piece:
            yield piece
            piece = inflater.decompress(inflater.unconsumed_tail, _PIECE)
    except zlib.error as error:
        raise Damaged(str(error)) from error


@cache
def _maker(name: str) -> Callable[[], _Decoder] | None:
    if name in ("gzip", "x-gzip"):
        return _Gzip
    if name == "deflate":
        return _Deflate
    if name == "br" and (module := _module("brotli", "brotlicffi")) is not None:
        return lambda: _Brotli(module)
    if name == "zstd" and (module := _module("compression.zstd", "backports.zstd")) is not None:
        return lambda: _Zstandard(module)
    return None


def _module(*names: str) -> Any:
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
