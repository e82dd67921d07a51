"""The dated sets and traffic whose answers mostly stay, read from their files.

Knows no model. Invariant: the same files and seed give the same prompts.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semcache.retention.freshness import Volatility

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
Row = dict[str, Any]


def rows(data: Path, name: str, file: str = "questions") -> list[Row]:
    """The lines of one data set."""
    with gzip.open(data / name / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@dataclass(frozen=True)
class Timeline:
    """A question and the moments (years) from which each of its answers holds; a single -inf when it never changes."""

    question: str
    starts: tuple[float, ...]

    @property
    def kind(self) -> Volatility | None:
        """Never without dependence on time, fast below 1.6 years between answers; None when one answer is too few."""
        if self.starts[0] == -math.inf:
            return Volatility.NEVER
        if len(self.starts) < 2:
            return None
        gap = (self.starts[-1] - self.starts[0]) / (len(self.starts) - 1)
        return Volatility.FAST if gap < 1.6 else Volatility.SLOW


def timelines(data: Path) -> list[Timeline]:
    """SituatedQA by question; a year without a day becomes its middle."""
    starts: dict[str, set[float]] = defaultdict(set)
    for row in rows(data, "situatedqa_temp"):
        starts[row["question"]] |= {_year(row["date"])} if row["date_type"] == "start" else set()
    return [Timeline(question, tuple(sorted(found)) or (-math.inf,)) for question, found in starts.items()]


def _year(date: str) -> float:
    year = int(date[-4:])
    day = re.match(r"(\w+) (\d+)", date)
    return year + (MONTHS.index(day[1]) / 12 + int(day[2]) / 366 if day else 0.5)


def ordinary(data: Path, seed: int = 0, limit: int = 300) -> dict[str, list[str]]:
    """Prompts of traffic whose answers mostly stay, where every FAST is a life cut short for nothing."""
    found = {
        "gsm8k": [row["question"] for row in rows(data, "gsm8k", "test")],
        "code_prompts": [row["prompt"] for row in rows(data, "code_prompts", "prompts")],
        "medquad": [row["question"] for row in rows(data, "medquad", "qa")],
        "banking77": [row["text"] for row in rows(data, "banking77", "queries")],
        "clinc150": [row["text"] for row in rows(data, "clinc150", "queries")],
        "qqp_pairs": [row["question1"] for row in rows(data, "qqp_pairs", "pairs")],
    }
    return {name: random.Random(seed).sample(sorted(set(texts)), limit) for name, texts in found.items()}
