"""Pairs by rules: the same for the same seed, sound, of the kinds that were asked for, and streamed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from semcache.errors import InvalidArgument
from semcache.matching.guards import GUARDS, conflicts
from semcache.train.pairs import Pair
from semcache.train.synthesize import KINDS, Counts, synthesize
from semcache.train.synthesize.pair_filter import rejection_reason
from semcache.train.text_identity import unpunctuated

SUBJECTS = ("PIN", "card", "account", "address", "order", "passport", "subscription", "refund", "mortgage", "laptop")
PROMPTS = [
    frame.format(subject)
    for subject in SUBJECTS
    for frame in (
        "How do I cancel my {}?",
        "Why was I charged twice for the {} in 2022?",
        "what is the fee for a new {} if i pay 20 dollars before march 3",
        "My {} doesn't work. Can I get help from Germany?",
        "Write a story about a {} in 300 words.",
    )
]


def made(**options: object) -> list[Pair]:
    return list(synthesize(PROMPTS, **{"seed": 3, "each": 6, **options}))  # type: ignore[arg-type]


def test_the_seed_decides_everything() -> None:
    assert made() == made()
    assert made(seed=4) != made()


def test_pairs_are_sound_and_say_how_they_were_made() -> None:
    pairs = made()
    assert len(pairs) > 4 * len(PROMPTS)
    for pair in pairs:
        assert pair.one != pair.two
        assert pair.made.startswith("rule:")
        assert pair.kind in pair.made
        if pair.same:
            assert not any(conflict.veto for conflict in conflicts(pair.one, pair.two, GUARDS))
        else:
            assert unpunctuated(pair.one) != unpunctuated(pair.two)


def test_labels_and_kinds_are_balanced() -> None:
    pairs = made()
    same = [pair for pair in pairs if pair.same]
    assert 0.4 < len(same) / len(pairs) < 0.6
    assert len({pair.kind for pair in pairs if not pair.same}) >= 12
    assert len({pair.kind for pair in same}) >= 12
    biggest = max(sum(pair.kind == kind for pair in pairs) for kind in KINDS)
    assert biggest < len(pairs) / 4


def test_wrappers_stand_around_pairs_of_both_labels() -> None:
    """Or a model would learn that a greeting means a paraphrase."""
    wrapped = [
        pair for pair in made(each=12) if any(kind in pair.made for kind in ("greeting", "wrapper", "politeness"))
    ]
    assert sum(not pair.same for pair in wrapped) > 0.15 * len(wrapped)


@pytest.mark.parametrize("held_out", ["negation", "entity", "synonym", "ellipsis", "number"])
def test_a_kind_that_is_left_out_is_in_no_part_of_a_pair(held_out: str) -> None:
    pairs = made(kinds=KINDS.keys() - {held_out}, each=8)
    assert pairs
    names = {part.strip("()").partition(".")[0] for pair in pairs for part in pair.made[5:].split("+")}
    assert held_out not in names
    assert names <= KINDS.keys() | {"context"}


def test_only_the_kinds_asked_for() -> None:
    assert {pair.kind for pair in made(kinds={"negation", "greeting"})} <= {"negation", "greeting"}


def test_unknown_kinds_and_no_pairs_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="nagation"):
        synthesize(PROMPTS, kinds={"nagation"})
    with pytest.raises(InvalidArgument, match="each=0"):
        synthesize(PROMPTS, each=0)


def test_an_endless_stream_is_read_a_block_at_a_time() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        for prompt in itertools.cycle(PROMPTS):
            read += 1
            yield prompt

    assert len(list(itertools.islice(synthesize(endless(), seed=0, each=2), 50))) == 50
    assert read <= 1000


def test_code_and_texts_that_are_too_long_are_skipped_and_counted() -> None:
    counts = Counts()
    odd = ["def f(x):\n    return x", "x" * 601, "?", "How do I pay?"]
    pairs = list(synthesize(odd, seed=0, each=4, counts=counts))
    assert counts.prompts == 4
    assert counts.skipped == 3
    assert counts.pairs == len(pairs) > 0


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (Pair("Pay 5 EUR", "pay 5 eur!", False), "identical"),
        (Pair("Pay 5 EUR", "Pay 6 EUR", True), "vetoed"),
        (Pair("Pay 5 EUR", "Pay the the 5 EUR", True), "doubled word"),
        (Pair("Pay 5 EUR", "", True), "length"),
        (Pair("what is 2+2", "what is 2-2", False), None),
        (Pair("How do I pay?", "How can I pay?", True), None),
    ],
)
def test_the_sieve(pair: Pair, why: str | None) -> None:
    assert rejection_reason(pair) == why
