"""A publisher of KV events over ZeroMQ, as vLLM has one: numbered batches, and a second socket that sends them again.

A message is (topic, number of 8 bytes, batch). A request for a replay is ("", first number), answered by ("", topic,
number, batch) for each batch that is kept, and by number -1 at the end. The first batch of a process says that nothing
is cached, and whoever subscribes is sent the latest one again: its number and time tell a router that came late, or
that knew an earlier process, that it has to ask for the rest. A thread of its own owns the sockets. Needs pyzmq, the
extra `routing`. Invariant: numbers follow one another from 0; nothing that a subscriber does or leaves undone holds up
the engine.

Events carry token ids and salts in clear: publish on loopback or a private network.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from semcache.engine.block_changes import AllBlocksLeft, BlockChange, encode
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from zmq import Context, Socket

_log = logging.getLogger(__name__)
_TOPIC = b""
_END = -1
_KEPT = 10_000  # batches, as vLLM keeps unless told otherwise
_NUMBER_BYTES = 8
_QUEUED = 100_000  # messages that wait for one subscriber, as with vLLM; more are dropped, and missed by their numbers
_LARGEST_REQUEST = 1 << 16
_SCHEMES = ("tcp://", "ipc://", "inproc://")


class KvPublisher:
    """Publishes on `events`, and sends again what was missed on `replay` where it is given; both are ZeroMQ endpoints.

    `clock` gives Unix seconds, `kept` is how many batches can be sent again. Raises ConfigError for an endpoint that
    cannot be bound, or without pyzmq.
    """

    def __init__(self, events: str, replay: str | None, *, clock: Callable[[], float], kept: int = _KEPT) -> None:
        try:
            import zmq
        except ImportError as error:
            raise ConfigError("KV events need pyzmq: pip install 'semcache-llm[routing]'") from error
        self._clock = clock
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=kept)
        self._number = 0
        self._noted: list[BlockChange] = []
        self._queue: queue.SimpleQueue[Sequence[BlockChange] | None] = queue.SimpleQueue()
        self._context: Context[Any] = zmq.Context()
        self._wake, self._woken = self._context.socket(zmq.PAIR), self._context.socket(zmq.PAIR)
        self._wake.bind("inproc://wake")
        self._woken.connect("inproc://wake")
        self._events, self._replay = self._context.socket(zmq.XPUB), self._context.socket(zmq.ROUTER)
        self._events.setsockopt(zmq.XPUB_VERBOSE, 1)  # each subscriber is met, not only the first
        try:
            _bind(self._events, events)
            if replay is not None:
                _bind(self._replay, replay)
        except ConfigError:
            self._context.destroy(linger=0)
            raise
        self._send((AllBlocksLeft(),))
        self._thread = threading.Thread(target=self._work, name="semcache-engine-events", daemon=True)
        self._thread.start()

    def note(self, change: BlockChange) -> None:
        """Note a change for the next batch. This and `flush` are to be called by one thread at a time."""
        self._noted.append(change)

    def flush(self) -> None:
        """Publish the noted changes, soon, as one batch."""
        noted, self._noted = self._noted, []
        if noted and self._thread.is_alive():
            self._queue.put(noted)
            self._ring()

    def close(self) -> None:
        """Publish what waits, and end the thread. Idempotent."""
        if not self._context.closed:
            self._queue.put(None)
            self._ring()
            self._thread.join()
            self._context.destroy(linger=1000)

    def _ring(self) -> None:
        import zmq

        with suppress(zmq.Again):  # it was rung often enough, or the thread has ended
            self._wake.send(b"", zmq.NOBLOCK)

    def _work(self) -> None:
        import zmq

        poller = zmq.Poller()
        for socket in (self._woken, self._events, self._replay):
            poller.register(socket, zmq.POLLIN)
        try:
            while self._send_waiting():
                ready = dict(poller.poll())
                if self._woken in ready:
                    self._woken.recv()
                    continue  # what waits to be sent goes first, so that a replay holds it
                if self._events in ready and self._events.recv()[:1] == b"\x01":
                    self._events.send_multipart(self._message(*self._kept[-1]))
                if self._replay in ready:
                    self._send_again(self._replay.recv_multipart())
        except zmq.ZMQError:
            _log.exception("KV events are published no longer")

    def _send_waiting(self) -> bool:
        """Send the batches that wait; returns False once the publisher was closed."""
        while True:
            try:
                changes = self._queue.get_nowait()
            except queue.Empty:
                return True
            if changes is None:
                return False
            self._send(changes)

    def _send(self, changes: Sequence[BlockChange]) -> None:
        self._kept.append((self._number, encode(self._clock(), changes)))
        self._number += 1
        self._events.send_multipart(self._message(*self._kept[-1]))

    def _send_again(self, frames: list[bytes]) -> None:
        if len(frames) != 3 or frames[1] or len(frames[2]) != _NUMBER_BYTES:
            return
        first = int.from_bytes(frames[2], "big")
        for number, payload in (*self._kept, (_END, b"")):
            if number >= first or number == _END:
                self._replay.send_multipart([frames[0], b"", *self._message(number, payload)])

    @staticmethod
    def _message(number: int, payload: bytes) -> list[bytes]:
        return [_TOPIC, number.to_bytes(_NUMBER_BYTES, "big", signed=True), payload]


def _bind(socket: Socket[Any], endpoint: str) -> None:
    import zmq

    if not endpoint.startswith(_SCHEMES):
        raise ConfigError(f"KV events endpoint {endpoint!r} must start with one of {', '.join(_SCHEMES)}")
    socket.setsockopt(zmq.SNDHWM, _QUEUED)
    socket.setsockopt(zmq.MAXMSGSIZE, _LARGEST_REQUEST)
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        raise ConfigError(f"KV events cannot be published on {endpoint!r}: {error}") from error
