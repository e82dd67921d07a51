"""A certified cascade on recorded answers: `python -m eval.near_cascade [--results DIR]`.

Near hits without examples (nobody recorded answers with examples) between the small and the large model of gsm8k, as
`eval/recorded.py` has them; an answer is worse where the small model's is wrong and the large one's right. `learning`:
the 961 problems once, in three shuffled orders, everything learned on the way. `learned before`: what the first half of
the file teaches is frozen, and 3,000 requests are drawn from the other half, so that a certificate has time to come
about. Up to half of the requests are compared, and paid for. Writes near_cascade.md and near_cascade.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from eval.markdown import table
from eval.recorded import Row, gsm8k
from semcache.agents.multiplex import PricedModels
from semcache.agents.nearhits import Arm, NearHits, NearSettings
from semcache.agents.nearhits.near import Draws
from semcache.storage.indexes.flat import FlatIndex

RESULTS = Path(__file__).parent / "results"
TARGETS = (0.1, 0.2)
SEEDS, DRAWN, RATE = 3, 3000, 0.5


class Stream:
    """Near hits that requests are put to one after the other; what they are paid and what comes of it."""

    def __init__(self, models: PricedModels, target: float, strategy: Literal["route", "cascade"], seed: int) -> None:
        self.small, self.large = models.others[0], models.best
        given = NearSettings(self.small, self.large, target=target, rate=RATE, examples=0, strategy=strategy)
        self.near, self.rng = NearHits(given, FlatIndex), random.Random(seed)
        self.asked = self.served = self.worse = self.paid = self.always = 0.0

    def teach(self, row: Row) -> None:
        """Compare both answers, for nothing."""
        choice = self.near.consider(row.asked.text, partition=b"p", category="", vector=row.asked.vector, now=0.0)
        self.near.router.learn(choice.context, choice.tried, _good(row))  # type: ignore[arg-type]
        self.near.router.learn(choice.context, Arm.LARGE, 1.0)  # type: ignore[arg-type]
        if self.near.check is not None:
            self.near.check.learn(choice.asked, row.answer, _good(row))

    def freeze(self) -> None:
        """From here on only the certificate learns."""
        self.near.router.learn = lambda *_: None  # type: ignore[method-assign]
        if self.near.check is not None:
            self.near.check.learn = lambda *_: None  # type: ignore[method-assign]

    def put(self, row: Row) -> None:
        """One request."""
        near, draw = self.near, self.rng.random
        choice = near.consider(
            row.asked.text, partition=b"p", category="math", vector=row.asked.vector, now=0.0,
            draws=Draws(draw(), draw(), draw()),
        )  # fmt: skip
        first = choice.arm is not Arm.LARGE
        believed = (first or choice.compare) and near.believes(choice, row.answer)
        served = first and believed
        both = choice.compare or (first and not believed)
        small, large = self.small.cost(row.usages[0]), self.large.cost(row.usages[1])
        self.paid += small * (first or both) + large * (not served or both)
        self.always += large
        self.asked, self.served = self.asked + 1, self.served + served
        self.worse += served and not _good(row)
        if choice.compare or (first and not believed and draw() < RATE):
            near.compared(choice, quality=_good(row), now=0.0, answer=row.answer, believed=believed)

    def found(self) -> dict[str, float]:
        """The results, as shares."""
        watch = self.near.watch("math")
        return {
            "served": self.served / self.asked,
            "worse among served": self.worse / self.served if self.served else 0.0,
            "quality lost": self.worse / self.asked,
            "saved": 1.0 - self.paid / self.always,
            "open at the end": float(watch.open),
        }


def run(strategy: Literal["route", "cascade"], target: float, seed: int, way: str) -> dict[str, float]:
    """One stream."""
    models, rows = gsm8k()
    stream, rng = Stream(models, target, strategy, seed), random.Random(seed)
    if way == "learning":
        for row in rng.sample(rows, len(rows)):
            stream.put(row)
        return stream.found()
    half = len(rows) // 2
    for row in rows[:half]:
        stream.teach(row)
    stream.freeze()
    for row in islice(_drawn(rows[half:], rng), DRAWN):
        stream.put(row)
    return stream.found()


def _drawn(rows: list[Row], rng: random.Random) -> Iterator[Row]:
    while True:
        yield rng.choice(rows)


def _good(row: Row) -> float:
    return float(row.qualities[0] >= row.qualities[1])


def page(found: dict[str, list[dict[str, float]]]) -> str:
    """The results as Markdown."""
    columns = list(next(iter(found.values()))[0])

    def shown(values: list[float]) -> str:
        return f"{statistics.fmean(values):.1%} ({min(values):.1%} to {max(values):.1%})"

    rows = [[way, *[shown([one[name] for one in runs]) for name in columns]] for way, runs in found.items()]
    return (
        "# Near hits as a cascade\n\nMade by `python -m eval.near_cascade`, which says what was done. gsm8k, mean over "
        f"{SEEDS} seeds with lowest and highest; `target` is the accepted share of served answers that are worse, "
        "`saved` is money net of comparisons and of doubted answers.\n\n" + table(["stream", *columns], rows)
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    for way in ("learning", "learned before"):
        for strategy in ("route", "cascade"):
            for target in TARGETS:
                name = f"{strategy}, {way}, target {target:.0%}"
                found[name] = [run(strategy, target, seed, way) for seed in range(SEEDS)]
                print(name, found[name], flush=True)
    (options.results / "near_cascade.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.results / "near_cascade.md").write_text(page(found))
    print(page(found))


if __name__ == "__main__":
    main()
