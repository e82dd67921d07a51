"""Digests of canonical wordings that stores keep: equal for equal wordings, and never those of other rules."""

from __future__ import annotations

from hashlib import blake2b

import pytest

from semcache.request.wording import VERSION, canonical, digest_of, digests, is_current

# Raise `canonical.VERSION` where this fails, and write down the new digest: stores keep what these rules make.
MADE = {18: "147d68bd624a5d7f"}
PROMPTS = (
    "Hi team, how can I  reverse a list in Python??",
    "What\u2019s the colour of 3 per cent of 5 kilometres, pls?",
    "How to reset my pasword? Thanks in advance!",
    "UDP and TCP: which is faster on 4th of July at 17:00?",
    "Is this a good question? How do I cancel?",
    "In Python, how do I write half a gigabyte to `a_file.txt`?",
    "Tell me the steps for renewing a driving licence vs. a passport",
    "Quelle est la capitale du P\u00e9rou ?",
    "How do I undo the last git commit, in a Docker container?",
    "Does the US like us? e.g. 48k or twenty five hundred and two",
    "Could you work out 15 per cent of 240?",
    "If 2x + 3 = 11, what is x?",
    "Make this polite: send it, please",
    "Help with bleeding",
    "What is FOIL, and is it gray or grey?",
    "Where can I find a quoll in order to see it, and how do I get to Hobart from Perth in 5 min.?",
    "What is 17 + 25, and what is the derivative of x!?",
    "Where do I buy a gift card?",
    "What is half of 90?",
    "Do the banks in China open at 9 o'clock in May?",
)


def test_rules_that_make_other_wordings_have_another_version() -> None:
    made = blake2b("\n".join([canonical(prompt).text for prompt in PROMPTS]).encode(), digest_size=8)
    assert {VERSION: made.hexdigest()} == MADE


def test_equal_wordings_have_equal_digests_under_one_salt_alone() -> None:
    one, two, other = (digest_of(text, b"salt") for text in ("How to swim?", "how do I swim", "How do I sing?"))
    assert one == two != other
    assert digest_of("How to swim?", b"pepper") != one


@pytest.mark.parametrize("text", ["", "\ud800", "a\0b", "long " * 2000])
def test_any_text_has_a_digest(text: str) -> None:
    assert is_current(digest_of(text, b"x" * 64))


@pytest.mark.parametrize("kept", [b"", b"short", b"x" * 20, b"x" * 200])
def test_what_is_no_digest_of_these_rules_is_not_taken_for_one(kept: bytes) -> None:
    assert not is_current(kept)


def test_a_digest_of_other_rules_is_not_taken_for_one_of_these(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = digest_of("How to swim?", b"salt")
    monkeypatch.setattr(digests, "VERSION", VERSION + 1)
    digests.mark_of_rules.cache_clear()
    try:
        assert not is_current(kept)
        assert is_current(digest_of("How to swim?", b"salt"))
    finally:
        monkeypatch.undo()
        digests.mark_of_rules.cache_clear()
    assert is_current(kept)
