"""Near hits with a scripted small model: `python -m eval.nearhits [--results DIR]`.

No data set records what a small model says with other examples, so its answers are scripted over real prompts:
requests of clinc150 (60 classes, Zipf, 2,000 requests) with their embeddings. The large model is right in 95% of cases.
The small one alone knows half of the classes (right in 93%) and not the others (20%); shown an example of the same
class whose answer is right it is right in 95%, and each example of another class takes 1% from that. The offloads of
each way to choose examples are counted at the same certificates (10% and 20%). Mean and spread over 3 seeds. This shows
the machinery at work on the stated world, and nothing of real models. Writes nearhits.md and nearhits.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from eval.choosing import Account
from eval.embedded import embedded
from eval.markdown import table
from semcache.agents.multiplex import PricedModel, PricedModels
from semcache.agents.nearhits import Arm, NearExample, NearHits, NearSettings
from semcache.agents.nearhits.near import Draws
from semcache.storage.indexes.flat import FlatIndex
from semcache.types import Usage

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[2] / "shared" / "data" / "clinc150"
CLASSES, REQUESTS, SEEDS = 60, 2000, 3
SMALL, LARGE = PricedModel("small", 0.15, 0.60), PricedModel("large", 2.50, 10.00)
TARGETS = (0.1, 0.2)
_TOKENS = 150


class _Similar:
    """Helpfulness that is similarity and learns nothing."""

    def predict(self, _request: str, _example: NearExample, score: float, _now: float) -> float:
        return max(0.0, score)

    def learn(self, *_given: Any) -> None:
        return None


def plain(settings: NearSettings) -> NearHits:
    near = NearHits(settings, FlatIndex)
    near.helpful = _Similar()  # type: ignore[assignment]
    return near


def settings(target: float, examples: int, limit: int = 64 << 20) -> NearSettings:
    return NearSettings(SMALL, LARGE, target=target, examples=examples, bytes=limit)


WAYS: dict[str, Callable[[float], NearHits]] = {
    "small model alone": lambda target: plain(settings(target, 0)),
    "five by similarity": lambda target: plain(settings(target, 5)),
    "learned": lambda target: NearHits(settings(target, 5), FlatIndex),
    "learned, memory for 150": lambda target: NearHits(settings(target, 5, 300_000), FlatIndex),
}


def lived(near: NearHits, prompts: list[tuple[str, str, Any]], seed: int) -> dict[str, float]:
    """One stream under one way to choose examples."""
    rng, account = random.Random(seed), Account(PricedModels((SMALL, LARGE), LARGE.name))
    classes = sorted({label for _, label, _ in prompts})
    known = set(rng.sample(classes, len(classes) // 2))
    labels: dict[int, tuple[str, bool]] = {}
    right: list[float] = []
    offloads: list[bool] = []
    for number in range(REQUESTS):
        text, label, vector = prompts[number]
        now = 60.0 * number
        draws = Draws(rng.random(), rng.random(), rng.random(), {arm: rng.gauss(0.0, 1.0) for arm in Arm})
        choice = near.consider(text, partition=b"p", category="c", vector=vector, now=now, draws=draws)
        shown = [labels[one.id] for one in choice.shown]
        helps = any(one == label and good for one, good in shown)
        others = sum(one != label for one, _ in shown)
        chance = 0.95 - 0.01 * others if helps else 0.93 if label in known else 0.2
        small, large = rng.random() < chance, rng.random() < 0.95
        asked = Usage(20 + sum(one.tokens for one in choice.shown), _TOKENS)
        alone = Usage(20, _TOKENS)
        offloaded = choice.arm is not Arm.LARGE
        account.note(
            "near" if offloaded else "large", {SMALL.name: asked} if offloaded else {LARGE.name: alone}, alone=alone
        )
        if choice.compare:
            other = {LARGE.name: alone} if offloaded else {SMALL.name: asked}
            account.note("compared", other, background=True)
            near.compared(choice, quality=float(small or not large), now=now)
        elif offloaded:
            near.served(choice, now=now)
        if not offloaded:
            made = NearExample(number + 1, b"p", text, "x" * 4 * _TOKENS, vector, now)
            labels[number + 1] = label, large
            near.offer(made, now)
        right.append(float(small if offloaded else large))
        offloads.append(offloaded)
    last = REQUESTS // 2
    whole = account.total()
    return {
        "offloaded": statistics.fmean(offloads),
        "offloaded, last half": statistics.fmean(offloads[last:]),
        "quality": statistics.fmean(right),
        "saved": whole.saved / whole.reference,
        "closures": float(near.watch("c").closures),
    }


def prompts_of(seed: int) -> list[tuple[str, str, Any]]:
    """The requests of a seed: distinct prompts of classes that are asked by a power law."""
    with gzip.open(DATA / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rng = np.random.default_rng(seed)
    by_class: dict[str, list[str]] = {}
    for row in rows:
        by_class.setdefault(row["intent"], []).append(row["text"])
    names = sorted(by_class)[:CLASSES]
    weights = (1.0 + rng.permutation(CLASSES)) ** -0.8
    chosen = rng.choice(CLASSES, size=REQUESTS, p=weights / weights.sum())
    pairs = [(by_class[names[at]][int(rng.integers(len(by_class[names[at]])))], names[at]) for at in chosen.tolist()]
    vectors = embedded([text for text, _ in pairs])
    return [(text, label, vector) for (text, label), vector in zip(pairs, vectors, strict=True)]


def page(found: dict[str, list[dict[str, float]]]) -> str:
    """The results as Markdown."""
    columns = list(next(iter(found.values()))[0])

    def shown(name: str, values: list[float]) -> str:
        form = (lambda value: f"{value:.1f}") if name == "closures" else (lambda value: f"{value:.1%}")
        return f"{form(statistics.fmean(values))} ({form(min(values))} to {form(max(values))})"

    rows = [[way, *[shown(name, [run[name] for run in runs]) for name in columns]] for way, runs in found.items()]
    return (
        "# Near hits\n\nMade by `python -m eval.nearhits`; the scripted world is described there. Mean over "
        f"{SEEDS} seeds with lowest and highest. `saved` is money net of comparisons, against always asking the large "
        "model, whose quality is 95%. Nothing is offloaded before comparisons certify an error of at most what is "
        "named. `closures`: how often the path was closed again.\n\n" + table(["examples", *columns], rows)
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    for seed in range(SEEDS):
        prompts = prompts_of(seed)
        for name, make in WAYS.items():
            for target in TARGETS:
                runs = found.setdefault(f"{name}, {target:.0%}", [])
                runs.append(lived(make(target), prompts, seed))
                print(seed, name, target, runs[-1], flush=True)
    (options.results / "nearhits.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.results / "nearhits.md").write_text(page(found))
    print(page(found))


if __name__ == "__main__":
    main()
