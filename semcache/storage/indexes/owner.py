"""The one thread that owns a partitioned index, and the asynchronous face of it.

Calls run in the order in which they arrive. When there is none, the thread builds graphs a slice at a time. hnswlib
answers silently wrong when it is read during an insert, so whoever touches the index holds one lock: the thread for
every call and slice, and the event loop for a search that it can do at once, because a hop to the thread and back
costs more than the search. Such a search may overtake a change whose caller is still waiting, never one that is done.
Invariant: no two threads are ever inside the index; a failure fails its own call only.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, cast

from semcache.errors import IndexFault, SemcacheError
from semcache.storage.indexes import snapshot as disk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from semcache.storage.indexes.flat import Ids
    from semcache.storage.indexes.partitions import PartitionedIndex
    from semcache.types import Matrix, Neighbour, Vector

T = TypeVar("T")

SLICE = 8  # vectors put into a graph at a time: about 2 ms that a call may have to wait
TOGETHER = 16  # finished calls that are handed back with one wake-up of the event loop


@dataclass(eq=False, slots=True)
class _Call:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class IndexOwner:
    """Owns `index` from now on: nobody else may touch it until `close` has returned."""

    def __init__(self, index: PartitionedIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Call | None] = SimpleQueue()
        self._closed = False
        self._fault: str | None = None
        self._thread = threading.Thread(target=self._work, name="semcache-index", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def building(self) -> int:
        """Vectors that graphs under construction still lack; searches are exact and slower until it is 0."""
        with self._lock:
            return self._index.building

    @property
    def fault(self) -> str | None:
        """The reason why the last graph could not be built, for the readiness report; exact search goes on."""
        return self._fault

    async def search(self, partition: bytes, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours within the partition, best first. Raises IndexFault."""
        found = self.search_now([partition], vector, k)
        return await self.search_all([partition], vector, k) if found is None else found

    def search_now(self, partitions: Sequence[bytes], vector: Vector, k: int) -> list[Neighbour] | None:
        """Search as `search_all` does, but at once; None when the owner is busy or the search would take long."""
        if self._closed or not self._queue.empty() or not self._lock.acquire(blocking=False):
            return None
        try:
            if all(map(self._index.quick, partitions)):
                return self._index.search_all(partitions, vector, k)
        finally:
            self._lock.release()
        return None

    async def search_all(self, partitions: Sequence[bytes], vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours within several partitions, best first. Raises IndexFault."""
        return await self._run(lambda: self._index.search_all(partitions, vector, k))

    async def add(self, partition: bytes, id: int, vector: Vector) -> None:
        """Insert or replace; on return every search sees it. Raises IndexFault."""
        await self._run(lambda: self._index.add(partition, id, vector))

    async def bulk_add(self, partition: bytes, ids: Sequence[int] | Ids, matrix: Matrix) -> None:
        """Add many at once; on return every search sees them. Raises IndexFault and adds none."""
        await self._run(lambda: self._index.bulk_add(partition, ids, matrix))

    async def remove(self, *ids: int) -> None:
        """Forget `ids`; unknown ones are ignored."""

        def work() -> None:
            for entry_id in ids:
                self._index.remove(entry_id)

        await self._run(work)

    async def partitions(self) -> dict[bytes, int]:
        """Entries per partition."""
        return await self._run(self._index.partitions)

    async def bytes_used(self) -> int:
        """Estimated bytes in memory."""
        return await self._run(self._index.bytes_used)

    async def snapshot(self, folder: Path, *, embedder_id: str, head: int) -> None:
        """Write the index to `folder`; `head` is the last change it reflects. Raises IndexFault.

        Searches wait while the content is copied out, not while it is made durable.
        """
        staged = await self._run(lambda: disk.stage(self._index, folder, embedder_id=embedder_id, head=head))
        await asyncio.to_thread(disk.commit, staged)

    async def settle(self) -> None:
        """Return when every graph under construction is finished."""
        while await self._run(lambda: self._index.step(SLICE)):
            continue

    async def close(self) -> None:
        """Finish the calls that wait, stop the thread and give up graphs under construction."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise IndexFault("the index was closed")
        loop = asyncio.get_running_loop()
        call = _Call(work, loop, loop.create_future())
        self._queue.put(call)
        return cast("T", await call.future)

    def _work(self) -> None:
        finished: list[_Call] = []
        building, since = True, 0
        while True:
            if building and (self._queue.empty() or since >= TOGETHER):
                _deliver(finished)
                building, since = self._step(), 0
            try:
                call = self._queue.get_nowait()
            except Empty:
                _deliver(finished)
                if building:
                    continue
                call = self._queue.get()
            if call is None:
                break
            with self._lock:
                self._perform(call)
            building, since = True, since + 1
            finished.append(call)
            if len(finished) >= TOGETHER:
                _deliver(finished)
        self._refuse_rest(finished)

    def _perform(self, call: _Call) -> None:
        try:
            call.result = call.work()
        except SemcacheError as error:
            call.error = error
        except Exception as error:  # a bug or a full memory must not end the thread that owns the index
            call.error = IndexFault(f"the index failed: {error!r}")
            call.error.__cause__ = error

    def _step(self) -> bool:
        with self._lock:
            try:
                return self._index.step(SLICE)
            except Exception as error:  # most likely out of memory: the flat index can go on
                self._fault = f"a graph could not be built: {error!r}"
                self._index.abandon()
                return False

    def _refuse_rest(self, finished: list[_Call]) -> None:
        """Answer what was queued by another event loop while this one closed the index."""
        while True:
            try:
                call = self._queue.get_nowait()
            except Empty:
                break
            if call is not None:
                call.error = IndexFault("the index was closed")
                finished.append(call)
        _deliver(finished)


def _deliver(finished: list[_Call]) -> None:
    """Hand results to the event loops that wait for them, waking each loop once, and empty the list."""
    for loop in {call.loop for call in finished}:
        try:
            loop.call_soon_threadsafe(_settle, [call for call in finished if call.loop is loop])
        except RuntimeError:  # that loop has been closed, and its callers with it
            continue
    finished.clear()


def _settle(calls: list[_Call]) -> None:
    for call in calls:
        if call.future.done():
            continue
        if call.error is not None:
            call.future.set_exception(call.error)
        else:
            call.future.set_result(call.result)
