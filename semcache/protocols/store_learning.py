"""The part of a store that learning uses: the label log, saved states, and the queue of comparisons to be judged.

Knows only the values of `types`. Invariant: a follower of the label log never sees a label after a later one, and a
judgement is held by one caller at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from semcache.types.evidence import Judgement, Label


class LabelStore(Protocol):
    """The label log, shared by all workers. Raises StoreError."""

    async def label(self, labels: Sequence[Label]) -> None:
        """Append to the label log, in this order; their `seq` is given here."""
        ...

    async def labels(self, since: int, *, limit: int = 1000) -> list[Label]:
        """Labels after `since`, by ascending `seq`, from any worker. None is ever seen after a later one was."""
        ...

    async def trim_labels(self, *, keep_rows: int) -> int:
        """Forget all but about the newest `keep_rows` labels; returns how many went."""
        ...


class SavedStates(Protocol):
    """Learned states by name, each with the `seq` of the last row of the log in it. Raises StoreError."""

    async def learned(self, name: str) -> tuple[int, bytes] | None:
        """The newest saved state of that name, and the `seq` of the last label in it; None when there is none."""
        ...

    async def learn(self, name: str, seq: int, state: bytes) -> None:
        """Save a state, unless a newer one is saved already."""
        ...


class JudgementQueue(Protocol):
    """Comparisons that a judge still owes, durable and shared by all workers. Raises StoreError."""

    async def enqueue(self, judgements: Sequence[Judgement]) -> None:
        """Put comparisons into the durable queue, where they stay until finished, whatever becomes of their entries."""
        ...

    async def claim(self, limit: int, *, now: float, lease: float) -> list[Judgement]:
        """Take the oldest comparisons that nobody holds; unless finished they are claimable again after `lease` s."""
        ...

    async def finish(self, ids: Sequence[int]) -> None:
        """Take comparisons out of the queue."""
        ...
