"""A broad edit of any real question makes it another question, and the guards must say so nearly always."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import pytest

from semcache.matching.guards import GUARDS, conflicts
from tests.matching.guards.edits import ONE_SIDED, TWO_SIDED

DATA = Path(os.environ.get("SEMCACHE_DATA", Path(__file__).parents[4] / "shared" / "data"))
SETS = (
    ("banking77/queries.jsonl.gz", "text"),
    ("medquad/qa.jsonl.gz", "question"),
    ("qqp_pairs/pairs.jsonl.gz", "question1"),
)
LEAST = {
    "number": 0.95,
    "date": 0.9,
    "negation": 0.85,
    "antonym": 0.8,
    "direction": 0.8,
    "quantifier": 0.9,
    "question": 0.85,
}
EACH = 1500


@pytest.fixture(scope="module")
def questions() -> list[str]:
    found: list[str] = []
    for path, field in SETS:
        if not (DATA / path).exists():
            pytest.skip(f"needs {DATA / path}: set SEMCACHE_DATA to the folder of the evaluation data")
        with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)[field] for line in lines]
        found += random.Random(1).sample(texts, min(EACH, len(texts)))
    return found


@pytest.mark.parametrize("most", [500, pytest.param(10_000, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("kind", [*ONE_SIDED, *TWO_SIDED])
def test_edits_are_vetoed(kind: str, most: int, questions: list[str]) -> None:
    rng = random.Random(2)
    vetoed = pairs = 0
    for text in rng.sample(questions, len(questions)):
        if pairs == most:
            break
        edited = ONE_SIDED[kind](text, rng) if kind in ONE_SIDED else TWO_SIDED[kind](text, rng)
        if edited is None:
            continue
        one, two = (text, edited) if isinstance(edited, str) else edited
        pairs += 1
        vetoed += any(conflict.veto for conflict in conflicts(one, two, GUARDS))
    assert pairs >= 5
    assert vetoed >= LEAST.get(kind, 0.97) * pairs, f"{vetoed} of {pairs}"
