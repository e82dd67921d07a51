"""The texts and the training behind the numbers on quality: a wrong answer key would make every method look worse."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.kv_quality_report import lost
from eval.toy_tasks import ACROSS, ALONE, ASK, BOS, COPY, HOP, IT, QUOTE, STOP, TASKS, TOPIC, Question, text

some_tasks = st.lists(st.sampled_from(TASKS), min_size=1, unique=True).map(tuple)


def sentences(ids: list[int]) -> list[list[int]]:
    """The texts between full stops."""
    found: list[list[int]] = [[]]
    for token in ids:
        if token == STOP:
            found.append([])
        else:
            found[-1].append(token)
    return found[:-1]


def reading(ids: list[int], question: Question) -> list[tuple[int, ...]]:
    """Every answer that a reader of the sentences finds."""
    told = sentences([token for token in ids if token != BOS])
    heading, facts, found = -1, [], []
    for sentence in told:
        if sentence[0] == TOPIC:
            heading = sentence[1]
        elif len(sentence) == 2:
            facts.append((sentence[0], heading if sentence[1] == IT else sentence[1]))
    if question.ids[0] == ASK:
        found = [(value,) for key, value in facts if key == question.ids[1]]
    elif question.ids[0] == HOP:
        keys = [value for key, value in facts if key == question.ids[1]]
        found = [(value,) for key, value in facts if key in keys]
    elif question.ids[0] == COPY:
        found = [tuple(sentence[2:]) for sentence in told if sentence[:2] == [QUOTE, question.ids[1]]]
    return found


@given(st.integers(0, 2**32), some_tasks, st.integers(24, 450), st.sampled_from((0.3, 0.6, 0.9)))
@settings(max_examples=60, deadline=None)
def test_a_reader_finds_the_one_answer(seed: int, tasks: tuple[str, ...], length: int, dense: float) -> None:
    made = text(random.Random(seed), tasks, length, dense=dense)
    for question in made.questions:
        assert reading(made.ids, question) == [question.answer]
    assert made == text(random.Random(seed), tasks, length, dense=dense)
    assert len(made.ids) <= 1.6 * length + 16


@given(st.integers(0, 2**32), some_tasks, st.integers(8, 64))
@settings(max_examples=60, deadline=None)
def test_what_takes_several_chunks_is_not_told_by_one(seed: int, tasks: tuple[str, ...], chunk: int) -> None:
    made = text(random.Random(seed), tasks, 120, chunk=chunk)
    assert all(part[-1] == STOP for part in made.chunks)
    for question in made.questions:
        whole = any(question.answer in reading(list(part), question) for part in made.chunks)
        assert whole != question.apart
        assert not (question.apart and question.task in ALONE)


@pytest.mark.parametrize("task", [*ACROSS, "hop"])
def test_contexts_of_evaluation_ask_across_chunks(task: str) -> None:
    pytest.importorskip("torch", reason="needs the extra `engine`")
    from eval.kv_quality import texts

    for ids, made, questions in texts(task, 8, 1):
        assert (len(ids), ids) == (256, made.ids)
        assert len({question.ids for question in questions}) == 2
        for question in questions:
            assert question.apart
            assert reading(ids, question) == [question.answer]


def test_training_tells_what_follows_and_what_it_means() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `engine`")
    from eval.toy_model import batch

    ids, (last, _, second) = batch(random.Random(3), 48, 12, ("hop", "pronoun"))
    asked = (ids[:, 1:] != STOP) & (last[:, :-1] >= 0)
    assert torch.equal(last[:, :-1][asked], ids[:, 1:][asked])
    meant = (ids == IT) & (last < 0)
    assert not bool(meant.any())
    steps = (second != last).nonzero().tolist()
    assert {int(ids[row, at - 1]) for row, at in steps} == {HOP}


def test_interrupted_training_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `engine`")
    from eval.toy_model import Stage, train

    stages = (Stage(8, 2, 1, ("again",)), Stage(24, 2, 2, TASKS))
    whole = train(tmp_path / "whole", seed=5, minutes=9, stages=stages)
    for _ in range(3):  # each stops behind its first step
        parts = train(tmp_path / "parts", seed=5, minutes=0, stages=stages)
    for name, weights in whole.state_dict().items():
        assert torch.equal(weights, parts.state_dict()[name]), name


def test_a_loss_is_told_against_computing_all() -> None:
    rows = {
        f"chunks/cacheblend/{share}/{task}": {"accuracy": right, "computed": 1.0, "ms": 1.0, "asks": 4}
        for task in TASKS
        for share, right in (("1", 0.9), ("0.15", 0.9 if task != "pronoun" else 0.8))
    }
    assert lost(rows, "cacheblend/0.15", ALONE) == pytest.approx(0)
    assert lost(rows, "cacheblend/0.15", ACROSS) == pytest.approx(0.1 / len(ACROSS))
