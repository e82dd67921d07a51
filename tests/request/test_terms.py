"""Terms that no dictionary has are no slips of other words: who asks about one is not answered about another."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.request.wording import canonical, mended
from semcache.request.wording.misspelt import _single, correction

SUBSTANCES = """
ethanal methanal ethyne propyne butyne hexene hexyne octene pentene heptene cyclohexene butanal butenol ethenol
phosphite iodite bromite ferrate hypochlorate carbonite acetane cellulase rennin lectin silicane phosphane propyl
molybdite cyanane
"""
MEDICINES = "peroneal lyrica abilify halcion crestor lopid precose zyprexa lamictal klonopin dyspnea septicemia"
TOOLS = "containerd launchd networkd nushell pihole iterm zypper alacritty jujutsu lavash payor payors stringr burek"
APART = [
    ("How is ethanal made?", "How is ethanol made?"),
    ("What is the boiling point of hexene?", "What is the boiling point of hexane?"),
    ("Is methanal poisonous?", "Is methanol poisonous?"),
    ("What is phosphite used for?", "What is phosphate used for?"),
    ("What does cellulase do?", "What does cellulose do?"),
    ("What is the peroneal nerve?", "What is the perineal nerve?"),
    ("What are the side effects of crestor?", "What are the side effects of creator?"),
    ("How do I install nushell?", "How do I install nutshell?"),
    ("What is a payor?", "What is a payer?"),
    ("How do I make propyne?", "How do I make propane?"),
]
SLIPS = [
    ("definate", "definite"),
    ("purchose", "purchase"),
    ("hurricene", None),
    ("machene", "machine"),
    ("captial", "capital"),
    ("seperate", "separate"),
]


@pytest.mark.parametrize("term", [*SUBSTANCES.split(), *MEDICINES.split(), *TOOLS.split()])
def test_term_stays_as_it_is_written(term: str) -> None:
    assert correction(term) is None


@pytest.mark.parametrize(("one", "two"), APART)
def test_question_about_one_substance_is_not_one_about_another(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text
    assert mended(one) != mended(two)


@pytest.mark.parametrize(("slip", "right"), SLIPS)
def test_slips_that_end_like_substances_are_still_corrected(slip: str, right: str | None) -> None:
    assert correction(slip) == right


@given(st.text("ab\u00e9'1 \n", max_size=12))
def test_a_word_without_its_doubled_letters_has_none_twice_in_a_row(word: str) -> None:
    plain = _single(word)
    assert all(one != two for one, two in pairwise(plain))
    assert plain == "".join(letter for at, letter in enumerate(word) if word[at - 1 : at] != letter)
