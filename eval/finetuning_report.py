"""The gain of fine-tuning, as a page and a figure of `eval.finetuning`.

Knows the reports of the models that were made, and neither data nor models. Invariant: equal reports give an equal
page; targets stand beside results, met or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval import markdown
from semcache.train import card

SHOWN = ("qqp", "synthetic", "written", "banking77", "clinc150")
_UNLABELLED = {"synthetic": "synthetic pairs alone", "written": "authored pairs near its prompts alone"}
_QUORA = 47_000  # pairs there are to train on, about
_TRIED = (  # on, how, AP before and after, R at P 0.95 before and after
    ("Quora", "ranking loss, batch 64", 0.760, 0.790, 0.009, 0.158),
    ("Quora", "batch 32", 0.760, 0.788, 0.009, 0.149),
    ("Quora", "batch 32, three quarters of the way from the base", 0.760, 0.784, 0.009, 0.149),
    ("Quora", "batch 32, half of the way", 0.760, 0.779, 0.009, 0.153),
    ("Quora", "batch 32, rate 1e-4", 0.760, 0.786, 0.009, 0.005),
    ("Quora", "batch 32, logistic loss with learned scale and offset", 0.760, 0.790, 0.009, 0.149),
    ("banking77", "batch 32, every pair of an intent known to be of it", 0.953, 0.963, 0.599, 0.647),
    ("banking77", "the same, half of the way", 0.953, 0.961, 0.599, 0.675),
    ("banking77", "batch 32, near prompts of the batch left out instead", 0.953, 0.964, 0.599, 0.712),
    ("banking77", "the same, half of the way", 0.953, 0.961, 0.599, 0.703),
)


def page(
    made: Mapping[str, Any], spread: Mapping[str, Any], others: Mapping[str, Any], argv: Sequence[str], seed: int
) -> str:
    """The page: `made` holds reports by model, `spread` intervals of AP, `others` figures of other domains."""
    heads = ["data", "trained on", "mixed", "tested on", "", *card.TITLES.values()]
    rows = []
    for name, report in made.items():
        for place in ("before", "after"):
            counts, one = report["pairs"], report[place]
            cells = [f"{one[figure]:.3f}" for figure in card.FIGURES]
            if name in spread:
                low, high = spread[name][place]
                cells[0] += f" ({low:.3f} to {high:.3f})"
            share = f"{report['mixing']['share']:.0%}"
            rows.append([name, str(counts["train"]), share, str(counts["test"]), place, *cells])
    lines = [
        "# Fine-tuning the embedder",
        "",
        f"Made by `{' '.join(['python -m eval.finetuning', *argv])}`, seed {seed}; how is said there.",
        "One epoch each, on two processors. Before is all-MiniLM-L6-v2; both are int8 as they would run in a cache, by "
        "cosine alone: no guards, no features, no verifier. P, R and F1 at the threshold of the best F1 in hindsight. "
        "In brackets: 95% interval of AP (bootstrap over test pairs). Mixed: the share of the trained weights, the "
        "rest being the base's, chosen on check pairs.",
        "",
        markdown.table(heads, rows),
        "",
        *_judged(made, others),
        "",
        *_unfinished(made),
        "## Elsewhere",
        "",
        "AP on domains that a model was not trained on.",
        "",
        markdown.table(
            ["trained on", "measured on", "pairs", "AP before", "AP after", "points"],
            [
                [
                    name, domain, str(found["after"]["pairs"]), f"{found['before']['average_precision']:.3f}",
                    f"{found['after']['average_precision']:.3f}", f"{_points(found, 'average_precision'):+.1f}",
                ]
                for name, domains in others.items() for domain, found in domains.items()
            ],
        ),
        "",
        "![precision over cache-hit ratio](finetuning.png)",
        "",
        "## How it was chosen",
        "",
        "Before this page was made, on few pairs, judged on others of the training side alone: 1,536 Quora pairs, "
        "judged on 1,200; 1,498 pairs of banking77, judged on 600 of other training intents. Rate 5e-5 unless "
        "said, float32.",
        "",
        markdown.table(
            ["tried on", "how", "AP before", "AP after", "R at P 0.95 before", "after"],
            [[where, how, *(f"{figure:.3f}" for figure in figures)] for where, how, *figures in _TRIED],
        ),
        "",
        "So the ranking loss leaves near prompts of the batch out, as unlabelled duplicates, and the weights go as far "
        "from the base's as it takes to keep 85% of what was won on the check pairs, while at most half a point of "
        "AP is lost on general pairs (`semcache.train.weight_interpolation`). That was a whole point first; clinc150 "
        "then went 60% of the way, won 9.0 points of R at P 0.95 and lost 2.7 of AP on paws_wiki, and the bound was "
        "halved.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _unfinished(made: Mapping[str, Any]) -> list[str]:
    """How many of the Quora pairs were trained on, if that is far from all, and what the others would take."""
    trained = made["qqp"]["pairs"]["train"] if "qqp" in made else _QUORA
    if trained > 0.9 * _QUORA:
        return []
    looks = ", ".join(f"{ap:.3f}" for ap in made["qqp"]["training"]["check_average_precision"])
    return [
        f"qqp was trained on {trained} of about {_QUORA} pairs. A step of 64 takes 2.5 to 3 seconds of one processor, "
        f"the {math.ceil(_QUORA / 64)} steps of all some 35 minutes. AP on the check pairs, look by look: {looks}.",
        "",
    ]


def _judged(made: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    """The targets beside the results."""
    rows = []
    if "qqp" in made:
        after = made["qqp"]["after"]["average_precision"]
        rows.append(["AP on Quora pairs, 0.75 before", "0.85", f"{after:.3f}", _verdict(after >= 0.85)])
        points = _points(made["qqp"], "precision")
        rows.append(["precision at best F1, points", "+12", f"{points:+.1f}", _verdict(points >= 12)])
    for name in (name for name in _UNLABELLED if name in made and "qqp" in made):
        whole = _points(made["qqp"], "average_precision")
        share = _points(made[name], "average_precision") / whole if whole else 0.0
        rows.append([f"share of that gain in AP by {_UNLABELLED[name]}", "50%", f"{share:.0%}", _verdict(share >= 0.5)])
    for name in ("banking77", "clinc150"):
        if name in made:
            points = _points(made[name], "recall_95")
            rows.append([f"{name}, recall at P 0.95, points", "above 0", f"{points:+.1f}", _verdict(points > 0)])
    for name, domains in others.items():
        worst = min(_points(found, "average_precision") for found in domains.values())
        rows.append([f"worst loss of AP elsewhere after {name}, points", "-2", f"{worst:+.1f}", _verdict(worst >= -2)])
    return [markdown.table(["asked for", "goal", "found", ""], rows)] if rows else []


def _points(found: Mapping[str, Any], figure: str) -> float:
    return 100.0 * float(found["after"][figure] - found["before"][figure])


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def figure(made: Mapping[str, Any], path: Path) -> None:
    """Precision over cache-hit ratio, a panel for every model but those that compare losses."""
    from matplotlib.figure import Figure

    shown = [name for name in SHOWN if name in made]
    if not shown:
        return
    drawn = Figure(figsize=(3.6 * len(shown), 3.6), layout="constrained")
    panels = np.atleast_1d(drawn.subplots(1, len(shown), sharey=True))
    least = min(made[name]["after"]["same"] / made[name]["after"]["pairs"] for name in shown)
    for axes, name in zip(panels, shown, strict=True):
        for place, colour in (("before", "#8a8f98"), ("after", "#1f6feb")):
            one = made[name][place]
            hits, precision = zip(*one["curve"], strict=True)
            axes.plot(hits, precision, color=colour, label=f"{place}, AP {one['average_precision']:.3f}", linewidth=1.8)
        rightful = one["same"] / one["pairs"]
        axes.axhline(0.95, color="#d0d4da", linewidth=1, linestyle=":", zorder=0)
        axes.axvline(rightful, color="#d0d4da", linewidth=1, zorder=0)
        axes.annotate("all rightful hits", (rightful + 0.02, 0.97), fontsize=7, color="#8a8f98")
        # Below the precision of serving everything there is nothing to see, and differences would vanish beside it.
        axes.set(title=name, xlabel="cache-hit ratio", xlim=(0, 1), ylim=(math.floor(10 * least) / 10, 1.01))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower left", fontsize=8)
    panels[0].set_ylabel("precision of hits")
    drawn.savefig(path, dpi=144)
