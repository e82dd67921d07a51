"""Asking, while a client waits, whether a cached answer fits a request that is too uncertain to be served without.

Knows who can be asked, for how long, and what their word is worth; nothing of how requests arrive. Invariant: a cached
answer is served only if a verifier said in time that it is right with the probability that the target demands. Silence,
failure and any word but a plain yes forward the request.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from semcache.breaker import Breaker
from semcache.economics import CORE_SECOND
from semcache.errors import CacheUnavailable, UpstreamTimeout
from semcache.policy import Pack
from semcache.protocols import Backend, Verifier
from semcache.telemetry import Meter
from semcache.types import CacheKey, Candidate, Entry, Forward, Lookup, Outcome, Serve, Verify, Why
from semcache.wire import dialects

_MOST_AT_ONCE = 64
_REMEMBERED = 10_000
_ROUNDING = 1e-9
_log = logging.getLogger(__name__)

Result: TypeAlias = Literal["yes", "no", "late", "failed", "busy", "resting", "weak", "nobody"]
EntryOf: TypeAlias = Callable[[Serve, CacheKey | None], Awaitable[Entry | None]]
Place: TypeAlias = tuple[str, bytes, int]


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody who can be asked: for how many seconds a client waits, and the `best` P(same) that is ever given.

    `known` gives P(same) from what the decision believed before and what the verifier said; alone, its word is all that
    counts. `cost` is what one word costs in US dollars, from its seconds and the characters that were shown.
    """

    verifier: Verifier
    patience: float
    best: float = 1.0
    known: Callable[[float, float], float] = lambda _, said: said
    cost: Callable[[float, int], float] = lambda seconds, _: seconds * CORE_SECOND


