"""Entries and events for store tests."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from semcache.types import CacheKey, Endpoint, Entry, Outcome, Recorded, Scope, Usage, Why
from semcache.types.evidence import Judgement, Label, LabelSource

DIM = 8
NOW = 1_000.0
ACME = Scope("acme")


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def entry(id: int, text: str | None = None, *, scope: Scope = ACME, **changes: Any) -> Entry:
    words = f"question {id}" if text is None else text
    fields: dict[str, Any] = {
        "id": id,
        "key": CacheKey(scope, digest("signature"), digest(f"{scope}{words}"), words, b'{"messages":[]}'),
        "endpoint": Endpoint.CHAT,
        "model": "gpt-x",
        "category": "default",
        "partition": b"s" * 16,
        "embedder_id": "mini",
        "body": b'{"answer":42}',
        "created": NOW,
        "expires": NOW + 100,
        "usage": Usage(10, 20),
        "cost": 0.25,
        "latency": 1.5,
    }
    return Entry(**fields | changes)


def vector(id: int, dim: int = DIM) -> Any:
    value = np.random.default_rng(id).standard_normal(dim).astype(np.float32)
    return value / np.linalg.norm(value)


def event(entry_id: int | None = None, outcome: Outcome = Outcome.SEMANTIC, **changes: Any) -> Recorded:
    fields: dict[str, Any] = {
        "request_id": "r",
        "at": NOW,
        "endpoint": "chat",
        "scope": ACME,
        "model": "gpt-x",
        "category": "default",
        "outcome": outcome,
        "why": Why.SEMANTIC,
        "status": 200,
        "entry_id": entry_id,
        "exact": b"",
        "saved": Usage(1, 2),
        "saved_cost": 0.5,
        "spent": Usage(3, 4),
        "spent_cost": 0.25,
        "seconds": 2.0,
    }
    return Recorded(**fields | changes)


def label(entry_id: int = 1, **changes: Any) -> Label:
    fields: dict[str, Any] = {
        "at": NOW,
        "category": "default",
        "tenant": "acme",
        "entry_id": entry_id,
        "answer": entry_id,
        "exact": digest("asked"),
        "score": 0.875,
        "features": (0.1, -2.0, 1 / 3),
        "p_correct": 0.7,
        "correct": True,
        "source": LabelSource.MISS,
        "served": False,
    }
    return Label(**fields | changes)


def owed(fresh_id: int, entry_id: int, **changes: Any) -> Judgement:
    return Judgement(0, fresh_id, label(entry_id, correct=False, **changes))
