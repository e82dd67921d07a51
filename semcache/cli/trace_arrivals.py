"""The lines of a trace as arrivals under a pack: scope, category, and eligibility.

Knows packs, embedders and lines; decides nothing that the live cache does not decide the same way. Invariant: a text is
embedded once, whatever the number of packs that it is replayed through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from semcache.cli.traces import TraceLine
from semcache.config.packs import Pack
from semcache.errors import RequestRejected
from semcache.learning.judges.by_text import normal
from semcache.protocols import Embedder
from semcache.request import categorize, conversation, eligibility, ignored
from semcache.retention import admission
from semcache.retention.freshness import FixedFreshness
from semcache.simulate import Arrival
from semcache.simulate.trace_replay import Trace
from semcache.storage.prices import Prices
from semcache.types import Discard, Request, Scope, Why

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector

_SALT = bytes(32)
_TOGETHER = 64

JUDGES: dict[str, Callable[[str], str]] = {"exact": str, "normalised": normal}


class TextVectors:
    """The vectors of texts, as far as they were learned."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        self.nothing: Vector = np.zeros(embedder.dim, np.float32)

    async def learn(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> None:
        """Embed the texts that are not known yet; `progress` is told how many more texts are done."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), _TOGETHER):
            some = new[start : start + _TOGETHER]
            self._known.update(zip(some, await self._embedder.embed(some), strict=True))
            if progress is not None:
                progress(len(some))

    def of(self, text: str) -> Vector:
        """Return the vector of a text that was learned."""
        return self._known[text]


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A line, its request in the scope that the pack gives it, and the category that a rule or the line names."""

    traced: TraceLine
    request: Request
    rule: str | None


def texts_of(found: Sequence[TraceLine], pack: Pack) -> list[str]:
    """Return the texts to embed for a replay of these lines through a pack, its own examples included."""
    longest = max(one.max_chars for one in pack.categories.values())
    asked = [one.logged.request.text for one in found if not one.exact_only]
    return [*(text for _, text in categorize.example_texts(pack)), *(text for text in asked if len(text) <= longest)]


def trace_of(found: Sequence[TraceLine], pack: Pack, vectors: TextVectors, *, judge: str, prices: Prices) -> Trace:
    """Return the arrivals of these lines under a pack, from texts that were learned."""
    texts = categorize.example_texts(pack)
    examples: Sequence[Vector] = [vectors.of(text) for _, text in texts]
    categories = categorize.build(pack, examples)
    arrivals, rows, tokens = [], [], []
    for one in found:
        placed = _place(one, pack, categories)
        arrival, vector = _arrival(placed, pack, categories, vectors, JUDGES[judge], prices)
        arrivals.append(arrival)
        rows.append(vectors.nothing if vector is None else vector)
        usage = one.logged.answer.usage
        tokens.append(usage.prompt_tokens + usage.completion_tokens)
    matrix: Matrix = np.stack(rows)
    return Trace(arrivals, matrix, np.array(tokens, np.int64))


def _place(one: TraceLine, pack: Pack, categories: categorize.Categories) -> PlacedCall:
    logged = one.logged
    scope = logged.scope or Scope(namespace=logged.request.controls.namespace or "", user=logged.request.user)
    scope = replace(scope, user=scope.user if pack.share == "user" else None)
    controls = logged.request.controls
    wish = controls.category or logged.category
    controls = replace(controls, category=wish if wish in pack.categories else None)
    request = ignored.without(replace(logged.request, scope=scope, controls=controls), pack.ignore_in_system)
    try:
        return PlacedCall(one, request, categories.by_rule(request))
    except RequestRejected:
        return PlacedCall(one, request, None)


def _arrival(
    placed: PlacedCall,
    pack: Pack,
    categories: categorize.Categories,
    vectors: TextVectors,
    canonical: Callable[[str], str],
    prices: Prices,
) -> tuple[Arrival, Vector | None]:
    """Return the arrival and, if it may be looked up by meaning, its vector, as the live cache would."""
    one, request = placed.traced, placed.request
    logged = one.logged
    names = [placed.rule or "default"]
    refused = _refused(one, request, pack, names[0])
    vector = None
    if refused is None:
        vector = vectors.of(request.text)
        if request.controls.category is None:
            near = categories.near(vector, request.text)
            names = [*names, *near] if placed.rule is not None else [*near]
        refused = _refused(one, request, pack, names[0])
    ttl = FixedFreshness(pack).ttl(request, names[0])
    keep = not isinstance(admission.admission(request, logged.answer, 200, ttl=ttl), Discard)
    usage = logged.answer.usage
    arrival = Arrival(
        at=one.at,
        text=request.text,
        answer=canonical(one.answer),
        category=names[0],
        tenant=request.scope.tenant,
        signature=conversation.cache_key(request, _SALT).signature,
        cost=prices.cost(request.model, usage) if one.cost is None else one.cost,
        latency=one.latency or 0.0,
        size=len(logged.answer.body) or len(one.answer),
        near=tuple(dict.fromkeys(names[1:])),
        refused=refused,
        keep=keep,
    )
    return arrival, vector


def _refused(one: TraceLine, request: Request, pack: Pack, category: str) -> Why | None:
    policy = pack.of(category)
    why = eligibility.ineligible(request, policy)
    if why is None and pack.share == "user" and request.scope.user is None:
        why = Why.PERSONAL
    if why is None and one.exact_only:
        why = Why.EXACT_ONLY
    return why or eligibility.semantic_eligible(request, policy)
