"""Tiny engines for tests, and what they say."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from semcache.engine import EngineConfig, Job, Sampling
from semcache.engine.engine import Engine
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.job import Delta, FinishReason, TokenUsage
from semcache.engine.offload import OffloadTiers

SMALL: dict[str, Any] = {"block": 8, "step": 48, "share": 16, "draft": 0, "cache_bytes": 1 << 20}


def an_engine(
    folder: Path,
    *,
    wrap: Callable[[Any], Any] | None = None,
    tiers: Any = None,
    publisher: Any = None,
    **settings: Any,
) -> Engine:
    """An engine over a model folder; `wrap` may replace its decoder, `tiers` makes tiers from the metrics."""
    from semcache.engine.decoder import open_decoder
    from semcache.engine.tokenizer import Tokenizer

    config = EngineConfig(str(folder), **{**SMALL, **settings})
    decoder, metrics, seeds = open_decoder(config), EngineMetrics(), itertools.count(1)
    behind = tiers(metrics) if tiers else OffloadTiers(host_bytes=0, disk=None, clock=time.monotonic, metrics=metrics)
    decoder = wrap(decoder) if wrap else decoder
    tokenizer = Tokenizer(str(folder))
    return Engine(
        decoder,
        tokenizer,
        config,
        clock=time.monotonic,
        seeds=lambda: next(seeds),
        metrics=metrics,
        tiers=behind,
        publisher=publisher,
    )


class Outcome:
    """The answer of a job, by choice."""

    def __init__(self) -> None:
        self.deltas: list[Delta] = []

    @property
    def texts(self) -> list[str]:
        choices = max(delta.choice for delta in self.deltas) + 1
        return ["".join(d.text for d in self.deltas if d.choice == choice) for choice in range(choices)]

    @property
    def text(self) -> str:
        (text,) = self.texts
        return text

    @property
    def finishes(self) -> list[FinishReason | None]:
        return [delta.finish for delta in sorted(self.deltas, key=lambda d: d.choice) if delta.finish]

    @property
    def spent(self) -> TokenUsage:
        (spent,) = [delta.spent for delta in self.deltas if delta.spent]
        return spent


def work(engine: Engine, jobs: Iterable[Job] = ()) -> dict[str, Outcome]:
    """Submit jobs, work until nothing is left, and give what each said."""
    outcomes: dict[str, Outcome] = {}
    for job in jobs:
        engine.submit(job)
    for _ in range(10_000):
        if engine.idle:
            return outcomes
        for delta in engine.step():
            outcomes.setdefault(delta.job, Outcome()).deltas.append(delta)
    raise AssertionError("the engine does not come to rest")


def ids(seed: int, count: int) -> tuple[int, ...]:
    """Random tokens, none of them special."""
    rng = random.Random(seed)
    return tuple(rng.randrange(6, 500) for _ in range(count))


def job(name: str, prompt: Sequence[int], *, tenant: str = "", draft: Sequence[int] = (), **sampling: Any) -> Job:
    """A job that goes on until its last token, greedy unless told otherwise."""
    given = {"max_tokens": 12, "ignore_eos": True, **sampling}
    return Job(name, tuple(prompt), Sampling(**given), tenant, tuple(draft))


def metric(engine: Engine, name: str, **labels: str) -> float:
    """The value of a metric."""
    from prometheus_client.parser import text_string_to_metric_families

    for family in text_string_to_metric_families(engine.metrics.text().decode()):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    raise AssertionError(f"no metric {name} {labels}")


class Reference:
    """The model by itself: the likeliest token after a full pass over everything before it, without any cache."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM

        from semcache.engine.tokenizer import Tokenizer

        self.model = AutoModelForCausalLM.from_pretrained(folder)
        self.tokenizer = Tokenizer(str(folder))

    def tokens(self, prompt: Sequence[int], count: int) -> list[int]:
        import torch

        said = list(prompt)
        with torch.inference_mode():
            for _ in range(count):
                said.append(int(self.model(torch.tensor([said]), use_cache=False).logits[0, -1].argmax()))
        return said[len(prompt) :]

    def says(self, prompt: Sequence[int], count: int) -> str:
        reader = self.tokenizer.reader()
        return "".join(reader.feed(token) for token in self.tokens(prompt, count)) + reader.flush()
