"""How the engine's benchmark asks: prompts of random tokens, greedy answers, CPU seconds, and their spread.

Knows an engine's steps and this process's clock, nothing of what is compared.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from semcache.engine import Job, Sampling
from semcache.engine.engine import Engine
from semcache.engine.job import Approximation

PREFIX, NEW = 2048, 32
Json = dict[str, Any]
names = itertools.count()


def tokens(rng: random.Random, count: int) -> tuple[int, ...]:
    """Random tokens, none of them special."""
    return tuple(rng.randrange(6, 8000) for _ in range(count))


def cpu(what: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    began = time.process_time()
    what()
    return time.process_time() - began


def spread(values: Sequence[float], unit: str = "", scale: float = 1.0, digits: int = 1) -> str:
    """Median and range."""
    low, middle, high = min(values) * scale, statistics.median(values) * scale, max(values) * scale
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f}-{high:.{digits}f})"


def ask(
    engine: Engine,
    prompts: Sequence[Sequence[int]],
    most: int,
    tenant: str = "",
    draft: Sequence[int] = (),
    approximation: Approximation | None = None,
) -> list[list[int]]:
    """Answer prompts greedily and together; the tokens said."""
    sampling = Sampling(max_tokens=most, ignore_eos=True, logprobs=0)
    jobs = [Job(str(next(names)), tuple(prompt), sampling, tenant, tuple(draft), approximation) for prompt in prompts]
    said: dict[str, list[int]] = {job.id: [] for job in jobs}
    for job in jobs:
        engine.submit(job)
    while not engine.idle:
        for delta in engine.step():
            said[delta.job].extend(score.token for score in delta.scores)
    return [said[job.id] for job in jobs]
