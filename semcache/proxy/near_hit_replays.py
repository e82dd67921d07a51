"""Replay of near-hit examples while the proxy is idle: of two fresh answers and the old one, the majority's.

Knows requests by their pattern. Invariant: nothing is asked before `QUIET` seconds without a request, under load, more
often than the rate allows, or with a client's credentials; a replay is cancelled as soon as a request comes; no fault
here reaches a client.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from semcache.agents.nearhits import example_replay
from semcache.agents.nearhits.place import restated
from semcache.errors import SemcacheError, UpstreamError
from semcache.proxy.near_hit_calls import NearHitEnvironment, NoAnswer, complete_answer, is_text, without_client_headers
from semcache.runtime.breaker import Breaker
from semcache.runtime.token_bucket import TokenBucket
from semcache.types.evidence import Comparison

if TYPE_CHECKING:
    from semcache.agents.nearhits import NearExample, NearHits
    from semcache.protocols import Backend, Dialect, Judge, Outbound
    from semcache.types import Assembled, Lookup

QUIET = 30.0  # seconds without a request
_EVERY = 5.0  # seconds between two looks
_CALM = 0.2  # load of the large model, of 1
_ANEW = 2  # answers of a replay: with the old one, the fewest among which there is a majority
_REST = 3600.0  # seconds, at most, that a large model is left alone which gives no answers
_PATTERNS = 256
_LONGEST = 1 << 16  # bytes of a request that is kept as a pattern
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RequestPattern:
    """A request that stands for those of its partition, and its call without client headers."""

    lookup: Lookup
    dialect: Dialect
    call: Outbound


class ExampleReplays:
    """The replays of one process's near hits: at most `rate` an hour, 0 for none.

    `large` is asked and `judge` compares; `patience` is how many seconds an answer may take.
    """

    def __init__(
        self,
        near: NearHits,
        large: Backend,
        judge: Judge,
        environment: NearHitEnvironment,
        *,
        rate: float,
        patience: float = 20.0,
    ) -> None:
        self._near, self._large, self._judge, self._rate = near, large, judge, rate
        self._clock, self._monotonic = environment.clock, environment.monotonic
        self._load, self._spent = environment.load, environment.spent
        self._patience = patience
        self._patterns: OrderedDict[bytes, RequestPattern] = OrderedDict()
        self._bucket = TokenBucket(rate / 3600.0, 1.0, self._monotonic())
        self._breaker = Breaker(shortest=60.0, longest=_REST)
        self._last = self._monotonic()
        self._running: asyncio.Task[None] | None = None
        self.counts: Counter[str] = Counter()

    def give_way(self) -> None:
        """Note that a request goes to a model, and cancel a replay under way."""
        self._last = self._monotonic()
        if self._running is not None:
            self._running.cancel()

    def remember(self, partition: bytes, lookup: Lookup, dialect: Dialect, call: Outbound) -> None:
        """Remember a request as the pattern of its partition. `call` is one for a complete answer."""
        if self._rate and len(call.body) <= _LONGEST:
            self._patterns[partition] = RequestPattern(lookup, dialect, without_client_headers(call))
            self._patterns.move_to_end(partition)
            if len(self._patterns) > _PATTERNS:
                self._patterns.popitem(last=False)

    def prune(self) -> None:
        """Forget the patterns of partitions without examples."""
        used = {one.partition for one in self._near.pool}
        for partition in [one for one in self._patterns if one not in used]:
            del self._patterns[partition]

    async def run(self) -> None:
        """Replay in quiet times until cancelled."""
        while self._rate:
            await asyncio.sleep(_EVERY)
            try:
                await self.step()
            except Exception:
                self.counts["fault"] += 1
                _log.warning("an example could not be answered anew", exc_info=True)

    async def step(self) -> None:
        """Replay the example that gains the most, if the proxy is idle."""
        now = self._monotonic()
        quiet = now - self._last >= QUIET and self._load() <= _CALM and self._breaker.closed(now)
        if not (self._patterns and quiet and self._bucket.take(now)):
            return
        due = next((one for one in self._near.due(self._clock(), limit=1000) if one.partition in self._patterns), None)
        if due is None:
            return
        self._running = asyncio.create_task(self._replay(due, self._patterns[due.partition]), name="semcache-replay")
        try:
            await asyncio.wait([self._running])
            if self._running.cancelled():
                self.counts["interrupted"] += 1
            else:
                self._running.result()
        finally:
            self._running.cancel()
            self._running = None

    async def _replay(self, example: NearExample, pattern: RequestPattern) -> None:
        body = restated(pattern.lookup.request.endpoint, pattern.call.body, example.prompt)
        if body is None:
            self.counts["no-place"] += 1
            self._near.replayed(example, [], self._clock())
            return
        texts = [example.answer]
        for _ in range(_ANEW):
            answer = await self._ask(pattern, body)
            if answer is None:
                return
            if not is_text(answer):
                self.counts["unusable"] += 1
                self._near.replayed(example, [], self._clock())
                return
            texts.append(answer.text)
        same = {pair: await self._agree(example, texts, *pair) for pair in combinations(range(len(texts)), 2)}
        own, *anew = example_replay.rated(texts, same)
        done = self._near.replayed(replace(example, quality=own[1]), anew, self._clock())
        self.counts[done] += 1

    async def _ask(self, pattern: RequestPattern, body: bytes) -> Assembled | None:
        try:
            call = replace(pattern.call, body=body)
            answer = await complete_answer(self._large, pattern.dialect, call, self._patience)
        except (TimeoutError, UpstreamError) as error:
            self.counts["refused" if isinstance(error, NoAnswer) else "failed"] += 1
            self._breaker.failed(self._monotonic(), error)
            return None
        self._breaker.succeeded()
        self._spent(pattern.lookup, answer.usage, self._near.settings.large.cost(answer.usage))
        return answer

    async def _agree(self, example: NearExample, texts: list[str], one: int, other: int) -> bool:
        try:
            said = await self._judge.agree(Comparison(example.prompt, example.prompt, texts[one], texts[other]))
        except SemcacheError:
            return False
        return said is True
