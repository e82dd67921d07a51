"""Near hits behind the proxy: a small model answers with examples, and a sample of its answers is audited.

Knows requests, dialects and backends, and nothing of how examples are chosen. Invariant: the client receives one
complete answer of one model; a request that the small model does not answer well and in time goes to the large one, and
the reason is counted; comparisons keep nobody waiting, and no fault here reaches a client.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semcache.agents.nearhits import Arm, NearChoice, NearExample, NearHits, placed
from semcache.agents.nearhits.near import Draws
from semcache.dialects import unbound
from semcache.errors import SemcacheError, UpstreamError
from semcache.proxy.background import BackgroundWork
from semcache.proxy.hit_replay import EVENT_STREAM
from semcache.proxy.near_hit_calls import NearHitEnvironment, NearHitModels, NoAnswer, complete_answer, is_text
from semcache.proxy.relay import without_stream
from semcache.request import conversation
from semcache.request.keys import digest
from semcache.runtime.breaker import Breaker
from semcache.types import Endpoint, Forward, Lookup, Usage
from semcache.types.evidence import Comparison

if TYPE_CHECKING:
    from semcache.protocols import Backend, Dialect, Outbound
    from semcache.proxy.asgi import HeaderList
    from semcache.proxy.near_hit_replays import ExampleReplays
    from semcache.types import Assembled, CacheKey, Vector

_log = logging.getLogger(__name__)
_DOUBTED = 256  # answers that a cascade did not believe, until the large model's are there
_DIALECTS = (Endpoint.CHAT, Endpoint.MESSAGES, Endpoint.RESPONSES)

OutboundOf = Callable[[bytes], "Outbound"]


@dataclass(frozen=True, slots=True)
class NearHitReply:
    """The reply of a small model to a request.

    `usage` are its tokens, `paid` their price in US dollars, `instead` what the large model would have cost.
    """

    payload: bytes
    headers: HeaderList
    usage: Usage
    paid: float
    instead: float


class NearHitService:
    """The near hits of one proxy process.

    An example is made of the entry that an answer of the large model has become. `patience` is how many seconds a model
    has for an answer; a small model that fails is not asked for a while. `replays`, if any, give way to requests.
    """

    def __init__(
        self,
        near: NearHits,
        models: NearHitModels,
        environment: NearHitEnvironment,
        background: BackgroundWork,
        *,
        patience: float = 20.0,
        replays: ExampleReplays | None = None,
    ) -> None:
        self.near, self._models, self._background = near, models, background
        self._environment, self._clock, self._spent = environment, environment.clock, environment.spent
        self._patience, self._replays = patience, replays
        self._doubted: OrderedDict[str, Assembled] = OrderedDict()
        self._breaker = Breaker(longest=60.0)
        self.counts: Counter[str] = Counter()

    def choose(self, lookup: Lookup) -> NearChoice | None:
        """Choose the model for a request that is to be forwarded; None if near hits do not apply to it."""
        if self._replays is not None:
            self._replays.give_way()
        if (
            lookup.key is None
            or not self._is_eligible(lookup)
            or not self._breaker.closed(self._environment.monotonic())
        ):
            return None
        rng = self._environment.rng
        draw = rng.random
        try:
            return self.near.consider(
                lookup.request.text,
                partition=self._partition(lookup.key),
                category=lookup.category,
                vector=lookup.vector,
                now=self._clock(),
                load=self._environment.load(),
                draws=Draws(draw(), draw(), draw(), {arm: rng.gauss(0.0, 1.0) for arm in Arm}),
            )
        except Exception:
            self.counts["fault"] += 1
            _log.warning("who is to answer a request could not be chosen: the large model answers", exc_info=True)
            return None

    async def serve(
        self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf
    ) -> NearHitReply | None:
        """Return the small model's reply, None to ask the large one. `outbound` makes a call of a body."""
        if choice.arm is Arm.LARGE:
            return None
        answer = await self._ask_small(choice, dialect, lookup, outbound)
        if answer is None:
            return None
        request = lookup.request
        if not self._is_believed(choice, answer):
            self.counts["doubted"] += 1
            self._spent(lookup, answer.usage, self.near.settings.small.cost(answer.usage))
            self._doubted[lookup.request_id] = answer
            if len(self._doubted) > _DOUBTED:
                self._doubted.popitem(last=False)
            return None
        try:
            payload, kind = unbound(dialect, answer.body), b"application/json"
            if request.stream:
                payload, kind = b"".join(dialect.stream(payload, request.replay)), EVENT_STREAM
        except Exception:
            self.counts["fault"] += 1
            _log.warning("an answer of the small model could not be replayed: the large model answers", exc_info=True)
            return None
        longer = sum(one.tokens for one in choice.shown)
        alone = Usage(max(0, answer.usage.prompt_tokens - longer), answer.usage.completion_tokens)
        given = self.near.settings
        if choice.compare:
            self._background.offer(
                ("near", lookup.request_id), lambda: self._compare_large(choice, dialect, lookup, outbound, answer)
            )
        else:
            self._pattern(choice, dialect, lookup, outbound)
            self.near.served(choice, now=self._clock())
        shown = f"semcache; fwd=miss; detail=near; examples={len(choice.shown)}"
        headers = [
            (b"content-type", kind),
            (b"content-length", str(len(payload)).encode()),
            (b"cache-control", b"private, no-store"),
            (b"cache-status", shown.encode()),
        ]
        return NearHitReply(
            payload, headers, answer.usage, paid=given.small.cost(answer.usage), instead=given.large.cost(alone)
        )

    def large_answered(
        self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf, answer: Assembled
    ) -> None:
        """Learn of the large model's answer: it may become an example, and be compared. Never raises."""
        try:
            self._learn(choice, dialect, lookup, outbound, answer)
        except Exception:
            self.counts["fault"] += 1
            _log.warning("nothing was learned of an answer of the large model", exc_info=True)

    def _learn(
        self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf, answer: Assembled
    ) -> None:
        doubted = self._doubted.pop(lookup.request_id, None)
        if not is_text(answer):
            return
        entry_id = self._environment.entry_id(lookup)
        if entry_id is not None and lookup.key is not None and lookup.vector is not None:
            cost = self.near.settings.large.cost(answer.usage)
            self.add_example(entry_id, lookup.key, answer, lookup.vector, cost, self._clock())
        if doubted is not None and self._environment.rng.random() < self.near.settings.rate:
            self._background.offer(
                ("near", lookup.request_id),
                lambda: self._judged(choice, dialect, lookup, outbound, doubted, answer, believed=False),
            )
        # Where the small model was to answer and did not, there is nothing to compare.
        if choice.compare and choice.arm is Arm.LARGE:
            self._background.offer(
                ("near", lookup.request_id), lambda: self._compare_small(choice, dialect, lookup, outbound, answer)
            )

    def add_example(
        self, entry_id: int, key: CacheKey, answer: Assembled, vector: Vector, cost: float, created: float
    ) -> None:
        """Make an example of an entry: the large model's answer to the request of this key, for `cost` US dollars."""
        if is_text(answer):
            made = NearExample(entry_id, self._partition(key), key.text, answer.text, vector, created, cost)
            self.near.offer(made, self._clock())

    def standing(self) -> dict[str, Any]:
        """Return the statistics for operators; `unserved` counts why answers of the small model were not served."""
        given = self.near.settings
        models = {"model": given.small.name, "instead_of": given.large.name}
        replays = dict(self._replays.counts) if self._replays is not None else {}
        return {**models, **self.near.standing(), "unserved": dict(self.counts), "replays": replays}

    async def _ask_small(
        self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf
    ) -> Assembled | None:
        request, name = lookup.request, self.near.settings.small.name
        body = placed(request.endpoint, without_stream(request.raw), choice.shown, name)
        if body is None:
            self.counts["no-place"] += 1
            return None
        answer = await self._ask(self._models.small, dialect, outbound(body))
        if answer is not None and not is_text(answer):
            self.counts["unusable"] += 1
            self._spent(lookup, answer.usage, self.near.settings.small.cost(answer.usage))
            return None
        return answer

    async def _ask(self, backend: Backend, dialect: Dialect, outbound: Outbound) -> Assembled | None:
        """Return the answer of a backend; on failure None, with the reason counted."""
        try:
            answer = await complete_answer(backend, dialect, outbound, self._patience)
        except TimeoutError as error:
            self._failed(backend, "timeout", error)
            return None
        except UpstreamError as error:
            self._failed(backend, "refused" if isinstance(error, NoAnswer) else "failed", error)
            return None
        if backend is self._models.small:
            self._breaker.succeeded()
        return answer

    def _failed(self, backend: Backend, reason: str, error: Exception) -> None:
        self.counts[reason] += 1
        if backend is self._models.small:
            self._breaker.failed(self._environment.monotonic(), error)

    async def _compare_large(
        self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf, small: Assembled
    ) -> None:
        large = await self._ask(self._models.large, dialect, outbound(without_stream(lookup.request.raw)))
        if large is None or not is_text(large):
            return
        self._spent(lookup, large.usage, self.near.settings.large.cost(large.usage))
        await self._judged(choice, dialect, lookup, outbound, small, large, believed=True)

    async def _compare_small(
        self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf, large: Assembled
    ) -> None:
        small = await self._ask_small(choice, dialect, lookup, outbound)
        if small is None:
            # Served, this would have fallen back to the large model: nothing worse would have been seen.
            return
        self._spent(lookup, small.usage, self.near.settings.small.cost(small.usage))
        believed = self._is_believed(choice, small)
        await self._judged(choice, dialect, lookup, outbound, small, large, believed=believed)

    async def _judged(
        self,
        choice: NearChoice,
        dialect: Dialect,
        lookup: Lookup,
        outbound: OutboundOf,
        small: Assembled,
        large: Assembled,
        *,
        believed: bool,
    ) -> None:
        question = lookup.request.text
        try:
            same = await self._models.judge.agree(Comparison(question, question, small.text, large.text))
        except SemcacheError:
            same = None
        if same is None:
            # A judge that cannot tell leaves the worse to be assumed: a certificate must not rest on silence.
            self.counts["unjudged"] += 1
        self._pattern(choice, dialect, lookup, outbound)
        quality, now = float(same is True), self._clock()
        self.near.compared(choice, quality=quality, now=now, answer=small.text, believed=believed)

    def _is_believed(self, choice: NearChoice, answer: Assembled) -> bool:
        try:
            return self.near.believes(choice, answer.text)
        except Exception:
            self.counts["fault"] += 1
            _log.warning("an answer of the small model could not be assessed: it is not believed", exc_info=True)
            return False

    def _pattern(self, choice: NearChoice, dialect: Dialect, lookup: Lookup, outbound: OutboundOf) -> None:
        """Remember for replays the pattern of a request whose examples were used."""
        if self._replays is not None and choice.shown:
            call = outbound(without_stream(lookup.request.raw))
            self._replays.remember(choice.shown[0].partition, lookup, dialect, call)

    def _is_eligible(self, lookup: Lookup) -> bool:
        request = lookup.request
        asked = isinstance(lookup.decision, Forward) and lookup.vector is not None
        traits = request.traits
        beyond_text = traits.tools or traits.stateful or traits.multimodal or traits.repeats_prompt
        text_only = request.endpoint in _DIALECTS and not beyond_text
        given, limit = self.near.settings, request.controls.max_error
        promised = request.model == given.large.name and (limit is None or limit >= given.target)
        return (
            asked
            and text_only
            and promised
            and not request.controls.no_cache
            and not conversation.has_earlier_question(request.identity)
        )

    def _partition(self, key: CacheKey) -> bytes:
        """Return the partition of examples: a scope, a system prompt and all else that must be equal for reuse."""
        return digest(self._environment.salt, b"near", key.signature)
