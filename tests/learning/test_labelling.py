"""Labels of neighbours that were not served: two texts that were compared for a decision are not compared again."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.config import packs
from semcache.learning import labelling
from semcache.matching import features, guards, text_features
from semcache.types import Candidate, Card, Endpoint, Forward, Lookup, Request, Why

TEXT, CACHED = "How do I varnish an oak bench?", "How do I sand down an oak bench?"
FOUND = Candidate(Card(1, b"", b"", "default", CACHED, 0.0, 9.0, 1), 0.81)
REQUEST = Request(Endpoint.CHAT, "gpt-x", {}, TEXT, b"")
LOOKUP = Lookup("r", REQUEST, None, "default", Forward(Why.UNCERTAIN, nearest=FOUND))


def test_what_a_decision_and_a_label_need_of_two_texts_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, compared = packs.load("default").of("default"), text_features._compared
    compared.cache_clear()  # type: ignore[attr-defined]
    asked: list[Any] = []
    plain = guards.conflicts
    monkeypatch.setattr(guards, "conflicts", lambda *texts: asked.append(texts) or plain(*texts))
    values = features.of(TEXT, FOUND)
    verdict, label = (labelling.featured(LOOKUP, FOUND, policy) for _ in range(2))
    assert verdict == label
    assert verdict.conflicts == plain(TEXT, CACHED, policy.guards)
    assert verdict.features == features.with_conflicts(values, verdict.conflicts)
    assert len(asked) == 1
    assert compared.cache_info().misses == 1  # type: ignore[attr-defined]
