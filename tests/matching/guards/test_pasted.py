"""Who gives another text to be worked on, or other code, is not answered with what was said about the first one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.matching.guards import GUARDS, conflicts, pasted, unless_vetoed

OTHERS = [
    # One word within the text is another, and the instruction is in other words.
    (
        "Please shorten this notice: The pool is closed on Mondays and the sauna opens at nine for members.",
        "Make the following notice briefer: The pool is closed on Mondays or the sauna opens at nine for members.",
    ),
    (
        "What must I bring, according to this message?\n\nDear guest, please bring a towel and your own lock.",
        "From the note below, list the things to bring.\n\nDear guest, please bring a towel and their own lock.",
    ),
    (
        'Which tenses occur in "She writes what she saw and her brother laughs at it"?',
        'Name all tenses of this sentence: "She wrote what she sees and her brother laughs at it"',
    ),
    # The speakers have changed places.
    (
        "Who is happier?\nAnna: The kettle leaks a little.\nBoris: I have never had a better kettle.",
        "Tell me which customer is the more satisfied one.\nBoris: The kettle leaks a little.\n"
        "Anna: I have never had a better kettle.",
    ),
    (
        "What changed?\nOld: Cycling is allowed here.\nNew: Cycling is allowed here from May to July.",
        "Describe the change.\nOld: Cycling is allowed here from May to July.\nNew: Cycling is allowed here.",
    ),
    # Code.
    (
        "Explain to a beginner what SELECT city, MAX(age) FROM people GROUP BY city; returns",
        "A beginner asks for the meaning of SELECT name, MAX(age) FROM people GROUP BY city; please explain",
    ),
    ("When does the cron job 15 3 * * 1 run?", "Which times are meant by 3 15 * * 1 in a crontab?"),
    ("How do `git pull -r` and `git pull` differ?", "What sets `git fetch` and `git pull` apart from each other?"),
]
SAME = [
    (
        "Please shorten this notice: The pool is closed on Mondays and the sauna opens at nine for members.",
        "The pool is closed on Mondays and the sauna opens at nine for members.\n\nMake the notice above briefer.",
    ),
    (
        "Who is happier?\nAnna: The kettle leaks a little.\nBoris: I have never had a better kettle.",
        "Tell me which customer is the more satisfied one.\nAnna: The kettle leaks a little.\n"
        "Boris: I have never had a better kettle.",
    ),
    ("When does the cron job 15 3 * * 1 run?", "Which times are meant by 15 3 * * 1 in a crontab?"),
    ("How do `git pull -r` and `git pull` differ?", "`git pull` or `git pull -r`, what sets them apart?"),
    # Only a small word was left out, or the whole is told in other words: nothing was pasted.
    (
        "Lab results: ferritin at 9, haemoglobin at 12, and B12 is normal. Should I take iron?",
        "Do I need iron tablets? My results: ferritin 9, haemoglobin 12, B12 is normal.",
    ),
    (
        "I need a plan: three days in Rome, with two children, and no museums.",
        "Plan for us: Rome for three days, we have two kids and want to skip museums.",
    ),
    ("Question: how do I reset my password?", "How can I reset my password?"),
    ("What does `:::` mean in R?", "Tell me what `:::` means in R."),
]


@pytest.mark.parametrize(("one", "two"), OTHERS)
def test_another_text_or_other_code_is_found(one: str, two: str) -> None:
    for query, cached in ((one, two), (two, one)):
        assert pasted.compare(query, cached) is not None
        assert unless_vetoed(query, cached, GUARDS) is None
        assert any(found.veto and not found.arguable for found in conflicts(query, cached, GUARDS))


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_text_amid_other_words_is_no_difference(one: str, two: str) -> None:
    assert pasted.compare(one, two) is None
    assert pasted.compare(two, one) is None


_TEXTS = st.text(alphabet='ab :"\n`;*0.{}(é', max_size=80)


@given(_TEXTS, _TEXTS)
def test_the_finding_is_the_same_either_way_round(one: str, two: str) -> None:
    assert (pasted.compare(one, two) is None) is (pasted.compare(two, one) is None)
    assert pasted.compare(one, one) is None


def test_a_long_text_is_compared_in_the_end() -> None:
    lines = "\n".join(f"Row {place}: the value of item {place % 7} is {place}." for place in range(400))
    assert pasted.compare(f"Sum these:\n{lines}", f"Add up what follows.\n{lines}") is None
    changed = lines.replace("item 3 is 300", "item 3 is 301")
    pasted.compare(f"Sum these:\n{lines}", f"Add up what follows.\n{changed}")


def _row(seed: int, length: int = 3000) -> str:
    return " ".join("acgt"[number * number // 7 % (seed + 2) % 4] for number in range(length))


@pytest.mark.parametrize("length", [600, 3000, 8000])
def test_long_row_of_few_letters_is_not_aligned_to_tell_it_from_another(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To align two rows of 8,000 letters took half a minute, within the event loop."""
    monkeypatch.delattr(pasted, "SequenceMatcher")
    one, two = _row(5, length), _row(9, length)
    assert pasted.compare(f"Which run is the longest: {one}", f"Tell me the longest run of these here: {two}")
    assert pasted.compare(f"Which run is the longest: {one}", f"Tell me the longest run of these here: {one}") is None
    thanked = f"Tell me the longest run of these here: {one} and thanks"
    assert pasted.compare(f"Which run is the longest: {one}", thanked) is None
