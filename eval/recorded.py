"""Requests with the recorded answers of a small and a large model, and how good each answer was.

Knows the data sets of `shared/data`, nothing of routing. Invariant: qualities lie in [0, 1], and no predictor sees one
of a request before it was decided on.

gsm8k: Mixtral 8x7B and GPT-4, right or wrong as RouteLLM recorded it, at the prices that its paper takes (2406.18665:
$0.24 and $24.7 per million tokens). mmlu_pro: one model alone is recorded (Gemini 1.5 Pro, $1.25 and $5), so the large
one is a notional one, always right at ten times the price. alpaca_eval: Llama-3-8B and GPT-4-1106; nobody judged them,
so an answer of the small one counts as good where its embedding is as near to the large one's as that of a third model
(GPT-4o) is, within 0.02: a proxy. Tokens are a quarter of the characters.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.embedded import embedded
from semcache.agents.multiplex import PricedModel, PricedModels, RoutingRequest
from semcache.types import Usage

DATA = Path(__file__).parents[2] / "shared" / "data"
_HEAD = 1500
_ALIKE = 0.02
_MMLU_ROWS = 3000
_SEED = 7


@dataclass(frozen=True, slots=True)
class Row:
    """One request. `qualities` and `usages` are of the small and of the large model."""

    asked: RoutingRequest
    answer: str
    relevance: float
    qualities: tuple[float, float]
    usages: tuple[Usage, Usage]


def gsm8k() -> tuple[PricedModels, list[Row]]:
    """Word problems in the order of the file."""
    rows = _lines("gsm8k/test")
    models = PricedModels(
        (PricedModel("mixtral-8x7b", 0.24, 0.24, 0.6), PricedModel("gpt-4", 24.7, 24.7, 0.9)), "gpt-4"
    )
    return models, _rows(
        [row["question"] for row in rows],
        ["math"] * len(rows),
        [row["mixtral_response"] for row in rows],
        [row["gpt4_response"] for row in rows],
        [(_true(row["mixtral_correct"]), _true(row["gpt4_correct"])) for row in rows],
    )


def mmlu_pro() -> tuple[PricedModels, list[Row]]:
    """Questions in 14 subjects: the file is ordered by subject, so a sample in random order."""
    rows = _lines("mmlu_pro/questions")
    rows = random.Random(_SEED).sample(rows, _MMLU_ROWS)
    models = PricedModels(
        (PricedModel("gemini-1.5-pro", 1.25, 5.0, 0.6), PricedModel("notional", 12.5, 50.0, 1.0)), "notional"
    )
    texts = [f"{row['question']}\n" + "\n".join(row["options"]) for row in rows]
    answers = [row["model_outputs"] for row in rows]
    good = [(float(row["pred"] == row["answer"]), 1.0) for row in rows]
    return models, _rows(texts, [row["category"] for row in rows], answers, answers, good)


def alpaca_eval() -> tuple[PricedModels, list[Row]]:
    """Instructions: the file is ordered by source, so all of them in random order."""
    rows = _lines("alpaca_eval/prompts")
    random.Random(_SEED).shuffle(rows)
    small, large, third = (
        [row["outputs"][name] for row in rows]
        for name in ("Meta-Llama-3-8B-Instruct", "gpt4_1106_preview", "gpt-4o-2024-05-13")
    )
    vectors = [embedded([text[:_HEAD] for text in texts]) for texts in (small, large, third)]
    near, other = ((vectors[one] * vectors[1]).sum(1) for one in (0, 2))
    good = [(float(one >= two - _ALIKE), 1.0) for one, two in zip(near, other, strict=True)]
    models = PricedModels(
        (PricedModel("llama-3-8b", 0.2, 0.2, 0.5), PricedModel("gpt-4-1106", 10.0, 30.0, 1.0)), "gpt-4-1106"
    )
    return models, _rows([row["instruction"] for row in rows], [row["dataset"] for row in rows], small, large, good)


SETS: dict[str, Callable[[], tuple[PricedModels, list[Row]]]] = {
    "gsm8k": gsm8k,
    "mmlu_pro": mmlu_pro,
    "alpaca_eval": alpaca_eval,
}


def _rows(
    texts: Sequence[str],
    categories: Sequence[str],
    small: Sequence[str],
    large: Sequence[str],
    qualities: Sequence[tuple[float, float]],
) -> list[Row]:
    vectors = embedded([text[:_HEAD] for text in texts])
    said = embedded([text[:_HEAD] for text in small])
    relevance = np.asarray((vectors * said).sum(1), dtype=float)
    return [
        Row(
            RoutingRequest(text, category, vector, _tokens(text)),
            one,
            float(near),
            quality,
            (Usage(_tokens(text), _tokens(one)), Usage(_tokens(text), _tokens(two))),
        )
        for text, category, vector, one, two, quality, near in zip(
            texts, categories, vectors, small, large, qualities, relevance, strict=True
        )
    ]


def _lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _true(value: Any) -> float:
    return float(value in (True, "True"))


def _tokens(text: str) -> int:
    return (len(text) + 3) // 4
