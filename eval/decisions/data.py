"""The labelled questions that streams are made of, and their split into what may be learned on and what is reported.

Knows the data sets and nothing of caches. Invariant: questions that share an answer, or that a labelled pair connects,
lie in the same half.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from semcache.learning.judges.by_text import normal

DATA = Path(os.environ.get("EVAL_DATA", Path(__file__).parent.parent.parent.parent / "shared" / "data"))
SETS: tuple[str, ...] = ("qqp", "clinc150", "banking77", "hint3", "covidq")
Half = Literal["prior", "report"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the name of its answer. `group` is what the split keeps together, `category` one of the pack's.

    `alone` marks questions that only the same text answers: out of scope, or without a known answer.
    """

    text: str
    answer: str
    group: str
    category: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, a cached one, and whether the answer cached for it is right for the question.

    `kind` is the set's own word for the pair.
    """

    cached: str
    asked: str
    same: bool
    group: str
    kind: str


def split(name: str) -> Half:
    """The half that a group of questions belongs to: priors may be learned on "prior", figures come from "report"."""
    return "prior" if hashlib.sha256(f"decisions:{name}".encode()).digest()[0] % 2 else "report"


def available() -> bool:
    """Return True if the data lie where they are looked for."""
    return (DATA / "qqp_pairs" / "pairs.jsonl.gz").is_file()


def rows(path: str) -> Iterator[dict[str, Any]]:
    """The rows of a data file, named from the folder of the data."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


@cache
def questions(name: str, half: Half | None = None) -> tuple[Question, ...]:
    """The distinct questions of a set, or those of one half, as the file has them; the first answer of a text counts.

    Raises ValueError for an unknown set.
    """
    if name not in SETS:
        raise ValueError(f"no set {name!r}: choose among {', '.join(SETS)}")
    found: dict[str, Question] = {}
    for question in _qqp() if name == "qqp" else _classes(name):
        found.setdefault(question.text, question)
    return tuple(one for one in found.values() if half is None or split(one.group) == half)


@cache
def pairs(name: str) -> tuple[Pair, ...]:
    """The labelled pairs of `qqp`, `paws_wiki` or `fow_cache`. Raises ValueError for another set."""
    if name == "qqp":
        found = [
            Pair(row["question1"], row["question2"], bool(row["is_duplicate"]), f"qqp:{row['component']}", "all")
            for row in rows("qqp_pairs/pairs.jsonl.gz")
        ]
    elif name == "paws_wiki":
        found = [
            Pair(row["sentence1"], row["sentence2"], bool(row["label"]), f"paws:{row['id']}", "all")
            for row in rows("paws_wiki/pairs.jsonl.gz")
        ]
    elif name == "fow_cache":
        lines = (DATA / "fow_cache" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
        found = [
            Pair(row["a"], row["b"], row["same_answer"], row["id"], f"{row['id'].split('-')[0]}, {row['style']}")
            for row in map(json.loads, lines)
        ]
    else:
        raise ValueError(f"no pairs {name!r}: choose among qqp, paws_wiki, fow_cache")
    return tuple(found)


def _classes(name: str) -> Iterator[Question]:
    if name == "covidq":
        for row in rows("covidq/questions.jsonl.gz"):
            answer = f"covidq:{row['class']}"
            yield Question(row["question"], answer, answer, "medical")
        return
    nowhere = {"clinc150": "oos", "hint3": "NO_NODES_DETECTED"}.get(name)
    for row in rows(f"{name}/queries.jsonl.gz"):
        # What has no intent has an answer of its own, however it is typed.
        alone = row["intent"] == nowhere
        answer = f"{name}:{row.get('bot', '')}:{normal(row['text']) if alone else row['intent']}"
        yield Question(row["text"], answer, answer, "support", alone)


def _qqp() -> Iterator[Question]:
    """Classes are the connected components of the duplicates; what a labelled pair connects is one group."""
    parent: dict[str, str] = {}
    group: dict[str, str] = {}

    def root(text: str) -> str:
        while parent[text] != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    for row in rows("qqp_pairs/pairs.jsonl.gz"):
        one, two = row["question1"], row["question2"]
        for text in (one, two):
            parent.setdefault(text, text)
            group[text] = f"qqp:{row['component']}"
        if row["is_duplicate"]:
            parent[root(two)] = root(one)
    for text, component in group.items():
        yield Question(text, f"qqp:{root(text)}", component, "default")
