"""Verification: asks, while a client waits, whether a cached answer fits a request that is left in doubt.

Knows the verifiers, their time limits, and whose verdicts count; nothing of how requests arrive. Invariant: a cached
answer is served only if a verdict came in time that leaves no more doubt than the target allows. Without a verdict,
after a failure, and if the verdict is not enough, the request is forwarded.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from semcache.config.packs import Pack
from semcache.dialects import dialects
from semcache.errors import CacheUnavailable, UpstreamTimeout
from semcache.matching import decide
from semcache.matching.break_even import CORE_SECOND
from semcache.protocols import Backend, Threshold, Verifier
from semcache.request import conversation, framed
from semcache.runtime.breaker import Breaker
from semcache.runtime.telemetry import Meter
from semcache.types import CacheKey, Entry, Forward, Lookup, Serve, Verify, Why

_MOST_AT_ONCE = 64
_REST, _RESTS = 30.0, 8.0  # longest rest of one that fails: in seconds, and in times that a client waits for it
_REMEMBERED = 10_000
_ROUNDING = 1e-9
_FOLLOW_UP = 2  # turns
_log = logging.getLogger(__name__)

Result: TypeAlias = Literal["yes", "no", "late", "failed", "busy", "resting", "weak", "unread", "nobody"]
EntryOf: TypeAlias = Callable[[Serve, CacheKey | None], Awaitable[Entry | None]]
Place: TypeAlias = tuple[str, bytes, int]


async def no_entry(_served: Serve, _key: CacheKey | None) -> None:
    """Find no entry: where verifiers are opened beside no cache, as for a check of the settings."""


@dataclass(frozen=True, slots=True)
class ConfiguredVerifier:
    """A verifier with its terms: for how many seconds a client waits, and the `best` P(same) that it ever gives.

    `cost` is that of one verdict in US dollars, from its seconds and the characters shown. It is shown only texts
    that it `reads`, such as those of a language that it knows.
    """

    verifier: Verifier
    patience: float
    best: float = 1.0
    cost: Callable[[float, int], float] = lambda seconds, _: seconds * CORE_SECOND
    reads: Callable[..., bool] = lambda *_: True


class NoVerdict(Exception):
    """Raised if no verifier was asked, or none answered; `result` says why."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.result = result


@dataclass(frozen=True, slots=True)
class _PendingVerification:
    """An uncertain request, with everything that its decision needs."""

    lookup: Lookup
    unsure: Verify
    pack: Pack
    threshold: Threshold
    draw: float

    def decided(self, p_same: float) -> Serve | Forward:
        """The decision after this verdict, which is one more feature for the strategy."""
        allowed = demanded(self.lookup, self.unsure, self.pack) + _ROUNDING
        # Ages were judged when the doubt arose.
        terms = decide.RequestTerms.of(self.lookup.request, self.lookup.category, now=0.0, draw=self.draw)
        return decide.verified(self.unsure, p_same, allowed=allowed, terms=terms, threshold=self.threshold)


