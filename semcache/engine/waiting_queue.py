"""The queue of waiting sequences, and the choice of the next.

Knows sequences, how much of each is cached, and the budgets of their tenants; not whether there is room. Invariant: no
sequence is passed over for good (see `fairness`), a request of many prompts takes turns with others as one, and a
prompt whose beginning is just being computed for another waits for that, instead of computing it a second time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest

from semcache.engine.fairness import TenantDeficits, WaitingRequest
from semcache.engine.job import Job
from semcache.engine.sequence import Sequence

_RANKED = 64  # of those that wait, so many are compared, the first of each request before others; the rest moves up
_PATIENCE = 32  # times that later arrivals may be preferred to one that has waited longer


class WaitingQueue:
    """Waiting sequences. `cached` returns how many tokens of a sequence are cached."""

    def __init__(self, deficits: TenantDeficits, *, block: int, cached: Callable[[Sequence], int]) -> None:
        self.deficits = deficits
        self._block, self._cached = block, cached
        self._waiting: list[Sequence] = []
        self._begun: Counter[tuple[str, str]] = Counter()  # prompts of requests of which others wait

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
        self._begun[sequence.job.group] -= 1

    def take(self, sequence: Sequence) -> None:
        """Remove the sequence that runs next."""
        self._waiting.remove(sequence)
        group = sequence.job.group
        for one in self._waiting:
            one.passed = 0 if one.job.group == group else one.passed + (one.order < sequence.order)
        self._begun[group] += 1
        self._forget()

    def drop(self, job_id: str) -> None:
        """Remove the sequences of a job."""
        self._waiting = [one for one in self._waiting if one.job.id != job_id]
        self._forget()

    def next(self, running: Iterable[Sequence]) -> Sequence | None:
        """The sequence to run next beside the running ones.

        None when none waits but for the computation of a running one.
        """
        underway = {key for one in running if one.done < one.prompt for key in one.block_keys()}
        ranked: dict[WaitingRequest, Sequence] = {}
        for turn, one in self._in_turn():
            cached, keys = self._cached(one), one.reusable()
            at = cached // self._block
            if at < len(keys) and keys[at] in underway:
                continue
            overdue = not turn and one.passed >= _PATIENCE
            ranked[WaitingRequest(one.job.tenant, one.order, cached, overdue, self._begun[one.job.group])] = one
        return ranked[self.deficits.rank(list(ranked))[0]] if ranked else None

    def before(self, job: Job) -> list[Sequence]:
        """The sequences that a new job would wait for: those of its own request, and the next of each other one."""
        seen: set[tuple[str, str]] = set()
        found = []
        for one in self._waiting:
            if one.job.group == job.group or one.job.group not in seen:
                seen.add(one.job.group)
                found.append(one)
        return found

    def counted(self, job: Job, most: int) -> int:
        """The length of the queue for a new job, where `most` may wait.

        A request may fill the queue for its own next prompts. For others its prompts count as one, until twice as many
        as may wait do.
        """
        groups = [one.job.group for one in self._waiting]
        own = groups.count(job.group)
        return own + max(len({*groups} - {job.group}), len(groups) - own - most)

    def _forget(self) -> None:
        left = {one.job.group for one in self._waiting}
        self._begun = Counter({group: count for group, count in self._begun.items() if group in left})

    def _in_turn(self) -> list[tuple[int, Sequence]]:
        """The sequences that are compared, each with its number among those of its request that wait."""
        requests: Counter[tuple[str, str]] = Counter()
        tenants: Counter[str] = Counter()
        found: list[tuple[int, int, int, Sequence]] = []
        for at, one in enumerate(self._waiting):
            group = one.job.group
            found.append((requests[group], tenants[one.job.tenant], at, one))
            requests[group] += 1
            tenants[one.job.tenant] += 1
        return [(turn, one) for turn, _, _, one in nsmallest(_RANKED, found, key=lambda one: one[:3])]
