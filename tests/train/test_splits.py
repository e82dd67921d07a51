"""Splits: what is measured was never trained on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import InvalidArgument
from semcache.train import splits
from semcache.train.pairs import Pair

names = st.sampled_from([f"q{n}" for n in range(12)])
some = st.lists(st.builds(Pair, names, names, st.booleans()), max_size=20)


@given(some, st.integers(0, 5))
def test_no_text_is_on_both_sides(pairs: list[Pair], seed: int) -> None:
    parts = splits.split(pairs, check=0.3, test=0.3, seed=seed)
    assert sorted(map(repr, [*parts.train, *parts.check, *parts.test])) == sorted(map(repr, pairs))
    assert splits.leaks(parts.train, parts.test) == []
    assert splits.leaks(parts.train + parts.test, parts.check) == []


@given(some, st.randoms())
def test_the_split_does_not_depend_on_the_order(pairs: list[Pair], rng: random.Random) -> None:
    mixed = rng.sample(pairs, len(pairs))
    one, two = (splits.split(given, check=0.2, test=0.4, seed=1) for given in (pairs, mixed))
    assert [sorted(map(repr, part)) for part in one] == [sorted(map(repr, part)) for part in two]


def test_shares_are_about_kept_and_another_seed_splits_otherwise() -> None:
    pairs = [Pair(f"a{n}", f"b{n}", True) for n in range(2000)]
    parts = splits.split(pairs, check=0.1, test=0.2, seed=1)
    assert 150 < len(parts.check) < 250
    assert 340 < len(parts.test) < 460
    assert splits.split(pairs, check=0.1, test=0.2, seed=2) != parts


def test_case_and_white_space_hide_no_leak() -> None:
    assert splits.leaks([Pair("Reset  my password", "x", True)], [Pair("y", "reset my PASSWORD", False)]) == [
        "reset my PASSWORD"
    ]
    assert splits.without([Pair("A", "b", True), Pair("c", "d", True)], [Pair("a", "z", True)]) == [
        Pair("c", "d", True)
    ]


@given(some)
def test_texts_that_pairs_call_the_same_have_one_answer(pairs: list[Pair]) -> None:
    classes = splits.classes(pairs)
    assert all(classes[pair.one] == classes[pair.two] for pair in pairs if pair.same)
    numbers = splits.numbered(pairs)
    assert {(numbers[a] == numbers[b]) == (classes[a] == classes[b]) for a in classes for b in classes} <= {True}


def test_repetitions_count_once_and_contradictions_not_at_all() -> None:
    given_pairs = [Pair("a", "b", True), Pair("B ", "a", True), Pair("c", "d", True), Pair("d", "c", False)]
    assert splits.distinct([*given_pairs, Pair("e", "E", False)]) == [Pair("a", "b", True)]


def test_shares_that_leave_nothing_to_train_on_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="leave nothing to train on"):
        splits.split([], check=0.5, test=0.5, seed=0)


def test_a_text_of_no_pair_lies_in_one_part_and_those_of_a_pair_where_it_is() -> None:
    pairs = [Pair(f"a{n}", f"b{n}", True) for n in range(40)]
    parts = splits.split(pairs, check=0.3, test=0.3, seed=1)
    part_of = splits.divider(pairs, check=0.3, test=0.3, seed=1)
    for name, part in parts._asdict().items():
        assert {part_of(text) for pair in part for text in (pair.one, pair.two)} == {name}
    assert {part_of(f"other {n}") for n in range(40)} == {"train", "check", "test"}


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([Pair("a", "b", True), Pair("c", "d", False)], ["too few to split", "some hundred", "or MORE"]),
        ([Pair("a", f"b{n}", n % 2 == 0) for n in range(200)], ["200 of 200 pairs hang together", "or MORE"]),
        ([Pair(f"a{n}", f"b{n}", True) for n in range(200)], ["only pairs of the same answer", "synthesize"]),
    ],
)
def test_parts_without_both_labels_are_refused_with_the_remedy_that_helps(pairs: list[Pair], told: list[str]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        splits.usable(splits.split(pairs, check=0.1, test=0.1, seed=7), pairs, more="MORE")
    assert [part for part in told if part not in str(refused.value)] == []
