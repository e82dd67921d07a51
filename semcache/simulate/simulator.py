"""The simulator: one arrival after another through the tiers of the cache, in virtual time.

Knows no embedder, store or clock. Invariant: an arrival is decided from earlier arrivals alone, by the functions that
decide in the live cache; the truth of its answer is read only after the decision.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from semcache.config.packs import Pack
from semcache.errors import InvalidArgument
from semcache.matching import decide, guards
from semcache.protocols import Freshness, Threshold
from semcache.request import keys
from semcache.retention.eviction import POLICIES, Policy, shared_capacity
from semcache.simulate.arrivals import Arrival, SimulationStep
from semcache.simulate.simulated_index import Places, SimulatedIndex
from semcache.simulate.simulated_judge import PendingDecision, SimulatedJudge, SimulatedTiers
from semcache.simulate.simulated_verdicts import SimulatedVerdicts, VerdictAsking
from semcache.simulate.simulated_wordings import SimulatedWordings
from semcache.simulate.simulation_result import SimulationResult, gather
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import (
    Candidate,
    Card,
    Controls,
    Endpoint,
    Forward,
    Outcome,
    Request,
    Serve,
    Verify,
    Why,
)

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector

_BLOCK = 128
_SALT = b"simulation"
_CONTROLS = Controls()


@dataclass(frozen=True, slots=True)
class Experiment:
    """The differences of a simulation from the live cache.

    `insertion` is "always" (every fresh answer is stored under its own key) or "when-wrong" (only if no candidate that
    was compared had the answer already, as in vCache). `neighbours` is how many candidates a lookup compares.
    `judge_noise` is the probability that a label is flipped, never the truth. Without `wording` there is no wording
    tier, so that strategies are compared by meaning alone. Raises InvalidArgument for values out of range.
    """

    insertion: Literal["always", "when-wrong"] = "always"
    neighbours: int = 8
    judge_noise: float = 0.0
    wording: bool = False

    def __post_init__(self) -> None:
        if self.insertion not in ("always", "when-wrong"):
            raise InvalidArgument(f"insertion={self.insertion!r}: write 'always' or 'when-wrong'")
        if self.neighbours < 1:
            raise InvalidArgument(f"neighbours={self.neighbours}: ask for at least 1")
        if not 0.0 <= self.judge_noise <= 1.0:
            raise InvalidArgument(f"judge_noise={self.judge_noise}: a probability lies between 0 and 1")


class Simulator:
    """A cache without I/O.

    `experiment` says how it differs from the live cache. `eviction` makes the policies that pick victims, `freshness`
    gives TTLs (default: both as the pack says). `verify` stands for the local verifier: it gives P(same) from the text
    of the request and the cached prompt. Without it or its verdict (None), and if the pack would ask a language model,
    verification fails, which is a miss. `asking` is the language model that is then asked about candidates in doubt.
    """

    def __init__(
        self,
        pack: Pack,
        threshold: Threshold,
        *,
        rng: random.Random,
        experiment: Experiment = Experiment(),
        eviction: Callable[[], Policy] | None = None,
        freshness: Freshness | None = None,
        verify: Callable[[str, str], float | None] | None = None,
        asking: VerdictAsking | None = None,
    ) -> None:
        self.pack, self.threshold = pack, threshold
        policies = {name: eviction or POLICIES[category.eviction] for name, category in pack.categories.items()}
        self.registry = EntryRegistry(shared_capacity.quotas(pack, lambda category: policies[category]()))
        self.evicted = 0
        self._rng = rng
        self._wordings = SimulatedWordings(pack, self.registry) if experiment.wording else None
        judging = random.Random(rng.getrandbits(64))
        tries = random.Random(rng.getrandbits(64)) if asking is not None else rng
        self.verdicts = None if asking is None else SimulatedVerdicts(pack, threshold, asking, tries)
        tiers = SimulatedTiers(threshold, self._wordings, self.verdicts)
        self._judge = SimulatedJudge(tiers, self.registry, experiment.judge_noise, judging, verify)
        self._always, self._neighbours = experiment.insertion == "always", experiment.neighbours
        self._freshness, self._verify = freshness, verify
        self._index = SimulatedIndex()
        self._answers: dict[int, Arrival] = {}  # what brought in each live entry, by the entry's id
        self._expiries: list[tuple[float, int]] = []
        self._seen = 0

    def run(
        self, arrivals: Sequence[Arrival], vectors: Matrix, progress: Callable[[int], None] | None = None
    ) -> SimulationResult:
        """Simulate a trace; `vectors` has one row for each arrival, `progress` is told how many arrivals are done.

        Raises InvalidArgument for a matrix of another length.
        """
        if len(arrivals) != len(vectors):
            raise InvalidArgument(f"{len(vectors)} vectors for {len(arrivals)} arrivals: give one row for each")
        steps: list[SimulationStep] = []
        for start in range(0, len(arrivals), _BLOCK):
            block, rows = arrivals[start : start + _BLOCK], vectors[start : start + _BLOCK]
            with self._index.foresight([self._where(arrival) for arrival in block], rows) as places:
                steps += map(self._step, block, rows, places)
            if progress is not None:
                progress(len(steps))
        return gather(arrivals, steps, entries=len(self.registry), evicted=self.evicted)

    def step(self, arrival: Arrival, vector: Vector) -> SimulationStep:
        """Decide on one arrival, learn from it and keep its answer."""
        return self._step(arrival, vector, {})

    def _step(self, arrival: Arrival, vector: Vector, places: Places) -> SimulationStep:
        policy = self.pack.of(arrival.category)
        text = arrival.text.encode("utf-8", "surrogatepass")
        digest = keys.digest(_SALT, arrival.tenant.encode(), arrival.signature, text)
        pending = PendingDecision(self._seen, arrival, digest, policy)
        self._seen += 1
        if not policy.cache:
            return SimulationStep(Outcome.BYPASS, Why.DISABLED)
        if arrival.refused not in (None, Why.EXACT_ONLY):
            return SimulationStep(Outcome.BYPASS, arrival.refused)
        self._sweep(arrival.at)
        terms = decide.RequestTerms(
            policy.name,
            _CONTROLS,
            now=arrival.at,
            rejected=self.registry.rejected(digest),
            tenant=arrival.tenant,
            revalidate=policy.revalidate,
        )
        card = self.registry.exact(digest)
        exact = decide.exact(card, terms) if card is not None and card.category == policy.name else None
        if isinstance(exact, Serve):
            return self._served_exactly(pending, exact, vector)
        if arrival.refused is not None or not policy.semantic or len(arrival.text) > policy.max_chars:
            self._keep(pending, None, 0)
            return SimulationStep(Outcome.MISS, Why.EXACT_ONLY)
        terms = replace(terms, draw=self._rng.random())
        if self._wordings is not None:
            equal = self._wordings.serve(arrival.text, self._where(arrival), terms)
            if equal is not None:
                return self._served(pending, equal, vector)
        candidates = self._search(arrival, vector, places)
        decision = decide.semantic(
            candidates,
            arrival.text,
            terms,
            self.threshold,
            partial(guards.conflicts, names=policy.guards),
            partial(guards.unless_vetoed, names=policy.guards),
        )
        if isinstance(decision, Verify):
            decision = self._verified(decision, arrival, terms)
        decide.note(self.threshold, policy.name, decision)
        if self.verdicts is not None:
            settled = self.verdicts.settle(decision, pending.lookup(decision), terms)
            assert not isinstance(settled, Verify)
            decision = settled
        if isinstance(decision, Serve):
            return self._served(pending, decision, vector)
        return self._missed(pending, decision, vector)

    def _where(self, arrival: Arrival) -> list[bytes]:
        """The partitions in which an arrival may find neighbours; it is kept in the first."""
        own = self.pack.of(arrival.category).name
        names = [name for name in dict.fromkeys([own, *arrival.near]) if name == own or self.pack.of(name).semantic]
        tenant = arrival.tenant.encode()
        return [keys.digest(_SALT, tenant, arrival.signature, name.encode())[:16] for name in names]

    def _search(self, arrival: Arrival, vector: Vector, places: Places) -> list[Candidate]:
        names = list(places) or self._where(arrival)
        found = self._index.search(names, vector, self._neighbours, places)
        card_of = self.registry.get
        return [Candidate(card, one.score) for one in found if (card := card_of(one.entry_id)) is not None]

    def _verified(self, unsure: Verify, arrival: Arrival, terms: decide.RequestTerms) -> Serve | Forward:
        policy = self.pack.of(arrival.category)
        verify = None if policy.verify == "llm" else self._verify
        if verify is None:
            return decide.refused(unsure)
        settled: Serve | Forward | None = None
        asking: Verify | None = unsure
        while asking is not None and not isinstance(settled, Serve):
            p_same = verify(arrival.text, asking.card.text)
            allowed = self.pack.target_of(policy.name) if asking.risk is None else asking.risk
            answer: Serve | Forward | None
            if p_same is None:
                answer = decide.unread(asking, terms.draw)
            else:
                answer = decide.verified(asking, p_same, allowed=allowed, terms=terms, threshold=self.threshold)
            settled, asking = decide.likelier(settled, answer), asking.then
        return settled or decide.refused(unsure)

    def _served_exactly(self, pending: PendingDecision, served: Serve, vector: Vector) -> SimulationStep:
        card, right = served.card, self._right(served.card.id, pending.arrival)
        self.registry.touch(card)
        if served.stale:
            self._keep(pending, vector, 0)
        calls = int(served.stale)
        return SimulationStep(Outcome.EXACT, Why.EXACT, right, 1.0, 1.0, backend_calls=calls, source=card.id - 1)

    def _served(self, pending: PendingDecision, served: Serve, vector: Vector) -> SimulationStep:
        card, right = served.card, self._right(served.card.id, pending.arrival)
        self.registry.touch(card)
        if served.audit:
            answer = self._judge.audit(pending, served, right=right)
            if self._always or not answer:
                self._keep(pending, vector, answer)
        elif served.stale:
            self._keep(pending, vector, 0)
        return SimulationStep(
            Outcome.SEMANTIC,
            served.why,
            right,
            served.score,
            served.p_correct,
            served.audit,
            backend_calls=int(served.audit or served.stale),
            source=card.id - 1,
        )

    def _missed(self, pending: PendingDecision, missed: Forward, vector: Vector) -> SimulationStep:
        answer = self._judge.miss(pending, missed, lambda entry_id: self._right(entry_id, pending.arrival))
        if self._always or not answer:
            self._keep(pending, vector, answer)
        score = None if missed.nearest is None else missed.nearest.score
        return SimulationStep(Outcome.MISS, missed.why, None, score, missed.p_correct)

    def _right(self, entry_id: int, arrival: Arrival) -> bool:
        """Return True if the backend would give this arrival the answer of that entry."""
        cached = self._answers[entry_id]
        return cached.answer == arrival.answer and arrival.at < cached.expires_truth

    def _keep(self, pending: PendingDecision, vector: Vector | None, answer: int) -> None:
        """Keep the answer to a pending arrival, in the answer class of that number, under its vector if it has one."""
        arrival, category = pending.arrival, pending.policy.name
        ttl = pending.policy.ttl
        if self._freshness is not None:
            ttl = self._freshness.ttl(Request(Endpoint.CHAT, "", {}, arrival.text, b""), category, vector)
        if ttl <= 0.0 or not arrival.keep:
            return
        partition = b"" if vector is None else self._where(arrival)[0]
        created, expires = arrival.at, arrival.at + ttl
        card = Card(pending.number + 1, pending.digest, partition, category, arrival.text, created, expires, answer)
        self._answers[card.id] = arrival
        for gone in self.registry.add(card, cost=arrival.cost):
            self.evicted += gone.exact != card.exact or gone.id == card.id
            self._drop(gone)
        if card.id in self._answers:
            heapq.heappush(self._expiries, (expires + pending.policy.revalidate, card.id))
            if vector is not None:
                self._index.add(partition, card.id, vector)
                if self._wordings is not None:
                    self._wordings.index.add(card)

    def _drop(self, card: Card) -> None:
        del self._answers[card.id]
        if self._wordings is not None:
            self._wordings.index.remove(card)
        self._index.remove(card.partition, card.id)

    def _sweep(self, now: float) -> None:
        while self._expiries and self._expiries[0][0] <= now:
            gone = self.registry.remove(heapq.heappop(self._expiries)[1])
            if gone is not None:
                self._drop(gone)
