"""The synchronous class of a cache: the same methods for code without an event loop, which wait for their results.

Owns one thread with one loop and passes calls to it; knows nothing else of caching. Invariant: safe to call from any
thread; after `close` every call raises InvalidArgument, also calls that were waiting.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, Self, TypeVar

from semcache.cache.asynchronous import AsyncCache
from semcache.cache.found import Found
from semcache.errors import InvalidArgument
from semcache.types import Admission, Selector

_CLOSED = "this cache is closed: open it again with SemanticCache.open"
T = TypeVar("T")
C = TypeVar("C", bound=AsyncCache)


class BlockingCache(Generic[C]):
    """A cache of kind `C` in a thread of its own. `opening` opens it there; what that raises is raised here."""

    def __init__(self, opening: Coroutine[Any, Any, C]) -> None:
        if not asyncio.iscoroutine(opening):
            raise InvalidArgument("a cache is opened by `SemanticCache.open(folder)`, not by its class")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="semcache", daemon=True)
        self._cache: C | None = None
        self._gate = threading.Lock()
        self._thread.start()
        try:
            self._cache = asyncio.run_coroutine_threadsafe(opening, self._loop).result()
        except BaseException:
            self._stop()
            raise

    @property
    def inner(self) -> C:
        """The cache behind this class, to be used only in its own loop. Raises InvalidArgument after `close`."""
        if self._cache is None:
            raise InvalidArgument(_CLOSED)
        return self._cache

    def lookup(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "",
        category: str | None = None,
        model: str = "default",
        **params: Any,
    ) -> Found:
        """Look up a prompt, or a chat as a list of messages; `params` are further fields of a chat request.

        Ask the model yourself when `answer` is None, and give its answer to `record`. Raises InvalidArgument.
        """
        return self.run(
            self.inner.lookup(
                prompt, tenant=tenant, user=user, namespace=namespace, category=category, model=model, **params
            )
        )

    def record(self, found: Found, answer: str | Mapping[str, Any]) -> Admission:
        """Give the cache the model's answer: its text, or the whole chat completion as a dict.

        It is stored if the policy admits it, and compared with the answer that was served, or not served.
        """
        return self.run(self.inner.record(found, answer))

    def explain(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "",
        category: str | None = None,
        model: str = "default",
        **params: Any,
    ) -> dict[str, Any]:
        """Say what would become of a prompt now, and why, as JSON has it; nothing is served, counted or learned."""
        return self.run(
            self.inner.explain(
                prompt, tenant=tenant, user=user, namespace=namespace, category=category, model=model, **params
            )
        )

    def withdraw(self, entry_id: str | None, *, tenant: str | None = None) -> bool:
        """Take back the reports that an answer was wrong; False when there is none (of that tenant)."""
        return self.run(self.inner.withdraw(entry_id, tenant=tenant))

    def feedback(self, entry_id: str | None, *, correct: bool, tenant: str | None = None) -> bool:
        """Say that a served answer was right or wrong; False if there is no such entry (of that tenant).

        A wrong one is never served again to the requests it was served to. Raises InvalidArgument and StoreError.
        """
        return self.run(self.inner.feedback(entry_id, correct=correct, tenant=tenant))

    def invalidate(self, where: Selector, *, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids; with `dry_run` only return them.

        Raises StoreError, and InvalidArgument for what is no Selector.
        """
        return self.run(self.inner.invalidate(where, dry_run=dry_run))

    def stats(self) -> dict[str, Any]:
        """Requests, hits and savings by category."""
        return self.run(self.inner.stats())

    def settle(self) -> None:
        """Wait until background judging and learning are done and every outcome is written."""
        self.run(self.inner.settle())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the cache's loop and wait for it. Raises InvalidArgument after `close`."""
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidArgument("a blocking call from inside the cache's own loop would wait for itself for ever")
        try:
            return self.submit(work).result()
        except CancelledError as error:
            if self._cache is not None:
                raise
            raise InvalidArgument(_CLOSED) from error

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the cache's loop, until `close` cancels it.

        Raises InvalidArgument after `close`, and after a fork, which the cache's thread does not survive.
        """
        if self._cache is not None and not self._thread.is_alive():
            work.close()
            raise InvalidArgument("this cache was opened before a fork: open it anew in this process")
        with self._gate:
            if self._cache is not None:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise InvalidArgument(_CLOSED)

    def close(self) -> None:
        """Finish background work and release everything. Closing twice is allowed, and does nothing after a fork."""
        if threading.current_thread() is self._thread:
            raise InvalidArgument("a cache cannot be closed from inside its own loop, which it would wait for for ever")
        with self._gate:
            cache, self._cache = self._cache, None
        if cache is not None and self._thread.is_alive():
            try:
                asyncio.run_coroutine_threadsafe(cache.close(), self._loop).result()
            finally:
                self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _stop(self) -> None:
        # Other threads wait for what they submitted before.
        asyncio.run_coroutine_threadsafe(_cancel_rest(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_rest() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
