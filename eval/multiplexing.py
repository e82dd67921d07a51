"""Choosing between a small and a large model: `python -m eval.multiplexing [SET...] [--simulation] [--results DIR]`.

The first half of each set, in its order, is learned from: both recorded answers are compared. The second half is
measured; the curve is made by the loss that is allowed, the one setting. `route` and `cascade` learn nothing on
the second half. `cascade, learning on` does what the product does: where the large model was asked after the small one,
both answers are there and are compared, and 5% of the requests go to both, which is paid for. Features, penalties and
priors were chosen on the first half of gsm8k alone. Intervals are bootstraps over the requests of the second half
(2,000 draws, seed 0). Writes multiplexing.md, multiplexing.json and, where matplotlib is installed, multiplexing.png.
Sets that are not named are kept as they were measured.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from eval.choosing import Account, Multiplexer, MultiplexTerms
from eval.decisions.plots import possible
from eval.markdown import table
from eval.multiplexed_caches import BASELINE, OURS, SEEDS, simulated
from eval.recorded import SETS, Row
from semcache.agents.multiplex import PricedModels

RESULTS = Path(__file__).parent / "results"
LOSSES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
PROMISED = 0.01
STRATEGIES = ("route", "cascade", "cascade, learning on")
_RATIOS = (10.0, 100.0)
_DRAWS = 2000
_NEVER = 2.0  # a draw that explores nothing
_SEED = 0


def played(
    models: PricedModels, rows: Sequence[Row], terms: MultiplexTerms, *, learning: bool = False
) -> tuple[np.ndarray, np.ndarray, Account]:
    """Quality and cost of each request of the second half under one strategy and one allowed loss."""
    draws = random.Random(_SEED)
    chooser, small, large = Multiplexer(models, terms), models.others[0].name, models.reference
    half = len(rows) // 2
    for row in rows[:half]:
        lost = row.qualities[1] - row.qualities[0]
        choice = chooser.choose(row.asked, _NEVER)
        if choice.check:
            kept, predicted = chooser.keep(row.asked, small, row.answer, row.relevance)
        else:
            kept, predicted = choice.model == small, choice.loss
        chooser.learn(
            row.asked, small, row.answer, lost, relevance=row.relevance, predicted=predicted if kept else None
        )
        for name, usage in zip((small, large), row.usages, strict=True):
            chooser.answered(row.asked, name, usage.completion_tokens)
    account = Account(models)
    qualities, costs = [], []
    for row in rows[half:]:
        choice = chooser.choose(row.asked, draws.random() if learning else _NEVER)
        kept = choice.model == small
        calls = {small: row.usages[0]} if kept else {}
        predicted = None
        if choice.check or choice.compare:
            kept, loss = chooser.keep(row.asked, small, row.answer, row.relevance)
            predicted = loss if kept else None
        if choice.compare or not kept:
            kept, calls[large] = False, row.usages[1]
        if learning and len(calls) > 1:
            lost = row.qualities[1] - row.qualities[0]
            chooser.learn(row.asked, small, row.answer, lost, relevance=row.relevance, predicted=predicted)
        outcome = "escalated" if choice.check and not kept else choice.why
        costs.append(account.note(outcome, calls, alone=row.usages[1]))
        qualities.append(row.qualities[0 if kept else 1])
    return np.array(qualities), np.array(costs), account


def measured(name: str) -> dict[str, Any]:
    """Every policy on one set."""
    models, rows = SETS[name]()
    tested = rows[len(rows) // 2 :]
    quality = np.array([row.qualities for row in tested])
    cost = np.array(
        [[model.cost(usage) for model, usage in zip(models.all, row.usages, strict=True)] for row in tested]
    )
    take = np.where(quality[:, 0] >= quality[:, 1], 0, 1)
    each = np.arange(len(tested))
    oracle = quality[each, take], cost[each, take]
    always = quality[:, 1], cost[:, 1]
    found: dict[str, Any] = {
        "requests": len(rows),
        "tested": len(tested),
        "always large": _row(always, always, oracle),
        "always small": _row((quality[:, 0], cost[:, 0]), always, oracle),
        "oracle": _row(oracle, always, oracle),
    }
    for share in (0.1, 0.25, 0.5):
        # Of mixing at random only the expectation counts.
        mixed = quality @ (share, 1 - share), cost @ (share, 1 - share)
        found[f"random {share:.0%} small"] = _row(mixed, always, oracle)
    for strategy in STRATEGIES:
        for loss in LOSSES:
            kind: Literal["route", "cascade"] = "route" if strategy == "route" else "cascade"
            learning = strategy == STRATEGIES[-1]
            got, paid, account = played(models, rows, MultiplexTerms(loss=loss, strategy=kind), learning=learning)
            row = _row((got, paid), always, oracle)
            found[f"{strategy} {loss:g}"] = row | {"allowed": loss, "books": account.rows()}
            print(name, strategy, loss, {key: row[key] for key in ("saving", "of oracle", "loss")}, flush=True)
    return found


def _row(got: tuple[Any, Any], always: tuple[Any, Any], oracle: tuple[Any, Any]) -> dict[str, Any]:
    """Quality, cost, saving against the large model alone, its share of the oracle's, and the quality lost."""

    def figures(at: Any) -> tuple[float, float, float]:
        whole = always[1][at].sum()
        saving = 1.0 - got[1][at].sum() / whole
        best = 1.0 - oracle[1][at].sum() / whole
        return saving, saving / best if best else 0.0, float(always[0][at].mean() - got[0][at].mean())

    rng, size = np.random.default_rng(0), len(always[0])
    saving, share, loss = figures(np.arange(size))
    drawn = np.array([figures(rng.integers(0, size, size)) for _ in range(_DRAWS)])
    low, high = np.quantile(drawn, 0.025, axis=0), np.quantile(drawn, 0.975, axis=0)
    return {
        "quality": float(got[0].mean()),
        "usd per thousand": 1e3 * float(got[1].mean()),
        "saving": saving,
        "of oracle": share,
        "of oracle 95%": [low[1], high[1]],
        "loss": loss,
        "loss 95%": [low[2], high[2]],
    }


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    doc = (
        "# Choosing among models\n\nMade by `python -m eval.multiplexing`; what the sets, prices and qualities are is "
        "said in `eval/recorded.py`, what the simulation is in `eval/multiplexed_caches.py`. Learned on the first half "
        "of each set, measured on the second; intervals are 95% bootstraps over its requests.\n\n"
        "`loss` is the quality of the large model less that of the policy, in points; `of oracle` the saving against "
        "that of an oracle that takes the small model wherever it is as good. A number behind a strategy is the loss "
        "that it was allowed. `route` decides before a model is asked, `cascade` asks the small one and looks at what "
        "it says.\n"
    )
    for name in SETS:
        if name in found:
            doc += f"\n## {name}\n\n{found[name]['requests']} requests, {found[name]['tested']} of them measured. "
            doc += _verdict(found[name]) + "\n\n" + _table(found[name])
    if "simulation" in found:
        doc += (
            "\n## Caching and multiplexing together\n\n"
            f"Mean cost of a request over {SEEDS} seeds; `times less` against {BASELINE}, and over the second half of "
            "the requests alone, when every model was tried for every prompt.\n\n"
        )
        doc += table(
            ["cost ratio", "policy", "cost", "sd over seeds", "times less", "late"],
            [
                [f"{row['ratio']:g}", row["policy"], f"{row['cost']:.2f}", f"{row['sd']:.2f}",
                 f"{row['times less']:.1f}", f"{row['late times less']:.1f}"]
                for row in found["simulation"]
            ],
        )  # fmt: skip
        best = {row["ratio"]: row for row in found["simulation"] if row["policy"] == OURS}
        doc += "".join(
            f"\nAt a ratio of {ratio:g}, {OURS} costs {row['times less']:.1f} times less than {BASELINE}."
            for ratio, row in best.items()
        )
        doc += " The paper reports up to 50 times at 100, and 4.3 times (FLOPs of real models) at 10.\n"
    return doc


