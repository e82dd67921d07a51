"""Pairs from logs: what counts as one answer, whose prompts are compared, and that a log can be split."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.train import pipeline, splits
from semcache.train.log_pairs import AnsweredPrompt, LogPairs, _nearest_first, is_refusal
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from semcache.types import Matrix

FAISS = pytest.mark.skipif("not __import__('importlib').util.find_spec('faiss')", reason="the train extra")


def none(texts: Sequence[str]) -> Matrix:
    raise AssertionError(f"{len(texts)} texts were embedded")


def same(*rows: AnsweredPrompt) -> list[Pair]:
    return LogPairs(rows, none).same()


def test_a_log_gives_prompts_of_one_answer_and_near_prompts_of_another() -> None:
    pytest.importorskip("faiss", reason="the train extra is not installed")
    answers = {"a1": "Wait 30 days.", "a2": "wait  30 DAYS.", "b1": "Ask the bank.", "c1": "Never do that.", "": "Go."}
    place = {"a1": 0.0, "a2": 0.1, "b1": 0.7, "c1": 1.4}
    rows = [AnsweredPrompt(prompt, answer) for prompt, answer in answers.items()]
    log = LogPairs(rows, lambda texts: np.array([[np.cos(place[t]), np.sin(place[t])] for t in texts], np.float32))
    assert log.same() == [Pair("a1", "a2", True, made="log")]
    assert log.different(lambda _: True) == [Pair("a1", "b1", False, made="mined")]
    assert log.different(lambda text: text != "b1") == [Pair("a1", "c1", False, made="mined")]
    assert log.different(lambda text: text != "a2") == []


def test_prompts_of_two_tenants_are_never_a_pair() -> None:
    said = "The offer is 20 dollars a share."
    rows = [AnsweredPrompt("the merger", said, "acme"), AnsweredPrompt("picking locks", said, "globex")]
    assert same(*rows) == []
    assert same(*rows, AnsweredPrompt("the takeover", said, "acme")) == [
        Pair("the merger", "the takeover", True, made="log")
    ]


@pytest.mark.parametrize(
    "said",
    [
        "I'm sorry, I can't help with that.",
        "I’m really sorry, but I cannot discuss this topic.",
        "Sorry, but I can't do this.",
        "I cannot assist with this request.",
        "As an AI language model, I have no opinions.",
        "I am unable to open links.",
        "Unfortunately, I do not know.",
        "Yes.",
        "no",
    ],
)
def test_an_answer_that_says_nothing_of_its_question_makes_no_prompts_the_same(said: str) -> None:
    assert same(AnsweredPrompt("picking a lock", said), AnsweredPrompt("the offer to Globex", said)) == []


@pytest.mark.parametrize(
    "said",
    [
        "Sorry, we are closed on Sundays.",
        "Unfortunately, we do not ship to Canada.",
        "I cannot open links, but here is what you can do: " + "note the number, and choose Track. " * 5,
    ],
)
def test_an_answer_that_regrets_something_is_an_answer(said: str) -> None:
    assert not is_refusal(said)
    assert len(same(AnsweredPrompt("where is it", said), AnsweredPrompt("my parcel is late", said))) == 1


def test_a_short_answer_that_many_prompts_got_is_one_by_chance_unless_it_names_an_intent() -> None:
    rows = [AnsweredPrompt(f"how many of {n}", "Forty-two") for n in range(4)]
    assert same(*rows) == []
    assert len(same(*rows[:3])) == 3
    assert len(same(*(AnsweredPrompt(row.prompt, "how_many", labelled=True) for row in rows))) == 6


def test_a_popular_answer_costs_no_more_than_its_pairs_and_does_not_drown_the_others() -> None:
    assert list(islice(_nearest_first(10**9), 2)) == [(0, 1), (1, 2)], "its pairs fill no memory"
    assert list(_nearest_first(3)) == [(0, 1), (1, 2), (0, 2)]
    rows = [AnsweredPrompt(f"question {n}", "Wait for the bank to open.") for n in range(50)]
    found = same(*rows, AnsweredPrompt("a", "Go home, it is late."), AnsweredPrompt("b", "go HOME, it is late."))
    assert Pair("a", "b", True, made="log") in found
    assert len(found) == 13


@FAISS
def test_an_ordinary_log_splits_into_parts_that_hold_both_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    topics = rng.normal(size=(120, 8))
    place = {
        f"way {n} to ask for thing {thing}": topics[thing] + rng.normal(0, 0.5, 8)
        for thing in range(120)
        for n in range(4)
    }
    rows = [AnsweredPrompt(text, f"The answer about {text.split()[-1]} is long.") for text in place]

    def encode(texts: Sequence[str]) -> Matrix:
        vectors = np.array([place[text] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    log = LogPairs(rows, encode)
    together = splits.distinct([*log.same(), *log.different(lambda _: True)])
    assert len(set(splits.components(together))) < 10, "with near prompts of another answer, nearly all hang together"
    spec = pipeline.FinetuneSpec(tmp_path / "model", check=0.1, test=0.1)
    parts, _ = pipeline.prepared([], None, spec, log)
    assert all(0 < sum(pair.same for pair in part) < len(part) for part in parts)
    assert splits.leaks(parts.train, [*parts.check, *parts.test]) == splits.leaks(parts.check, parts.test) == []
    held = [
        Pair("way 0 to ask for thing 5", "thing 5, please", True),
        Pair("thing 5, please", "thing 6, please", False),
    ]
    given, leaks = pipeline.prepared([], held, pipeline.FinetuneSpec(tmp_path / "model", force=True), log)
    assert (given.test, leaks) == (held, ["way 0 to ask for thing 5"])


@FAISS
def test_what_is_labelled_stands_against_a_near_prompt_of_the_log() -> None:
    place = {"a": 0.0, "b": 0.1, "c": 0.7}
    said = {"a": "One two three four.", "b": "One two three four.", "c": "Five six seven eight."}
    rows = [AnsweredPrompt(prompt, answer) for prompt, answer in said.items()]
    log = LogPairs(rows, lambda texts: np.array([[np.cos(place[t]), np.sin(place[t])] for t in texts], np.float32))
    labelled = [Pair("c", "a", True), *log.same()]
    parts = splits.PairSplits(labelled, [], [])
    assert pipeline._contrasted(parts, log, lambda _: "train", ()).train == labelled
