"""The arrivals of a simulation, and the result of one step.

Knows nothing of how a request is decided. Invariant: every value is frozen, and the backend's answer is part of the
arrival, so that it is known whether a hit is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from semcache.types import Outcome, Why


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request of a trace, with the answer of the backend.

    `at` is in Unix seconds and never decreases along a trace. `answer` is what the backend answers, or the name of a
    class of answers that are all as good. Two arrivals share answers only if `tenant` and `signature` are equal;
    `category` is final, and paraphrases are also sought in the categories `near`. `cost` is in US dollars or any other
    unit, `latency` in seconds, `size` in bytes. From `expires_truth` on the backend would answer otherwise.

    `refused` is why the request may not be looked up: by meaning where it is EXACT_ONLY, else at all. `keep` False says
    that the answer is none to be kept.
    """

    at: float
    text: str
    answer: str
    category: str = "default"
    tenant: str = "default"
    signature: bytes = b""
    cost: float = 1.0
    latency: float = 1.0
    size: int = 1000
    expires_truth: float = math.inf
    near: tuple[str, ...] = ()
    refused: Why | None = None
    keep: bool = True


@dataclass(frozen=True, slots=True)
class SimulationStep:
    """The decision on one arrival.

    `correct` is True or False for a hit, None without one. `score` and `p_correct` are those of the best candidate,
    None without one. `backend_calls` is 1 for a miss and for an audited hit. `source` is the index of the arrival,
    counted from 0, whose answer was served, None without a hit.
    """

    outcome: Outcome
    why: Why
    correct: bool | None = None
    score: float | None = None
    p_correct: float | None = None
    audited: bool = False
    backend_calls: int = 1
    source: int | None = None
