"""Long answers: two that begin alike are not the same for that, and comparing them holds nobody up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from semcache import default_embedder
from semcache.learning.judges import by_verifier
from semcache.learning.judges.by_language_model import LlmJudge
from semcache.learning.judges.by_verifier import VerifierJudge
from semcache.learning.judges.pleasantries import is_pleasantry
from semcache.types.evidence import Comparison
from tests.models.test_injections import Says

HEAD = (
    "Thank you for writing to the library. This reply is no legal advice, and opening hours are those of the branch. "
    "Please keep your card at hand, have a look at the house rules beside the entrance, and ask the staff in doubt. "
)
LOAN = "A borrowed film is handed back at the counter after a week at most, together with its case."
ROOM = "The reading room upstairs is reserved by a form, which a member of staff stamps and signs."


def compare(cached: str, fresh: str) -> Comparison:
    return Comparison("How are films handed back?", "How is the reading room reserved?", cached, fresh)


class Sure:
    """A verifier that calls all questions the same, or none."""

    def __init__(self, p_same: float) -> None:
        self.p_same = p_same

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        return self.p_same


@pytest.mark.parametrize("times", [2, 6, 30])
@pytest.mark.parametrize(("p_same", "verdict"), [(None, None), (0.99, None), (0.01, False)])
async def test_a_long_common_beginning_makes_no_two_answers_the_same(
    times: int, p_same: float | None, verdict: bool | None
) -> None:
    judge = VerifierJudge(default_embedder(), None if p_same is None else Sure(p_same))
    assert await judge.agree(compare(HEAD * times + LOAN, HEAD * times + ROOM)) is verdict
    assert await judge.agree(compare("Dear Ann! " + HEAD * times + LOAN, "Dear Bob! " + HEAD * times + ROOM)) is verdict


@pytest.mark.parametrize("times", [2, 6, 30])
async def test_behind_a_common_beginning_other_words_for_the_same_still_agree(times: int) -> None:
    judge = VerifierJudge(default_embedder())
    other = "A borrowed film is given back at the counter after a week at the latest, together with its case."
    assert await judge.agree(compare(HEAD * times + LOAN, HEAD * times + other)) is True


async def test_one_sentence_among_many_that_says_something_else_is_heard() -> None:
    judge = VerifierJudge(default_embedder())
    other = "Films go back by post within a month, and their cases stay at home."
    assert await judge.agree(compare(HEAD + LOAN, HEAD + other)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Old tapes wear out faster than discs.", "Discs wear out faster than old tapes."),
        ("Put the disc in with the label up.", "Take the disc out with the label up."),
        ("Discs are shelved behind the desk after use.", "Discs are shelved behind the desk before use."),
        ("Glue on the label harms the disc less.", "Glue on the label harms the disc more."),
        ("Report scratches even if they are faint.", "Report scratches only if they are faint."),
        ("Wipe the disc from the middle, and do not press it.", "Wipe the disc from the middle, and press it."),
        ("Fees for late films are paid in cash at the till.", "Fees for late films are waived on the first day."),
    ],
)
async def test_a_sentence_that_turns_into_its_opposite_makes_long_answers_no_longer_the_same(
    one: str, other: str
) -> None:
    judge = VerifierJudge(default_embedder())
    assert await judge.agree(compare(f"{HEAD}{one} {LOAN}", f"{HEAD}{other} {LOAN}")) is not True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wipe the disc from the middle with a soft cloth.", "With a soft cloth, wipe the disc from the middle."),
        ("Before use, every disc is wiped with a soft cloth.", "Every disc is wiped with a soft cloth before use."),
    ],
)
async def test_a_sentence_in_another_order_leaves_long_answers_the_same(one: str, other: str) -> None:
    judge = VerifierJudge(default_embedder())
    assert await judge.agree(compare(f"{HEAD}{one} {LOAN}", f"{HEAD}{other} {LOAN}")) is True


@pytest.mark.parametrize("times", [2, 6, 30])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I hope this helps!", "Let me know if you have any other questions about films."),
        ("Happy watching!", "Would you like me to explain the fees, too?"),
        ("If you want, I can also describe the other desks.", "Feel free to ask if anything is unclear."),
    ],
    ids=["hope", "wish", "offer"],
)
async def test_what_any_answer_may_begin_or_end_with_makes_no_difference(times: int, one: str, other: str) -> None:
    judge = VerifierJudge(default_embedder())
    said = HEAD * times + LOAN
    assert await judge.agree(compare(f"{said}\n\n{one}", f"{said}\n\n{other}")) is True
    assert await judge.agree(compare(f"Great question! {said} {one}", f"Certainly! {said}")) is True
    assert await judge.agree(compare(f"Sure! {said} {one}", f"Certainly! {said}")) is True
    assert await judge.agree(compare(f"Sure! {said} {one}", f"Unfortunately not. {said}")) is not True
    assert await judge.agree(compare(f"{HEAD * times}{LOAN} {one}", f"{HEAD * times}{ROOM} {other}")) is not True


@pytest.mark.parametrize(
    "sentence",
    [
        "Would you like me to cancel the order?",
        "If you want, I can block the card.",
        "Let me know the code on the card.",
        "Hope is a town in Arkansas.",
        "Here is the key: under the mat.",
        "Enjoyment is taxed.",
    ],
)
def test_what_may_have_been_asked_for_is_no_pleasantry(sentence: str) -> None:
    assert not is_pleasantry(sentence)


async def test_two_ends_that_have_nothing_in_common_are_not_called_the_same() -> None:
    """Each sentence differs a little, so that the answers share none; their ends are all that tells them apart."""
    heads = [
        " ".join(f"Shelf {name} holds books about gardens, and the label on it is green." for name in names)
        for names in (("one",) * 30, ("First",) * 30)
    ]
    judge = VerifierJudge(default_embedder())
    assert await judge.agree(compare(heads[0] + LOAN * 12, heads[1] + ROOM * 12)) is not True


class Watched:
    """An embedder of one vector that counts what it is given."""

    id, dim = "watched", 2

    def __init__(self) -> None:
        self.longest = 0

    async def embed(self, texts: Sequence[str]) -> Any:
        self.longest = max(self.longest, *map(len, texts))
        return [np.array([1.0, 0.0], np.float32) for _ in texts]

    async def close(self) -> None: ...


async def test_however_long_answers_are_guards_read_little_of_them_and_not_in_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The guards took seconds for two answers of a hundred pages, in which nobody was served."""
    read: list[tuple[int, bool]] = []
    conflicts = by_verifier.guards.conflicts

    def watched(one: str, two: str, names: Sequence[str]) -> object:
        read.append((max(len(one), len(two)), threading.current_thread() is threading.main_thread()))
        return conflicts(one, two, names)

    monkeypatch.setattr(by_verifier.guards, "conflicts", watched)
    embedder = Watched()
    judge = VerifierJudge(embedder)  # type: ignore[arg-type]
    long = [" ".join(f"w{(seed + place) * 7919 % 99_991}" for place in range(60_000)) for seed in (1, 2)]
    assert await judge.agree(compare(*long)) is None, "what was not read may differ"
    assert await judge.agree(compare(HEAD * 2_000 + LOAN, HEAD * 2_000 + ROOM)) is True
    assert await judge.agree(compare(LOAN, ROOM)) is True
    assert read
    assert max(size for size, _ in read) <= 16_000
    assert not any(in_the_loop for _, in_the_loop in read)
    assert embedder.longest <= 16_000


def agreed(cached: str, fresh: str, question: str = "q", cached_question: str = "q") -> tuple[bool | None, list[bytes]]:
    backend = Says("yes")
    judge = LlmJudge(backend, "m")
    return asyncio.run(judge.agree(Comparison(question, cached_question, cached, fresh))), backend.asked


def test_a_language_model_sees_how_a_long_answer_ends() -> None:
    for times in (40, 400):
        said, [body] = agreed(HEAD * times + LOAN, HEAD * times + ROOM)
        fields = msgspec.json.decode(msgspec.json.decode(body)["messages"][1]["content"])
        assert said is True
        assert fields["cached_answer"].endswith(LOAN)
        assert fields["fresh_answer"].endswith(ROOM)
        assert len(body) < 60_000


def test_a_language_model_is_not_asked_about_a_difference_that_it_does_not_see() -> None:
    around = "word " * 4_000
    assert agreed(around + LOAN + around, around + ROOM + around) == (None, [])
    assert agreed("a", "a", around + LOAN + around, around + ROOM + around) == (None, [])
    assert agreed(around * 2, around * 2)[0] is True
