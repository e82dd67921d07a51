"""Batching: an encoder in one thread of its own, for which what arrives while it is busy is one batch of each scope.

An idle encoder starts at once. Texts that are equal within a batch are encoded once. What the encoder remembers of a
text, such as the words that its slips were meant for, is remembered for the scope of the request that brought it.
Knows nothing of models; `Encoder` is all it asks for.
Invariant: every call gets exactly its own rows or an EmbedError; neither a caller that gave up nor a text that
cannot be encoded harms another caller.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from semcache.errors import EmbedError, InvalidArgument
from semcache.models.embedders.wrapper import EmbedderWrapper
from semcache.protocols import Embedder
from semcache.runtime import scoped_memo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix


class Encoder(Embedder, Protocol):
    """An embedder whose work can be done in the calling thread."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised. Raises EmbedError."""
        ...


@dataclass(eq=False, slots=True)
class _EmbedCall:
    texts: Sequence[str]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Matrix]
    scope: str
    context: Context


class BatchingEmbedder(EmbedderWrapper[Encoder]):
    """An embedder that queues calls for one thread. `max_batch` and `max_queue` count texts; owns `inner`."""

    def __init__(self, inner: Encoder, *, max_batch: int = 32, max_queue: int = 1024) -> None:
        if not 1 <= max_batch <= max_queue:
            raise InvalidArgument(f"max_batch {max_batch} must be between 1 and max_queue {max_queue}")
        super().__init__(inner)
        self._max_batch, self._max_queue = max_batch, max_queue
        self._wake = threading.Condition()
        self._queue: deque[_EmbedCall] = deque()
        self._queued = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return the rows of `texts`. Raises EmbedError, also when more than `max_queue` texts are waiting.

        A call with more than `max_batch` texts takes its turns among the others, one batch at a time.
        """
        if len(texts) <= self._max_batch:
            return await self._submit(texts)
        slices = [texts[start : start + self._max_batch] for start in range(0, len(texts), self._max_batch)]
        return np.concatenate([await self._submit(part) for part in slices])

    async def close(self) -> None:
        """Stop the thread after its current batch; calls that still wait get an EmbedError."""
        with self._wake:
            self._closed = True
            left, self._queue = list(self._queue), deque()
            self._queued = 0
            self._wake.notify()
        _deliver([(call, EmbedError("the embedder was closed")) for call in left])
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        await self._inner.close()

    async def _submit(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dim), np.float32)
        loop = asyncio.get_running_loop()
        call = _EmbedCall(texts, loop, loop.create_future(), scoped_memo.current(), copy_context())
        with self._wake:
            if self._closed:
                raise EmbedError("the embedder was closed")
            if self._queued + len(texts) > self._max_queue:
                raise EmbedError(f"{self._queued} texts wait for the embedder already; max_queue is {self._max_queue}")
            self._queue.append(call)
            self._queued += len(texts)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="semcache-embed", daemon=True)
                self._thread.start()
            self._wake.notify()
        return await call.future

    def _work(self) -> None:
        while calls := self._take():
            by_scope: dict[str, list[_EmbedCall]] = {}
            for call in calls:
                by_scope.setdefault(call.scope, []).append(call)
            for some in by_scope.values():
                _deliver(self._answer(some))

    def _take(self) -> list[_EmbedCall]:
        """Wait for calls and return as many as fit into a batch; none when closed."""
        with self._wake:
            while True:
                calls: list[_EmbedCall] = []
                room = self._max_batch
                while self._queue and len(self._queue[0].texts) <= room:
                    call = self._queue.popleft()
                    self._queued -= len(call.texts)
                    if not call.future.cancelled():
                        calls.append(call)
                        room -= len(call.texts)
                if calls or self._closed:
                    return calls
                self._wake.wait()

    def _answer(self, calls: list[_EmbedCall]) -> list[tuple[_EmbedCall, Matrix | EmbedError]]:
        """The rows of some calls of one scope."""
        rows: dict[str, int] = {}
        for call in calls:
            for text in call.texts:
                rows.setdefault(text, len(rows))
        try:
            matrix = calls[0].context.run(self._encode, list(rows))
        except EmbedError as error:
            if len(calls) == 1:
                return [(calls[0], error)]
            return [answer for call in calls for answer in self._answer([call])]
        return [(call, matrix[[rows[text] for text in call.texts]]) for call in calls]

    def _encode(self, texts: list[str]) -> Matrix:
        try:
            matrix = self._inner.encode(texts)
        except EmbedError:
            raise
        except Exception as error:  # a plug-in's bug must not end the thread that everybody waits for
            raise EmbedError(f"the embedder {self.id} failed: {error!r}") from error
        if matrix.shape != (len(texts), self.dim):
            raise EmbedError(f"the embedder {self.id} returned {matrix.shape}, not {(len(texts), self.dim)}")
        return matrix


def _deliver(answers: Sequence[tuple[_EmbedCall, Matrix | EmbedError]]) -> None:
    """Hand results to the event loops that wait for them, waking each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_EmbedCall, Matrix | EmbedError]]] = {}
    for call, result in answers:
        by_loop.setdefault(call.loop, []).append((call, result))
    for loop, results in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, results)
        except RuntimeError:  # that loop has been closed, and its callers with it
            continue


def _settle(results: Sequence[tuple[_EmbedCall, Matrix | EmbedError]]) -> None:
    for call, result in results:
        if call.future.done():
            continue
        if isinstance(result, EmbedError):
            call.future.set_exception(result)
        else:
            call.future.set_result(result)
