"""The numbers that distinguish right neighbours, and that a glance spares nobody who could have been served."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import Category, Pack
from semcache.matching import content_words, decide, features, guards, surroundings
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.priors import shipped
from semcache.models.cross_encoder import CrossEncoder
from semcache.request.text import read
from semcache.types import Candidate, Card, Conflict, Controls, Serve
from semcache.types.evidence import Label, LabelSource

WORDS = (
    "reset",
    "my",
    "password",
    "how",
    "do",
    "i",
    "not",
    "change",
    "the",
    "london",
    "2024",
    "card",
    "cards",
    "passwrod",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
FOUND = st.lists(st.tuples(st.floats(-1.0, 1.0, width=32), st.integers(1, 4), TEXTS), min_size=1, max_size=8).map(
    lambda rows: [_candidate(place, *row) for place, row in enumerate(sorted(rows, key=lambda row: -row[0]), 1)]
)


def _candidate(number: int, score: float, answer: int, text: str) -> Candidate:
    return Candidate(Card(number, b"", b"", "default", text, 0.0, 9.0, answer), score)


@given(FOUND)
def test_surroundings_are_what_their_names_say(found: list[Candidate]) -> None:
    for one, values in zip(found, surroundings.around(found), strict=True):
        said = dict(zip(features.AROUND, values, strict=True))
        same = [other.score for other in found if other.card.answer == one.card.answer]
        others = [other.score for other in found if other.card.answer != one.card.answer]
        near = one.score - surroundings.NEAR
        assert said["margin"] == pytest.approx(max(-0.3, min(0.3, one.score - max(others))) if others else 0.3)
        assert said["support"] == pytest.approx(math.log(sum(score >= near for score in same)))
        assert said["rivals"] == pytest.approx(math.log1p(sum(score >= near for score in others)))
        assert said["company"] == pytest.approx(math.log(len(same)))
        assert said["spread"] == pytest.approx(sum(same) / len(same) - one.score)
        assert said["crowd"] == pytest.approx(math.log(len(found)))
        assert all(math.isfinite(value) for value in values)


@given(TEXTS, FOUND)
def test_every_feature_is_finite_and_a_text_is_like_itself(text: str, found: list[Candidate]) -> None:
    values = features.of(text, found[0])
    assert len(values) == len(features.NAMES)
    assert all(math.isfinite(value) for value in values)
    alike = dict(
        zip(features.NAMES, features.of(text, replace(found[0], card=replace(found[0].card, text=text))), strict=True)
    )
    assert (alike["missing"], alike["surplus"], alike["reordered"], alike["asks_else"]) == (0.0, 0.0, 0.0, 0.0)


def test_a_slip_of_spelling_is_no_other_word() -> None:
    card = Card(1, b"", b"", "default", "sights in Reykjavik", 0.0, 9.0)
    said = dict(zip(features.NAMES, features.of("sights in Reykjavic", Candidate(card, 0.9)), strict=True))
    assert (said["missing"], said["surplus"]) == (0.0, 0.0)
    assert said["misspelt"] > 0.0
    assert said["same_words"] == 1.0


def test_a_slip_that_is_mended_is_no_difference() -> None:
    card = Card(1, b"", b"", "default", "how do i reset my password", 0.0, 9.0)
    said = dict(zip(features.NAMES, features.of("how do i rseet my pasword pls", Candidate(card, 0.9)), strict=True))
    assert (said["overlap"], said["misspelt"], said["same_words"], said["reordered"]) == (1.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize(("guard", "settled"), [("numbers", True), ("entities", True), ("negation", False)])
def test_the_verifiers_word_settles_what_a_guard_doubts_but_no_veto(guard: str, settled: bool) -> None:
    card = Card(1, b"", b"", "default", "one of the prompts", 0.0, 9.0)
    plain = features.of("another of the prompts", Candidate(card, 0.9))
    place = features.NAMES.index(f"guard:{guard}")
    doubt, veto = (Conflict(guard, "they differ", veto=veto) for veto in (False, True))
    doubted = features.with_conflicts(plain, [doubt])
    assert doubted[place] == features.DOUBT
    heard = features.with_verdict(doubted, 0.9)
    assert heard[place] == (features.HEARD_DOUBT if settled else features.DOUBT)
    assert features.with_conflicts(features.with_verdict(plain, 0.9), [doubt]) == heard, "the order says nothing"
    assert features.with_verdict(features.with_conflicts(plain, [veto]), 0.9)[place] == 1.0


@pytest.mark.parametrize(
    ("asked", "kept", "reordered"),
    [
        ("In Germany, what is the drinking age?", "What is the drinking age in Germany?", False),
        ("Which countries were invaded by Napoleon?", "Which countries did Napoleon invade?", False),
        ("What is planned?", "What did they plan?", False),
        ("Does stress cause insomnia?", "Does insomnia cause stress?", True),
        ("Is stress caused by insomnia?", "Does stress cause insomnia?", True),
        ("It was composed by Russell", "It was composed of Russell", False),
        ("Who taught Aristotle?", "Who did Aristotle teach?", True),
        ("Which plants are eaten by snails?", "Which plants do snails eat?", False),
        ("Which stationery is best?", "Which stationary is best?", True),
    ],
)
def test_moved_phrases_and_passives_are_no_exchange_of_roles(asked: str, kept: str, reordered: bool) -> None:
    card = Card(1, b"", b"", "default", kept, 0.0, 9.0)
    said = dict(zip(features.NAMES, features.of(asked, Candidate(card, 0.9)), strict=True))
    assert said["same_words"] == 1.0
    assert said["reordered"] == float(reordered)


@given(st.lists(st.tuples(TEXTS, FOUND, st.booleans()), max_size=12), TEXTS, FOUND)
def test_no_texts_make_more_of_a_candidate_than_its_surroundings_let_hope(
    taught: list[tuple[str, list[Candidate], bool]], text: str, found: list[Candidate]
) -> None:
    belief = Belief(shipped("any"))
    for said, those, right in taught:
        label = _label(said, those, right)
        belief.learn(label.features, label.answer, correct=right)
    around = surroundings.around(found)
    answers = [one.card.answer_class for one in found]
    longest = max(len(one) for one in (text, *(candidate.card.text for candidate in found)))
    bounds = belief.at_best(around, answers, longest)
    heard = belief.at_best(around, answers, longest, asked=True)
    for one, values, bound, most, answer in zip(found, around, bounds, heard, answers, strict=True):
        assert belief.log_odds(features.of(text, replace(one, around=values)), answer) <= max(bound, 0.0) + 1e-9
        alike = replace(one, around=values, card=replace(one.card, text=text))
        assert belief.log_odds(features.of(text, alike), answer) <= max(bound, 0.0) + 1e-9
        told = features.with_verdict(features.of(text, alike), 1.0)
        assert belief.log_odds(told, answer) <= max(most, 0.0) + 1e-9


@given(
    st.lists(st.tuples(TEXTS, FOUND, st.floats(0.0, 1.0), st.booleans()), max_size=12),
    st.tuples(TEXTS, FOUND, st.floats(0.0, 1.0)),
)
def test_no_word_of_the_verifier_makes_more_of_a_candidate_than_was_hoped(
    taught: list[tuple[str, list[Candidate], float, bool]], asked: tuple[str, list[Candidate], float]
) -> None:
    prior = shipped("any").with_verifier
    assert prior is not None
    belief = Belief(prior)
    for text, those, word, right in taught:
        label = _label(text, those, right)
        belief.learn(features.with_verdict(label.features, word), label.answer, correct=right)
    text, found, word = asked
    around = surroundings.around(found)
    longest = max(len(one) for one in (text, *(candidate.card.text for candidate in found)))
    bounds = belief.at_best(around, [one.card.answer_class for one in found], longest, asked=True)
    for one, values, bound in zip(found, around, bounds, strict=True):
        told = features.with_verdict(features.of(text, replace(one, around=values)), word)
        assert belief.log_odds(told, one.card.answer_class) <= max(bound, 0.0) + 1e-9


class _Thorough(CertifiedThreshold):
    """Sees a chance in everything."""

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        return [True] * len(candidates)


@given(
    st.lists(st.tuples(TEXTS, FOUND, st.booleans()), max_size=12),
    st.lists(st.tuples(TEXTS, FOUND), min_size=1, max_size=6),
)
def test_a_glance_changes_nothing_that_is_served(
    taught: list[tuple[str, list[Candidate], bool]], asked: list[tuple[str, list[Candidate]]]
) -> None:
    for verify in ("off", "llm"):
        category = Category(name="default", verify=verify)  # type: ignore[arg-type]
        pack = Pack(
            name="p", description="", share="tenant", target=0.05, min_margin=0.0, categories={"default": category}
        )
        strategies = [CertifiedThreshold(pack), _Thorough(pack)]
        for text, found, right in taught:
            for threshold in strategies:
                threshold.observe(_label(text, found, right))
        for text, found in asked:
            quick, thorough = (_decided(threshold, text, found) for threshold in strategies)
            assert type(quick) is type(thorough)
            if isinstance(quick, Serve):
                assert quick == thorough


def _decided(threshold: CertifiedThreshold, text: str, found: list[Candidate]) -> object:
    terms = decide.RequestTerms("default", Controls(), 1.0, draw=0.5)
    return decide.semantic(
        found, text, terms, threshold, lambda query, cached: guards.conflicts(query, cached, guards.GUARDS)
    )


def _label(text: str, found: list[Candidate], right: bool) -> Label:
    candidate, values = found[0], features.of(text, replace(found[0], around=surroundings.around(found)[0]))
    return Label(
        1.0, "default", "default", candidate.card.id, candidate.card.answer, b"", candidate.score, values, 0.5,
        right, LabelSource.MISS, served=False,
    )  # fmt: skip


def test_no_word_is_louder_than_the_shipped_verifiers_can_be() -> None:
    """The prior has seen none that is: what it made of a louder one was drawn out beyond what it knows."""
    best = CrossEncoder().best
    word = features.NAMES.index("word")
    values = features.of("reset my card", _candidate(1, 0.9, 1, "reset the card"))
    assert features.with_verdict(values, 1.0)[word] == pytest.approx(features.with_verdict(values, best)[word])


def test_a_reading_of_a_prompt_is_small() -> None:
    """Thousands are remembered: as sets of trigrams they took sixty megabytes of a worker."""
    words = WORDS
    rng = random.Random(7)
    prompts = [f"{' '.join(rng.choices(words, k=10))} {number}?" for number in range(500)]
    for prompt in prompts:
        read(prompt)
    content_words.read.cache_clear()  # type: ignore[attr-defined]
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for prompt in prompts:
            content_words.read(prompt)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / len(prompts) < 4000
