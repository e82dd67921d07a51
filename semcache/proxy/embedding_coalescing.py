"""Coalescing of embedding calls: the calls in flight, the inputs of each, and the requests that wait for it.

Knows digests of inputs and the result of a call, nothing of bodies or headers. Invariant: a call is cancelled when the
last request that waits for it leaves before it has ended, and never before; nobody joins a call that is being
cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from semcache.types import Usage

InputName: TypeAlias = tuple[bytes, str]  # its key's digest and its category


@dataclass(frozen=True, slots=True)
class EmbeddingsResult:
    """The result of a call: the reply, and its items.

    `items` are in the order of the inputs, with their `shares` of the tokens; None where the reply is no answer.
    `stored` says that all of them were kept.
    """

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    items: Sequence[bytes] | None = None
    shares: Sequence[Usage] = ()
    usage: Usage = field(default_factory=Usage)
    stored: bool = False


class EmbeddingsCall:
    """A call in flight; a request waits for it by entering it."""

    def __init__(self, work: Coroutine[Any, Any, EmbeddingsResult]) -> None:
        self.abandoned = False
        self._waiting = 0
        self._task = asyncio.create_task(work, name="semcache-embeddings")
        # What breaks as the last one leaves is nobody's to hear.
        self.when_done(lambda: self._task.cancelled() or self._task.exception())

    def when_done(self, then: Callable[[], object]) -> None:
        """Have this called once the call has ended, failed or been cancelled."""
        self._task.add_done_callback(lambda _: then())

    async def result(self) -> EmbeddingsResult:
        """Wait for the result. Raises the exception that ended the call."""
        return await asyncio.shield(self._task)

    @property
    def landed(self) -> EmbeddingsResult | None:
        """The result of a call that has ended; None while it is in flight, and where it broke or was cancelled."""
        task = self._task
        return task.result() if task.done() and not task.cancelled() and task.exception() is None else None

    def __enter__(self) -> EmbeddingsCall:
        self._waiting += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self._waiting -= 1
        if self._waiting == 0 and not self._task.done():
            self.abandoned = True
            self._task.cancel()


class ItemInFlight(NamedTuple):
    """An item that is being asked for: the call, and its place among the items of the result."""

    call: EmbeddingsCall
    place: int


class EmbeddingsCalls:
    """The calls in flight that may be joined, by the name of an input."""

    def __init__(self) -> None:
        self._by_input: dict[InputName, ItemInFlight] = {}

    def in_flight(self, name: InputName) -> ItemInFlight | None:
        """Return what is asked for in a call that may be joined; None where there is none to join."""
        found = self._by_input.get(name)
        return None if found is None or found.call.abandoned else found

    def begin(self, work: Coroutine[Any, Any, EmbeddingsResult], names: Sequence[InputName | None]) -> EmbeddingsCall:
        """Start a call for inputs of these names; an input whose name is None cannot be joined."""
        call = EmbeddingsCall(work)
        ours = {name: ItemInFlight(call, place) for place, name in enumerate(names) if name is not None}
        self._by_input |= ours
        call.when_done(lambda: self._remove(ours))
        return call

    def _remove(self, ours: Mapping[InputName, ItemInFlight]) -> None:
        for name, item in ours.items():
            # Another call may have taken its place, once this one was abandoned.
            if self._by_input.get(name) is item:
                del self._by_input[name]

    def __len__(self) -> int:
        return len(self._by_input)