class Silence(Exception):
    """Nobody was asked, or nobody answered; `result` says why."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.result = result


class Verifiers:
    """Who can be asked, by the name that a pack's `verify` gives ("llm", "verifier").

    A verdict on the same request and entry is asked for once and remembered. Who fails is left alone for a while.
    `backends` are closed with it.
    """

    def __init__(
        self, known: Mapping[str, Asked], *, meter: Meter | None = None, backends: tuple[Backend, ...] = ()
    ) -> None:
        self._known = dict(known)
        self._meter = meter
        self._backends = backends
        self._breakers = {name: Breaker(longest=30.0) for name in known}
        self._verdicts: OrderedDict[Place, float] = OrderedDict()
        self._asking: dict[Place, asyncio.Task[float]] = {}

    def lacking(self, pack: Pack) -> list[str]:
        """The categories of a pack that want a verifier whom nobody has set up: their grey zone is forwarded."""
        wanted = ((name, one.verify) for name, one in pack.categories.items() if one.cache and one.semantic)
        return sorted(name for name, verifier in wanted if verifier != "off" and verifier not in self._known)

    async def settle(self, lookup: Lookup, entry_of: EntryOf, *, pack: Pack, draw: float) -> Lookup:
        """The lookup with its `Verify` settled to `Serve` or `Forward(VERIFY_FAILED)`; any other comes back as it is.

        `entry_of` finds the entry behind a decision (`AsyncSemanticCache.entry`). `draw` is uniform in [0, 1): what a
        verifier let pass is audited as any other hit, and what it refused is sampled alike. Raises nothing.
        """
        unsure = lookup.decision
        if not isinstance(unsure, Verify):
            return lookup
        policy = pack.of(lookup.category)
        served = Serve(
            unsure.card,
            Outcome.SEMANTIC,
            unsure.score,
            unsure.p_correct,
            audit=draw < unsure.chance,
            chance=unsure.chance,
            features=unsure.features,
        )
        enough = 1.0 - demanded(lookup, unsure, pack) - _ROUNDING
        started = time.perf_counter()
        p_same = 0.0
        bill: list[float] = []
        result: Result
        try:
            p_same = await self._word(policy.verify, lookup, served, entry_of, enough, bill)
            result = "yes" if p_same >= enough else "no"
        except Silence as silence:
            result = silence.result
        except (TimeoutError, UpstreamTimeout):
            result = "late"
        except Exception as error:
            _log.warning("a verification failed: %r", error)
            result = "failed"
        if self._meter is not None:
            self._meter.verified(lookup.category, result, time.perf_counter() - started)
        asked = replace(lookup, verified=sum(bill) if bill else None)
        if result == "yes":
            return replace(asked, decision=replace(served, p_correct=p_same))
        nearest = Candidate(unsure.card, unsure.score, features=unsure.features)
        sampled = result != "no" or draw < unsure.chance
        refused = Forward(Why.VERIFY_FAILED, nearest=nearest, p_correct=unsure.p_correct, sampled=sampled)
        return replace(asked, decision=refused)

    async def close(self) -> None:
        """Give up what is being asked, and close the backends."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for backend in self._backends:
            await backend.close()

    async def _word(
        self, name: str, lookup: Lookup, served: Serve, entry_of: EntryOf, enough: float, bill: list[float]
    ) -> float:
        """P(same), of memory or of the one asked, whose price joins the `bill`. Raises Silence, or what that raised."""
        asked = self._known.get(name)
        if asked is None or lookup.key is None:
            raise Silence("nobody")
        if asked.known(served.p_correct, asked.best) < enough:
            raise Silence("weak")
        place = (name, lookup.key.exact, served.card.id)
        if place in self._verdicts:
            self._verdicts.move_to_end(place)
            return asked.known(served.p_correct, self._verdicts[place])
        if place not in self._asking:
            if not self._breakers[name].closed(time.monotonic()):
                raise Silence("resting")
            if len(self._asking) >= _MOST_AT_ONCE:
                raise Silence("busy")
            answer = await _text(served, lookup.key, entry_of)
            if place not in self._asking:
                texts = (lookup.request.text, served.card.text, answer)
                self._ask(asked, place, bill, *texts)
        # Shielded: others may be waiting for the same word.
        return asked.known(served.p_correct, await asyncio.shield(self._asking[place]))

    def _ask(self, asked: Asked, place: Place, bill: list[float], *texts: str) -> None:
        started, size = time.perf_counter(), sum(map(len, texts))
        task = asyncio.create_task(_timed(asked, *texts), name="semcache-verify")
        self._asking[place] = task
        task.add_done_callback(lambda _: bill.append(asked.cost(time.perf_counter() - started, size)))
        task.add_done_callback(lambda done: self._heard(place, done))

    def _heard(self, place: Place, task: asyncio.Task[float]) -> None:
        del self._asking[place]
        if task.cancelled():
            return
        breaker, error = self._breakers[place[0]], task.exception()
        if isinstance(error, Exception):
            breaker.failed(time.monotonic(), error)
        elif error is None:
            breaker.succeeded()
            self._verdicts[place] = task.result()
            if len(self._verdicts) > _REMEMBERED:
                self._verdicts.popitem(last=False)


def demanded(lookup: Lookup, unsure: Verify, pack: Pack) -> float:
    """The error that may be left: what the strategy allows or the two categories' targets, or less for the caller."""
    allowed = unsure.risk
    if allowed is None:
        allowed = min(pack.target_of(lookup.category), pack.target_of(unsure.card.category))
    asked = lookup.request.controls.max_error
    return allowed if asked is None else min(allowed, asked)


async def _text(served: Serve, key: CacheKey, entry_of: EntryOf) -> str:
    entry = await entry_of(served, key)
    text = "" if entry is None else dialects()[entry.endpoint].parse(entry.body).text
    if not text:
        # Gone, or a tool call: there is nothing to show.
        raise Silence("failed")
    return text


async def _timed(asked: Asked, *texts: str) -> float:
    async with asyncio.timeout(asked.patience):
        p_same = await asked.verifier.same(*texts)
    if not 0.0 <= p_same <= 1.0:
        raise CacheUnavailable(f"a verifier gave {p_same!r}, which is no probability")
    return p_same
