"""The chains between a request and stored conversations: their turns in other words, judged one by one and together.

Knows the strategy and the local verifier; nothing of where conversations are stored. Invariant: no chain holds in which
a guard vetoes a pair of turns, or a pair is not one turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from semcache.cache.placement import Embedding
from semcache.cache.query import AskedRequest
from semcache.matching import chains, features, guards
from semcache.matching.chains import ChainLink
from semcache.matching.unexplained_conflicts import unexplained
from semcache.matching.verification import Verifiers
from semcache.matching.wording_tier import WordingTier
from semcache.protocols import Threshold
from semcache.request.turn_pairs import TurnPair
from semcache.request.wording import strictest
from semcache.types import Candidate, Card

if TYPE_CHECKING:
    from semcache.types import Vector


class TurnChains:
    """Makes and judges chains. One instance a cache."""

    def __init__(self, embedding: Embedding, strategy: Threshold, tier: WordingTier, verifiers: Verifiers) -> None:
        self._embedding, self._strategy = embedding, strategy
        self._tier, self._verifiers = tier, verifiers

    async def links(self, asked: AskedRequest, card: Card, pairs: Sequence[TurnPair]) -> list[ChainLink] | None:
        """The user's turns in other words, as links of a chain; None where a pair of turns is not one turn."""
        rows = await self._embedding.of([words for pair in pairs for words in (pair.asked, pair.kept)])
        links = []
        for pair, asked_row, kept_row in zip(pairs, rows[::2], rows[1::2], strict=True):
            score = cosine(asked_row, kept_row)
            if pair.role == "assistant":
                if score < pair.least or _vetoed(asked, pair):
                    return None
            elif self._one_wording(asked, pair):
                # One wording, which leaves no doubt that a link would have.
                if unexplained(pair.asked, pair.kept, asked.guards):
                    return None
            else:
                conflicts = guards.conflicts(pair.asked, pair.kept, asked.guards)
                if any(conflict.veto for conflict in conflicts):
                    return None
                candidate = Candidate(replace(card, text=pair.kept), score, conflicts)
                values = features.with_conflicts(features.of(pair.asked, candidate), conflicts)
                links.append(self._judged(asked, pair.asked, replace(candidate, features=values)))
        return links

    async def hold_together(self, asked: AskedRequest, links: Sequence[ChainLink], said: Sequence[TurnPair]) -> bool:
        """Return True if the chain leaves little enough doubt, after the local verifier's verdict if there is one.

        The verifier also reads what the assistant `said` in other words.
        """
        alone = chains.sure_alone(links)
        if asked.policy.verify != "verifier" or not (alone or chains.hopeful(links)):
            return alone
        for pair in said:
            p_same = await self._verifiers.of_pair("verifier", pair.asked, pair.kept)
            if p_same is not None and p_same < chains.LEAST_SAID:
                return False
        weighed = []
        for link in links:
            one = link.candidate
            p_same = await self._verifiers.of_pair("verifier", link.asked, one.card.text)
            if p_same is None:
                return alone
            if p_same < chains.LEAST_SAME:
                return False
            told = replace(one, features=features.with_verdict(one.features, p_same))
            weighed.append(self._judged(asked, link.asked, told))
        return chains.holds(weighed)

    def _one_wording(self, asked: AskedRequest, pair: TurnPair) -> bool:
        kinds = self._tier.kinds_between(asked.policy.name, pair.asked, pair.kept)
        return strictest(pair.asked, pair.kept, kinds) is not None

    def _judged(self, asked: AskedRequest, text: str, candidate: Candidate) -> ChainLink:
        terms = asked.terms
        verdict = self._strategy.judge(
            candidate, asked.policy.name, controls=terms.controls, draw=terms.draw, tenant=terms.tenant
        )
        return ChainLink(text, candidate, verdict.p_correct, served=verdict.serve)


def cosine(one: Vector, two: Vector) -> float:
    """The cosine similarity of two unit vectors, within [-1, 1]."""
    return max(-1.0, min(1.0, float(one @ two)))


def _vetoed(asked: AskedRequest, pair: TurnPair) -> bool:
    return any(conflict.veto for conflict in guards.conflicts(pair.asked, pair.kept, asked.guards))