class Verifiers:
    """The verifiers that can be asked, by the name that a pack's `verify` gives ("llm", "verifier").

    A verdict on the same request and entry is asked for once and remembered. One that fails is left alone for a while.
    `entry_of` finds the entry behind a decision (`EntryReader.read`). `backends` are closed with it.
    """

    def __init__(
        self,
        known: Mapping[str, ConfiguredVerifier],
        entry_of: EntryOf = no_entry,
        *,
        meter: Meter | None = None,
        backends: tuple[Backend, ...] = (),
    ) -> None:
        self._known = dict(known)
        self._entry_of = entry_of
        self._meter = meter
        self._backends = backends
        # One that answers within milliseconds is late where the machine is busy, and is tried again soon.
        self._breakers = {
            name: Breaker(longest=min(_REST, max(1.0, _RESTS * one.patience))) for name, one in known.items()
        }
        self._verdicts: OrderedDict[Place, float] = OrderedDict()
        self._asking: dict[Place, asyncio.Task[float]] = {}

    def lacking(self, pack: Pack) -> list[str]:
        """The categories of a pack that want a verifier that is not set up: their grey zone is forwarded."""
        return lacking(pack, self._known)

    async def settle(self, lookup: Lookup, *, pack: Pack, threshold: Threshold, draw: float) -> Lookup:
        """Call the verifier about a `Verify`, and settle it to `Serve`, or to `Forward` with the reason.

        The reason is `VERIFY_FAILED` if a verdict was, or could only be, too little; `NO_VERDICT` if there was none.
        Any other lookup comes back unchanged.
        `draw` is uniform in [0, 1): verified hits are audited like any other. `threshold` is told the decision. Raises
        nothing.
        """
        unsure = lookup.decision
        if not isinstance(unsure, Verify):
            return lookup
        started = time.perf_counter()
        bill: list[float] = []
        settled: Serve | Forward | None = None
        result: Result = "nobody"
        why = Why.VERIFY_FAILED
        asking: Verify | None = unsure
        while asking is not None and not isinstance(settled, Serve):
            question = _PendingVerification(lookup, asking, pack, threshold, draw)
            answer, became = await self._heard(question, bill)
            if became == "unread":
                answer = decide.unread(asking, draw)
            settled = decide.likelier(settled, answer)
            if became not in ("yes", "no", "weak"):
                why = Why.NO_VERDICT
            if asking is unsure or became == "yes":
                result = became
            further = became in ("no", "weak", "unread")
            asking = asking.then if further and pack.of(lookup.category).verify != "llm" else None
        if self._meter is not None:
            self._meter.verified(lookup.category, result, time.perf_counter() - started)
        decision = settled or decide.refused(unsure, why)
        decide.note(threshold, lookup.category, decision)
        return replace(lookup, decision=decision, verified=sum(bill) if bill else None)

    async def close(self) -> None:
        """Cancel open questions, and close the backends."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for backend in self._backends:
            await backend.close()

    async def _heard(self, question: _PendingVerification, bill: list[float]) -> tuple[Serve | Forward | None, Result]:
        """Call the verifier; return the decision by its verdict, None without one, and the result. Raises nothing."""
        try:
            settled = await self._settled(question, bill)
        except NoVerdict as silence:
            return None, silence.result
        except (TimeoutError, UpstreamTimeout):
            return None, "late"
        except Exception as error:
            _log.warning("a verification failed: %r", error)
            return None, "failed"
        return settled, "yes" if isinstance(settled, Serve) else "no"

    async def _settled(self, question: _PendingVerification, bill: list[float]) -> Serve | Forward:
        """Decide by a verdict that is remembered, or call the verifier; what that costs joins the `bill`.

        Raises NoVerdict, or the error of the verifier.
        """
        lookup, served = question.lookup, decide.served(question.unsure, question.draw)
        name = question.pack.of(lookup.category).verify
        verifier = self._known.get(name)
        if verifier is None or lookup.key is None:
            raise NoVerdict("nobody")
        if not verifier.reads(lookup.request.text, question.unsure.card.text):
            raise NoVerdict("unread")
        if not isinstance(question.decided(verifier.best), Serve):
            raise NoVerdict("weak")
        return question.decided((await self._p_same(name, lookup, served, bill))[0])

    async def passes(self, lookup: Lookup, unsure: Verify, *, pack: Pack, threshold: Threshold) -> bool:
        """Return True if the local verifier would let this be served; nothing is counted. Raises nothing."""
        name = pack.of(lookup.category).verify
        p_same = await self.of_pair(name, lookup.request.text, unsure.card.text) if name != "llm" else None
        question = _PendingVerification(lookup, unsure, pack, threshold, draw=1.0)
        return p_same is not None and isinstance(question.decided(p_same), Serve)

    def knows(self, name: str) -> bool:
        """Return True if the verifier of that name is set up."""
        return name in self._known

    async def of_pair(self, name: str, one: str, two: str) -> float | None:
        """Call the verifier of that name about two texts: P(same), None if it gives none. Raises nothing."""
        verifier = self._known.get(name)
        if verifier is None or not verifier.reads(one, two) or not self._breakers[name].closed(time.monotonic()):
            return None
        try:
            return await _timed(verifier, "", one, two, "")
        except TimeoutError:
            return None
        except Exception as error:
            self._breakers[name].failed(time.monotonic(), error)
            return None

    async def read(self, one: str, two: str) -> float | None:
        """Call the local verifier about two texts: P(same), None if it gives none. Raises nothing."""
        return await self.of_pair("verifier", one, two)

    async def p_same(self, name: str, lookup: Lookup, served: Serve) -> tuple[float, bool]:
        """Call the verifier of that name, unless its verdict is remembered: P(same), and True if it was called.

        Raises NoVerdict or the verifier's error.
        """
        return await self._p_same(name, lookup, served, [])

    async def _p_same(self, name: str, lookup: Lookup, served: Serve, bill: list[float]) -> tuple[float, bool]:
        verifier = self._known.get(name)
        if verifier is None or lookup.key is None:
            raise NoVerdict("nobody")
        place, new = (name, lookup.key.exact, served.card.id), False
        if place in self._verdicts:
            self._verdicts.move_to_end(place)
            return self._verdicts[place], False
        if place not in self._asking:
            if not self._breakers[name].closed(time.monotonic()):
                raise NoVerdict("resting")
            if len(self._asking) >= _MOST_AT_ONCE:
                raise NoVerdict("busy")
            entry = await self._entry_of(served, lookup.key)
            texts = _texts(entry, served, lookup, whole=name == "llm")
            if place in self._verdicts:
                return self._verdicts[place], False
            if place not in self._asking:
                self._ask(verifier, place, bill, lookup.request.model, *texts)
                new = True
        # Shielded: others may be waiting for the same verdict.
        return await asyncio.shield(self._asking[place]), new

    def _ask(self, verifier: ConfiguredVerifier, place: Place, bill: list[float], model: str, *texts: str) -> None:
        started, size = time.perf_counter(), sum(map(len, texts))
        task = asyncio.create_task(_timed(verifier, model, *texts), name="semcache-verify")
        self._asking[place] = task
        task.add_done_callback(lambda _: bill.append(verifier.cost(time.perf_counter() - started, size)))
        task.add_done_callback(lambda done: self._answered(place, done))

    def _answered(self, place: Place, task: asyncio.Task[float]) -> None:
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


def _texts(entry: Entry | None, served: Serve, lookup: Lookup, *, whole: bool) -> tuple[str, str, str]:
    """The texts for a verifier: the request, the stored prompt, its answer.

    If `whole`, they include earlier turns that differ, and the text around both questions.

    Raises NoVerdict.
    """
    assert lookup.key is not None
    answer = "" if entry is None else dialects()[entry.endpoint].parse(entry.body).text
    if entry is None or not answer:
        # Gone, or a tool call: there is nothing to show.
        raise NoVerdict("failed")
    request = lookup.request
    if not whole:
        return request.text, served.card.text, answer
    if request.traits.turns < _FOLLOW_UP or entry.key.signature == lookup.key.signature:
        return framed.shown(request.frame, request.text), framed.shown(request.frame, served.card.text), answer
    kept = conversation.stored_identity(entry.key.canonical)
    asked = conversation.transcript(request.identity, request.text)
    return asked, conversation.transcript(kept, served.card.text), answer


async def _timed(verifier: ConfiguredVerifier, model: str, *texts: str) -> float:
    by_model = getattr(verifier.verifier, "same_by", None)
    async with asyncio.timeout(verifier.patience):
        asked = verifier.verifier.same(*texts) if by_model is None else by_model(model, *texts)
        p_same: float = await asked
    if not 0.0 <= p_same <= 1.0:
        raise CacheUnavailable(f"a verifier gave {p_same!r}, which is no probability")
    return p_same


def lacking(pack: Pack, known: Collection[str]) -> list[str]:
    """The categories of a pack that want a verifier that is not among those of these names."""
    wanted = [
        (name, "llm" if one.verdicts not in (None, "off") else one.verify)
        for name, one in pack.categories.items()
        if one.cache and one.semantic
    ]
    return sorted(name for name, verifier in wanted if verifier != "off" and verifier not in known)
