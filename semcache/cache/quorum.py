"""Quorum: holds an answer back from other users of its tenant until enough users have asked for it.

A user has asked for an answer if the user's identical request was answered, or another request whose answer was judged
to be the same; a near request does not count. Users are told apart as with `share: user`, and by their keys if they
name none; a request without either counts for nobody. Knows cards and packs, nothing of how requests are decided.

Invariant: under a quorum of n, a user is served only answers that n users have asked for, that the user has asked for,
or that the operator imported. Embeddings are exempt, because an embedding depends on its input alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from semcache.config.packs import Pack
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import Candidate, Card, Endpoint, Forward, Lookup, Outcome, Request, Serve, Why

OPERATOR = 0  # stands for as many users as are wanted
_MOST = 64  # users that are remembered of a request
_BROUGHT = "import"


class Quorum:
    """The quorums of one cache. `salt` keys the digests of users."""

    def __init__(self, pack: Pack, registry: EntryRegistry, salt: bytes) -> None:
        self._pack, self._registry, self._salt = pack, registry, salt
        self._on = pack.share != "user" and any(one.quorum > 1 for one in pack.categories.values())
        self._held: Counter[str] = Counter()

    def holds(self, card: Card, request: Request) -> bool:
        """Return True if an answer is held back from who asks."""
        if not self._on or request.endpoint is Endpoint.EMBEDDINGS:
            return False
        wanted = self._pack.of(card.category).quorum
        if wanted <= 1:
            return False
        asked = self._registry.askers(card)
        return OPERATOR not in asked and self._number(request) not in asked and len(asked) < wanted

    def held(self, candidates: Iterable[Candidate], request: Request) -> frozenset[int]:
        """The entries among some that are held back from who asks."""
        if not self._on:
            return frozenset()
        return frozenset([one.card.id for one in candidates if self.holds(one.card, request)])

    def applies(self, lookup: Lookup) -> bool:
        """Return True if others may not share this request: its call in flight, or an example for another model."""
        return self._on and self._pack.of(lookup.category).quorum > 1

    def askers_of(self, lookup: Lookup, source: str) -> tuple[int, ...]:
        """The users who have asked for what an answer to this request becomes."""
        if lookup.key is None or not self.applies(lookup):
            return ()
        if source == _BROUGHT:
            return (OPERATOR,)
        old, asker = self._registry.exact(lookup.key.exact), self._number(lookup.request)
        known = () if old is None else old.askers
        return known if asker is None or asker in known else (*known, asker)[-_MOST:]

    def settled(self, lookup: Lookup, refused: Forward | None, *, quiet: bool) -> Lookup:
        """The lookup with its reason: where nothing else was served, what `refused` it first; a held hit is counted."""
        decision = lookup.decision
        if not self._on or not isinstance(decision, Forward) or decision.outcome is not Outcome.MISS:
            return lookup
        if refused is not None and refused.why is Why.QUORUM:
            decision = replace(decision, why=Why.QUORUM, nearest=decision.nearest or refused.nearest)
        if decision.why is not Why.QUORUM:
            return lookup
        if not quiet:
            self._held[lookup.category] += 1
        return replace(lookup, decision=decision)

    def standing(self) -> dict[str, Any]:
        """The hits that were held back by category, since this worker started."""
        return dict(self._held)

    def _number(self, request: Request) -> int | None:
        if request.asker is None:
            return None
        scope = f"{request.scope.tenant}\0{request.asker}".encode("utf-8", "surrogatepass")
        return (
            int.from_bytes(blake2b(scope, key=self._salt[:64], digest_size=8, person=b"semcache asker").digest()) or 1
        )


def held_back(served: Serve) -> Forward:
    """The decision in the place of a hit that is held back."""
    nearest = Candidate(served.card, served.score, features=served.features)
    return Forward(Why.QUORUM, nearest=nearest, p_correct=served.p_correct)
