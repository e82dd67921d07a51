"""The results as a page.

Knows nothing of how they came about. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.freshness.sets import Row
from eval.markdown import table
from semcache.request.prompt_volatility import KINDS


def page(result: Row, seeds: int) -> str:
    """The results as Markdown."""

    def spread(each: Sequence[float]) -> str:
        return f"{each[0]:.3f} ({each[1]:.3f} to {each[2]:.3f})"

    def classes(found: Mapping[str, Row]) -> str:
        return table(
            ("model", "accuracy (95%)", "macro F1 (95%)", "AUC changes", "AUC fast"),
            [
                (
                    name,
                    spread(row["accuracy"]),
                    spread(row["f1"]),
                    f"{row['auc_changes']:.3f}",
                    f"{row['auc_fast']:.3f}",
                )
                for name, row in found.items()
            ],
        )

    confusion = result["freshqa"]["shipped, cues and embedding"]["confusion"]
    sets = list(result["shares"]["shipped, cues"])
    parts = [
        "# Freshness",
        "Made by `python -m eval.freshness`. The shipped weights were trained on prompts written for the purpose and "
        "saw none of these sets; rows with + were trained on that set too and are not shown on it. "
        "While the prompts and penalties were being settled, scores on FreshQA DEV, SituatedQA, RealTimeQA and the "
        "ordinary sets were looked at: of the tables of kinds, only FreshQA TEST was held out.",
        f"## FreshQA: never, slow, fast ({result['n']['freshqa']} questions, split TEST)",
        classes(result["freshqa"]),
        "Shipped, cues and embedding; rows are the truth:",
        table(
            ("", *map(str, KINDS)), [(str(kind), *map(str, row)) for kind, row in zip(KINDS, confusion, strict=True)]
        ),
        f"## SituatedQA: never, slow, fast by the dates of its answers ({result['n']['situatedqa']} questions)",
        classes(result["situatedqa"]),
        "## Share recognised as bound to the moment / fast / slow",
        "RealTimeQA asks about the news of a week; the other sets are traffic whose answers mostly stay.",
        table(
            ("model", *sets),
            [
                (
                    name,
                    *[" / ".join(f"{100 * x:.0f}" for x in row[each]) + "%" if each in row else "-" for each in sets],
                )
                for name, row in result["shares"].items()
            ],
        ),
        "Changes a year that SituatedQA shows, by the kind that the shipped model sees (its annotators wrote down "
        "no more than the last two answers of most questions, which hides changes of fast ones most): "
        + ", ".join(f"{kind} {rate:.3f}" for kind, rate in result["rates"].items())
        + ".",
        "## FreshQA: lives before anything was learned (pack: ttl 30 d, stale 0.02)",
        "Days at the 10th, 50th and 90th percentile by true class. Stale: share of served answers out of date if reuse "
        "falls evenly into each life and answers last 0.5 years (fast) or 4 years (slow) on average.",
        table(
            ("policy", *map(str, KINDS), "mean life", "stale"),
            [
                (
                    name,
                    *[" / ".join(f"{x:.1f}" for x in row["quantiles"][str(kind)]) for kind in KINDS],
                    f"{row['mean_days']:.1f} d",
                    f"{100 * row['stale']:.2f}%",
                )
                for name, row in result["lives"].items()
            ],
        ),
        "## SituatedQA: asked again along five years",
        f"120 questions (two thirds of them change), 4,000 requests, popularity 1 / rank, {seeds} seeds, mean ± "
        "standard deviation. The learned policies start from a mean of four years between changes of slow answers and "
        "may keep an answer for up to 365 d; their target bounds the probability that an answer is out of date at the "
        "end of its life. Noise: share of unchanged answers that the judge calls changed.",
        table(
            ("policy", "target", "judge noise", "hits", "stale among hits"),
            [
                (
                    row["policy"],
                    "-" if row["target"] is None else f"{100 * row['target']:.0f}%",
                    f"{100 * row['noise']:.0f}%",
                    f"{100 * row['hits'][0]:.1f} ± {100 * row['hits'][1]:.1f}%",
                    f"{100 * row['stale'][0]:.2f} ± {100 * row['stale'][1]:.2f}%",
                )
                for row in result["situated_simulation"]
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"
