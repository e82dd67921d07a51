"""A pack, a query and its neighbours, as the tests of the certified strategy share them."""

from __future__ import annotations

from dataclasses import replace

from semcache.config import packs
from semcache.matching import features
from semcache.types import Candidate, Card, Conflict, Controls
from semcache.types.evidence import Label, LabelSource

PACK = packs.load("default").with_target(0.05)
ANY = Controls()
QUERY, CACHED = "how do i reset my password", "How do I reset my password?"


def candidate(score: float, text: str = CACHED, *conflicts: Conflict, entry: int = 1) -> Candidate:
    found = Candidate(Card(entry, b"", b"", "support", text, 0.0, 1.0), score, conflicts)
    return replace(found, features=features.of(QUERY, found))


def label(one: Candidate, *, correct: bool, source: LabelSource = LabelSource.AUDIT) -> Label:
    served = source is LabelSource.AUDIT
    return Label(
        0.0, "support", "acme", one.card.id, one.card.id, b"", one.score, one.features, 0.9, correct, source, served
    )


SURE, UNSURE = candidate(0.995), candidate(0.62, "Where are your offices, and when are they open to visitors?")
