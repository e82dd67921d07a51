"""A drafter that guesses well saves passes; one that guesses badly must not cost many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from semcache.engine.drafter import Drafter

Tokens = st.lists(st.integers(0, 4), max_size=20)


def follow(drafter: Drafter, said: list[int], *, look_back: bool = True) -> tuple[int, int]:
    """Verify guesses against what is said; the passes it took and the tokens that were guessed wrongly."""
    at = passes = wrong = 0
    while at < len(said):
        guess = drafter.guess(len(said) - at - 1, look_back=look_back)
        right = 0
        while right < len(guess) and guess[right] == said[at + right]:
            right += 1
        for token in said[at : at + right + 1]:
            drafter.said(token)
        if guess:
            drafter.judged(len(guess), right)
        at += right + 1
        passes += 1
        wrong += len(guess) - right
    return passes, wrong


@given(Tokens, Tokens, Tokens, st.integers(0, 9))
def test_guesses_are_never_longer_than_allowed(
    prompt: list[int], given_: list[int], said: list[int], most: int
) -> None:
    drafter = Drafter(prompt, given_, most)
    for token in said:
        for room in (-1, 0, 3, 50):
            assert len(drafter.guess(room)) <= max(0, min(room, most))
        drafter.said(token)


def test_a_right_answer_is_followed_to_its_end() -> None:
    said = list(range(100, 160))
    assert follow(Drafter([1, 2], said, 16), said) == (4, 0)


def test_an_answer_is_found_again_behind_a_difference() -> None:
    said = list(range(100, 160))
    given_ = [*said[:20], 7, 8, *said[21:]]
    passes, wrong = follow(Drafter([], given_, 16), said, look_back=False)
    assert passes <= 9
    assert wrong <= 20


def test_a_wrong_answer_soon_costs_nothing() -> None:
    said = list(range(100, 160))
    passes, wrong = follow(Drafter([], list(range(300, 360)), 16), said)
    assert passes == 60
    assert wrong <= 8


def test_what_the_prompt_says_is_guessed_again() -> None:
    passage = list(range(100, 140))
    passes, _ = follow(Drafter([1, *passage, 2], [], 16), passage)
    assert passes <= 8
    assert follow(Drafter([1, *passage, 2], [], 16), passage, look_back=False)[0] == 40
