"""Attacks that are about connections, not about one body: large bodies without a key, slow senders, clients that do
not read, headers and trailers without end.

Invariant: every socket that an attack opens is closed when it ends.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from eval.stalls.shapes import chat


class Target:
    """The proxy under attack, and a key that it knows."""

    def __init__(self, host: str, port: int, key: str) -> None:
        self.host, self.port, self.key = host, port, key

    def connect(self) -> socket.socket:
        """Return a connection."""
        return socket.create_connection((self.host, self.port), 10)

    def head(self, length: int | str, *, key: str | None = None, extra: str = "") -> bytes:
        """Return a request head whose body has this length, or is "chunked"."""
        framing = "transfer-encoding: chunked" if length == "chunked" else f"content-length: {length}"
        shown = f"authorization: Bearer {key}\r\n" if key else ""
        return (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: {self.host}\r\ncontent-type: application/json\r\n"
            f"{shown}{extra}{framing}\r\n\r\n"
        ).encode()


def strangers(target: Target) -> str:
    """Forty connections without a key send 19 MB each."""
    return _many(target, 40, target.head(19 << 20), b"x" * (19 << 20))


def unfinished(target: Target) -> str:
    """Forty connections with a key send 19 MB each but for the last byte, and stay."""
    return _many(target, 40, target.head(19 << 20, key=target.key), b" " * ((19 << 20) - 1), stay=3.0)


def one_header(target: Target) -> str:
    """One header of 77 MB."""
    return _many(target, 1, target.head(2)[:-2] + b"x-long: ", b"a" * (77 << 20))


def many_headers(target: Target) -> str:
    """A million headers."""
    return _many(target, 1, target.head(2)[:-2], b"x-a: b\r\n" * 1_000_000)


def long_url(target: Target) -> str:
    """A path of 20 MB."""
    return _many(target, 1, b"GET /", b"a" * (20 << 20))


def trailers(target: Target) -> str:
    """Trailers of 20 MB."""
    body = chat("hello trailers")
    framed = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    return _many(target, 1, target.head("chunked", key=target.key) + framed, b"x-a: b\r\n" * (20 << 17))


def tiny_chunks(target: Target) -> str:
    """A body of a million chunks of one byte."""
    return _many(target, 1, target.head("chunked", key=target.key), b"1\r\n \r\n" * 1_000_000)


def slow_heads(target: Target) -> str:
    """Ninety connections that send a head byte by byte."""
    return _slow(target, b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ")


def slow_bodies(target: Target) -> str:
    """Ninety connections that send a body byte by byte."""
    return _slow(target, target.head(1000, key=target.key))


def deaf(target: Target) -> str:
    """Forty clients ask for half a megabyte as a stream and read none of it."""
    body = chat("tell me", stream=True)
    with ExitStack() as opened:
        for number in range(40):
            connection = opened.enter_context(target.connect())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            asked = body.replace(b"tell me", b"tell me %d" % number)
            with suppress(OSError):
                connection.sendall(target.head(len(asked), key=target.key) + asked)
        time.sleep(3.0)
    return "stayed 3 s"


def pipelined(target: Target) -> str:
    """Twenty thousand requests at once on one connection."""
    body = json.dumps({"model": "echo", "messages": [{"role": "user", "content": "pipelined"}]}).encode()
    return _many(target, 1, b"", (target.head(len(body), key=target.key) + body) * 20_000, stay=1.0)


def flood(target: Target) -> str:
    """Twelve hundred connections that send nothing."""
    with ExitStack() as opened:
        count = 0
        for _ in range(1200):
            with suppress(OSError):
                opened.enter_context(socket.create_connection((target.host, target.port), 1))
                count += 1
        time.sleep(1.0)
    return f"{count} opened"


def _many(target: Target, count: int, head: bytes, rest: bytes, *, stay: float = 0.0) -> str:
    """Send the same from several connections, each in a thread; return what became of them."""
    fates: list[str] = []

    def send() -> None:
        try:
            with target.connect() as connection:
                connection.sendall(head)
                connection.sendall(rest)
                if stay:
                    time.sleep(stay)
                    fates.append("stayed")
                    return
                connection.settimeout(5)
                fates.append(connection.recv(64).split(b"\r\n")[0].decode("latin-1")[9:12] or "closed")
        except TimeoutError:
            fates.append("silent")
        except OSError:
            fates.append("cut")

    threads = [threading.Thread(target=send, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return ", ".join(f"{fates.count(fate)} {fate}" for fate in sorted(set(fates)))


def _slow(target: Target, start: bytes) -> str:
    with ExitStack() as opened:
        connections = [opened.enter_context(target.connect()) for _ in range(90)]
        for connection in connections:
            connection.sendall(start)
        for _ in range(6):
            time.sleep(0.5)
            for connection in connections:
                with suppress(OSError):
                    connection.sendall(b"a")
    return "90 for 3 s"


ATTACKS: dict[str, Callable[[Target], str]] = {
    "strangers": strangers, "unfinished": unfinished, "one-header": one_header, "many-headers": many_headers,
    "long-url": long_url, "trailers": trailers, "tiny-chunks": tiny_chunks, "slow-heads": slow_heads,
    "slow-bodies": slow_bodies, "deaf": deaf, "pipelined": pipelined, "flood": flood,
}  # fmt: skip
