"""The queue of waiting sequences, and the choice of the next.

Knows sequences, how much of each is cached, and the budgets of their tenants; not whether there is room. Invariant: no
sequence is passed over for good (see `fairness`), and a prompt whose beginning is just being computed for another waits
for that, instead of computing it a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from semcache.engine.fairness import TenantDeficits, WaitingRequest
from semcache.engine.sequence import Sequence

_RANKED = 64  # of those that wait, the first so many are compared; the others move up
_PATIENCE = 32  # times that later arrivals may be preferred to one that has waited longer


class WaitingQueue:
    """Waiting sequences. `cached` returns how many tokens of a sequence are cached."""

    def __init__(self, deficits: TenantDeficits, *, block: int, cached: Callable[[Sequence], int]) -> None:
        self.deficits = deficits
        self._block, self._cached = block, cached
        self._waiting: list[Sequence] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Sequence]:
        return iter(self._waiting)

    def append(self, sequence: Sequence) -> None:
        """Add a sequence at the end."""
        self._waiting.append(sequence)

    def put_back(self, sequence: Sequence) -> None:
        """Add a preempted sequence at the front."""
        self._waiting.insert(0, sequence)

    def take(self, sequence: Sequence) -> None:
        """Remove the sequence that runs next."""
        self._waiting.remove(sequence)
        for one in self._waiting:
            one.passed += one.order < sequence.order

    def drop(self, job_id: str) -> None:
        """Remove the sequences of a job."""
        self._waiting = [one for one in self._waiting if one.job.id != job_id]

    def next(self, running: Iterable[Sequence]) -> Sequence | None:
        """The sequence to run next beside the running ones.

        None when none waits but for the computation of a running one.
        """
        underway = {key for one in running if one.done < one.prompt for key in one.block_keys()}
        ranked: dict[WaitingRequest, Sequence] = {}
        for one in self._waiting[:_RANKED]:
            cached, keys = self._cached(one), one.reusable()
            at = cached // self._block
            if at < len(keys) and keys[at] in underway:
                continue
            ranked[WaitingRequest(one.job.tenant, one.order, cached, one.passed >= _PATIENCE)] = one
        return ranked[self.deficits.rank(list(ranked))[0]] if ranked else None