def _verdict(rows: dict[str, Any]) -> str:
    said = []
    for strategy in STRATEGIES:
        row = rows[f"{strategy} {PROMISED:g}"]
        met = row["of oracle"] >= 0.5 and row["loss"] <= PROMISED
        said.append(
            f"Allowed 1%, `{strategy}` kept {row['of oracle']:.0%} of the oracle's saving and lost "
            f"{100 * row['loss']:.1f} points ({'met' if met else 'not met'}: half of it at no more than 1)."
        )
    return " ".join(said)


def _table(rows: dict[str, Any]) -> str:
    lines = [
        [
            name,
            f"{row['quality']:.1%}",
            f"{row['usd per thousand']:.3f}",
            f"{row['saving']:.1%}",
            f"{row['of oracle']:.0%} ({row['of oracle 95%'][0]:.0%} to {row['of oracle 95%'][1]:.0%})",
            f"{100 * row['loss']:.1f} ({100 * row['loss 95%'][0]:.1f} to {100 * row['loss 95%'][1]:.1f})",
        ]
        for name, row in rows.items()
        if isinstance(row, dict)
    ]
    return table(["policy", "quality", "$ per 1,000", "saving", "of oracle", "loss"], lines)


def drawn(found: dict[str, Any], path: Path) -> None:
    """Quality against cost, one panel a set. Needs matplotlib."""
    from matplotlib.figure import Figure

    names = [name for name in SETS if name in found]
    figure = Figure(figsize=(4.2 * len(names), 3.6), layout="constrained")
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        rows = found[name]
        for strategy in STRATEGIES:
            chosen = [rows[f"{strategy} {loss:g}"] for loss in LOSSES]
            points = sorted((row["usd per thousand"], 100 * row["quality"]) for row in chosen)
            panel.plot(*zip(*points, strict=True), marker="o", markersize=3, linewidth=0.9, label=strategy)
        ends = [rows["always small"], rows["always large"]]
        at = [row["usd per thousand"] for row in ends], [100 * row["quality"] for row in ends]
        panel.plot(*at, color="grey", linestyle="--", marker="s", markersize=3, label="random mixing")
        best = rows["oracle"]
        panel.plot([best["usd per thousand"]], [100 * best["quality"]], "k*", label="oracle")
        panel.set_title(name, fontsize=9)
        panel.set_xlabel("$ per 1,000 requests")
    figure.axes[0].set_ylabel("quality [%]")
    figure.axes[0].legend(fontsize=7, loc="lower right")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure what was named, keep the rest, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; all without one")
    parser.add_argument("--simulation", action="store_true", help="only the simulation, unless sets are named")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    path = options.results / "multiplexing.json"
    new: dict[str, Any] = {name: measured(name) for name in options.sets or ([] if options.simulation else SETS)}
    if options.simulation or not options.sets:
        new["simulation"] = [row for ratio in _RATIOS for row in simulated(ratio)]
    found = (json.loads(path.read_text()) if path.is_file() else {}) | new
    path.write_text(json.dumps(_rounded(found), indent=1) + "\n")
    (options.results / "multiplexing.md").write_text(page(found))
    if possible() and any(name in found for name in SETS):
        drawn(found, options.results / "multiplexing.png")
    print(page(found))


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
