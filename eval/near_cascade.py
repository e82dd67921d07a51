"""What choosing is worth, on recorded answers and under certificates: `python -m eval.near_cascade [SET...]`.

Near hits without examples (nobody recorded answers with examples) between the small and the large model of gsm8k and of
alpaca_eval, as `eval/recorded.py` has them; an answer is worse where the small model's is not as good as the large
one's. `route` chooses before a model is asked, by the likeliest (`greedy`) or by a draw for each (Thompson sampling, as
the proxy does); `cascade` looks at the small model's answer. `learning`: all requests once, in three shuffled orders,
everything learned on the way. `learned before`: what the first half of the file teaches is frozen, and 3,000 requests
are drawn from the other half, so that a certificate has time to come about. Up to half of the requests are compared,
and paid for. Writes near_cascade.md and near_cascade.json.
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
from eval.recorded import SETS, Row
from semcache.agents.multiplex import PricedModels
from semcache.agents.nearhits import Arm, NearHits, NearSettings
from semcache.agents.nearhits.near import Draws
from semcache.storage.indexes.flat import FlatIndex

RESULTS = Path(__file__).parent / "results"
TARGETS = (0.1, 0.2)
SEEDS, DRAWN, RATE = 3, 3000, 0.5
CHOSEN = ("gsm8k", "alpaca_eval")
STRATEGIES = ("route, greedy", "route", "cascade")
Recorded = tuple[PricedModels, list[Row]]


class Stream:
    """Near hits that requests are put to one after the other; what they are paid and what comes of it."""

    def __init__(
        self, models: PricedModels, target: float, strategy: Literal["route", "cascade"], seed: int, *, greedy: bool
    ) -> None:
        self._greedy = greedy
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
            draws=Draws(draw(), draw(), draw(), {} if self._greedy else {arm: self.rng.gauss(0.0, 1.0) for arm in Arm}),
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


def run(recorded: Recorded, strategy: str, target: float, seed: int, way: str) -> dict[str, float]:
    """One stream."""
    models, rows = recorded
    kind: Literal["route", "cascade"] = "cascade" if strategy == "cascade" else "route"
    stream = Stream(models, target, kind, seed, greedy=strategy == "route, greedy")
    rng = random.Random(seed)
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


def page(found: dict[str, dict[str, list[dict[str, float]]]]) -> str:
    """The results as Markdown."""

    def shown(values: list[float]) -> str:
        return f"{statistics.fmean(values):.1%} ({min(values):.1%} to {max(values):.1%})"

    doc = (
        "# What choosing is worth\n\nMade by `python -m eval.near_cascade`, which says what was done. Mean over "
        f"{SEEDS} seeds with lowest and highest; `target` is the accepted share of served answers that are worse, "
        "`saved` is money net of comparisons and of doubted answers.\n"
    )
    for name, ways in found.items():
        columns = list(next(iter(ways.values()))[0])
        rows = [[way, *[shown([one[column] for one in runs]) for column in columns]] for way, runs in ways.items()]
        doc += f"\n## {name}\n\n{table(['stream', *columns], rows)}\n"
    return doc


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *CHOSEN], help="default: all")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for name in options.sets or CHOSEN:
        recorded, of_set = SETS[name](), found.setdefault(name, {})
        for way in ("learning", "learned before"):
            for strategy in STRATEGIES:
                for target in TARGETS:
                    stream = f"{strategy}, {way}, target {target:.0%}"
                    of_set[stream] = [run(recorded, strategy, target, seed, way) for seed in range(SEEDS)]
                    print(name, stream, of_set[stream], flush=True)
    (options.results / "near_cascade.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.results / "near_cascade.md").write_text(page(found))


if __name__ == "__main__":
    main()
