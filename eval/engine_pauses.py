"""The pauses of a request that is being answered, while another one's documents are read.

Knows an engine's steps and this thread's CPU time. Invariant: every way of reading gets a prompt of the same length.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from eval.engine_asking import NEW, Json, spread, tokens
from semcache.engine import EngineConfig, Job, Sampling
from semcache.engine.engine import Engine
from semcache.engine.job import Approximation
from semcache.engine.startup import open_engine

_DOCUMENTS, _SIZE = 6, 512
_BEFORE = 20  # tokens said before the documents come
_WAYS: dict[str, dict[str, Any] | None] = {
    "all computed": None,
    "press, kvzip": {"press": "kvzip", "keep": 0.5},
    "press, h2o": {"press": "h2o", "keep": 0.5},
    "press, keydiff": {"press": "keydiff", "keep": 0.5},
    "chunks, blend": {"chunks": "blend"},
    "chunks, craft": {"chunks": "craft"},
    "chunks, parallel": {"chunks": "parallel"},
    "chunks, align": {"chunks": "align"},
}


def pauses(folder: Path, rounds: int) -> Json:
    """Longest pause between two tokens of an answer, while another request's new documents of 3,072 tokens are read."""
    engine, rng = open_engine(EngineConfig(str(folder))), random.Random(13)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in _WAYS}
    for _ in range(rounds):
        for name, way in _WAYS.items():
            found[name].append(_pause(engine, rng, way))
    return {
        "columns": ["documents", "longest pause of the other answer", "first token behind the documents"],
        "rows": [
            [name, *(spread([run[at] for run in runs], " s", digits=2) for at in (0, 1))]
            for name, runs in found.items()
        ],
        "notes": [f"CPU time; {_DOCUMENTS} documents of {_SIZE} tokens that were never read before, then {NEW} tokens"],
    }


def _pause(engine: Engine, rng: random.Random, way: dict[str, Any] | None) -> tuple[float, float]:
    """The longest pause, and the time from the arrival of the documents to the first token behind them."""
    head = tokens(rng, 32)
    spans = tuple(range(at, at + _SIZE) for at in range(len(head), len(head) + _DOCUMENTS * _SIZE, _SIZE))
    prompt = (*head, *tokens(rng, _DOCUMENTS * _SIZE + NEW))
    approximation = None if way is None else Approximation(spans, **way)
    engine.submit(Job("answer", tokens(rng, NEW), Sampling(max_tokens=300, ignore_eos=True, logprobs=0)))
    longest = first = came = last = 0.0
    said = 0
    while not engine.idle:
        deltas = engine.step()
        now = time.thread_time()
        if any(delta.job == "documents" for delta in deltas) and not first:
            first = now - came
        if any(delta.scores for delta in deltas if delta.job == "answer"):
            longest = max(longest, now - last) if last else 0.0
            last, said = now, said + 1
            if said == _BEFORE:
                came = now
                sampling = Sampling(max_tokens=2, ignore_eos=True, logprobs=0)
                engine.submit(Job("documents", prompt, sampling, approximation=approximation))
    return longest, first
