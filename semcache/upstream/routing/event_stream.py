"""KV events over ZeroMQ: what a vLLM or SGLang server, or the local engine, says its cache holds, as it changes.

Knows sockets and the frames of the publisher: (topic, number of 8 bytes, batch), and for a replay ("", number) answered
by ("", topic, number, batch), by some releases without the topic, up to number -1. What events mean is in `routing`.
Needs pyzmq, the extra `routing`.
Invariant: nothing that arrives ends the task; what is missing or cannot be read, or a lost connection, costs belief in
what the server holds, never a request.

Events carry token ids and salts in clear: the server should publish on loopback or a private network.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from semcache.errors import ConfigError
from semcache.upstream.routing.block_ledger import BatchResult, BlockLedger
from semcache.upstream.routing.kv_events import MalformedKvEvent, decode

if TYPE_CHECKING:
    from zmq.asyncio import Context, Socket

_END = -1
_MAX_MESSAGE = 64 << 20
_SCHEMES = ("tcp://", "ipc://", "inproc://")
_log = logging.getLogger(__name__)


class KvEvents:
    """Follows the publisher at `endpoint` (`tcp://host:5557`) and keeps `ledger` after it.

    `replay` is the endpoint that sends again what was missed; without one, a gap means to start from nothing.
    `patience` is how long a replay may be silent, in seconds; `note` is called with "malformed", "gap" or "fault".
    Raises ConfigError for an endpoint it cannot use, or without pyzmq.
    """

    def __init__(
        self,
        endpoint: str,
        ledger: BlockLedger,
        *,
        replay: str | None = None,
        patience: float = 5.0,
        note: Callable[[str], object] = lambda _: None,
    ) -> None:
        for given in filter(None, (endpoint, replay)):
            if not given.startswith(_SCHEMES):
                raise ConfigError(f"KV events endpoint {given!r} must start with one of {', '.join(_SCHEMES)}")
        if find_spec("zmq") is None:
            raise ConfigError("KV events need pyzmq: pip install 'semcache-llm[routing]'")
        self._endpoint, self._replay = endpoint, replay
        self._ledger = ledger
        self._patience = patience
        self._note = note
        self._unread = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Follow from now on; needs a running loop. Once started, further calls do nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._follow(), name="semcache-kv-events")

    async def close(self) -> None:
        """Follow no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _follow(self) -> None:
        import zmq
        from zmq.asyncio import Context

        context = Context()
        try:
            while True:
                try:
                    await self._listen(context)
                except (zmq.ZMQError, OSError) as error:
                    _log.warning("KV events of %s: %s", self._endpoint, error)
                    self._note("fault")
                    self._ledger.restart()
                    await asyncio.sleep(1.0)
        finally:
            context.destroy(linger=0)

    async def _listen(self, context: Context) -> None:
        import zmq
        from zmq.asyncio import Poller

        with context.socket(zmq.SUB) as socket, socket.get_monitor_socket(zmq.EVENT_DISCONNECTED) as cut:
            socket.setsockopt(zmq.MAXMSGSIZE, _MAX_MESSAGE)
            socket.setsockopt(zmq.SUBSCRIBE, b"")
            socket.connect(self._endpoint)
            poller = Poller()
            poller.register(socket, zmq.POLLIN)
            poller.register(cut, zmq.POLLIN)
            try:
                while True:
                    ready = dict(await poller.poll())
                    # What was sent before the connection was lost is read before that is noted.
                    if socket in ready:
                        await self._heed(context, await socket.recv_multipart())
                    elif cut in ready:
                        await cut.recv_multipart()
                        self._ledger.restart()
            finally:
                socket.disable_monitor()

    async def _heed(self, context: Context, frames: list[bytes]) -> None:
        if len(frames) != 3 or len(frames[1]) != 8:
            self._note("malformed")
            return
        number = int.from_bytes(frames[1], "big")
        if self._take(number, frames[2]) is BatchResult.GAP:
            self._note("gap")
            await self._catch_up(context, number)
            if self._take(number, frames[2]) is BatchResult.GAP:
                self._ledger.restart(number)
                self._take(number, frames[2])

    def _take(self, number: int, payload: bytes) -> BatchResult:
        try:
            return self._ledger.take(number, decode(payload))
        except MalformedKvEvent as error:
            self._unread += 1
            if str(self._unread).strip("0") == "1":  # 1, 10, 100: a server that speaks otherwise does so all day
                told = "KV events of %s, batch %d, %d so far that cannot be read: %s"
                _log.warning(told, self._endpoint, number, self._unread, error)
            self._note("malformed")
            self._ledger.restart(number + 1)
            return BatchResult.OLD

    async def _catch_up(self, context: Context, before: int) -> None:
        """Ask for what is missing before a batch; what is no longer kept there stays missing."""
        import zmq

        if self._replay is None:
            return
        with context.socket(zmq.DEALER) as socket:
            socket.setsockopt(zmq.MAXMSGSIZE, _MAX_MESSAGE)
            socket.connect(self._replay)
            await socket.send_multipart([b"", (self._ledger.expected or 0).to_bytes(8, "big")])
            try:
                async with asyncio.timeout(None) as limit:
                    await self._replayed(socket, before, limit)
            except TimeoutError:
                self._note("fault")

    async def _replayed(self, socket: Socket, before: int, limit: Any) -> None:
        loop = asyncio.get_running_loop()
        while True:
            limit.reschedule(loop.time() + self._patience)
            frames: list[bytes] = await socket.recv_multipart()
            if len(frames) not in (3, 4) or len(frames[-2]) != 8:
                self._note("malformed")
                return
            number = int.from_bytes(frames[-2], "big", signed=True)
            if number == _END:
                return
            if number < before and self._take(number, frames[-1]) is BatchResult.GAP:
                self._ledger.restart(number)
                self._take(number, frames[-1])
