"""A phrase that moved has changed nothing; two things that changed places have."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semcache.matching.guards.order import settled
from semcache.request.assertions import exchanged
from semcache.request.text import LIGHT, read

SAME = [
    ("For statistics, is Python better than R?", "Is Python better than R for statistics?"),
    ("If I won the lottery, what tax would I pay?", "What tax would I pay if I won the lottery?"),
    ("Who is the mayor of London?", "Who is London's mayor?"),
    ("Is insomnia caused by stress?", "Does stress caused insomnia?"),
    ("Which rivers were crossed by Caesar?", "Which rivers has Caesar crossed?"),
    ("Which planet is the smallest?", "What is the smallest planet?"),
    ("How do I permanently delete a file?", "How do I delete a file permanently?"),
    ("By whom was Aristotle taught?", "Who taught Aristotle?"),
    ("I have ants in my kitchen. What kills ants?", "What kills ants? I have ants in my kitchen."),
]
OTHER = [
    ("Do cats eat rats?", "Do rats eat cats?"),
    ("Is insomnia caused by stress?", "Is stress caused by insomnia?"),
    ("If n is even, is its square even?", "If its square is even, is n even?"),
    ("How do I convert a PDF to Word?", "How do I convert Word to a PDF?"),
    ("Can only adults vote?", "Can adults only vote?"),
    ("Who is the king's brother?", "Who is the brother's king?"),
]


def _content(text: str) -> list[str]:
    return [word for word in settled(text) if word not in LIGHT]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_may_stand_elsewhere_is_put_back(one: str, two: str) -> None:
    assert _content(one) == _content(two)


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_what_changed_places_stays_changed(one: str, two: str) -> None:
    assert _content(one) != _content(two)


@given(st.permutations("abcde"), st.integers(0, 4), st.integers(0, 4))
def test_moving_a_phrase_is_no_exchange_and_swapping_around_a_third_word_is(
    words: list[str], one: int, two: int
) -> None:
    assert not exchanged(words, words)
    assert not exchanged(words, [*words[one:], *words[:one]])
    swapped = list(words)
    swapped[one], swapped[two] = swapped[two], swapped[one]
    assert exchanged(words, swapped) == (abs(one - two) > 1)


WORDS = st.sampled_from(
    [
        "Which",
        "If",
        "for",
        "the",
        "cat",
        "cat's",
        "was",
        "eaten",
        "by",
        "dogs",
        ",",
        ".",
        "?",
        "best",
        "is",
        "quickly",
        "whom",
        "in",
        "of",
        "what",
    ]
)


def _bag(words: tuple[str, ...]) -> Counter[str]:
    return Counter(word.removesuffix("'s") for word in words if not word.endswith("ly"))


@given(st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=40))
@example("is the cat eaten by the dogs what")
@example("what was eaten by the whom")
def test_no_word_is_lost_but_adverbs_and_the_by_of_a_passive(text: str) -> None:
    before, after = _bag(read(text).words), _bag(settled(text))
    assert before - after <= Counter(by=1 + len(re.findall("[.;:?!]", text)))
    assert after <= before
    if not {"was", "is"} & set(before) or "eaten" not in before:
        assert after == before


@pytest.mark.parametrize("text", ["was eaten by", "is the cat eaten by", "was eaten by the", "was eaten by of"])
def test_a_passive_without_an_agent_stays_as_it_is(text: str) -> None:
    assert settled(text) == read(text).words
