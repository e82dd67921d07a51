"""Synthetic repeats of a question, and questions that look alike but ask something else, by small edits.

Knows words and keyboards, no model. Invariant: a repeat asks for the same answer; no number and no negation is touched.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache

_CONTENT = re.compile(r"[^\W\d_]{4,}")
_WORD = re.compile(r"[^\W\d_]{5,}")
_BEFORE = (
    "please ", "hi, ", "hello, ", "hey ", "quick question: ", "can you tell me ", "could you please tell me ",
    "i want to know ", "i'd like to know: ", "just wondering, ", "excuse me, ", "good morning. ",
)  # fmt: skip
_AFTER = (" please", " thanks", " thank you", " asap", "??", " ?", "...", "!", " thanks in advance", ", please help")
_SHORT = {
    "i am": "i'm", "do not": "don't", "does not": "doesn't", "cannot": "can't", "can not": "can't", "what is": "what's",
    "how do i": "how can i", "how can i": "how do i", "is not": "isn't", "it is": "it's", "i would": "i'd",
    "i have": "i've", "where is": "where's", "who is": "who's", "you": "u", "please": "pls", "account": "acct",
}  # fmt: skip


def repeat(text: str, rng: random.Random) -> str:
    """Another writing of `text`: one to three changes of case, spelling, spacing, politeness or contraction."""
    for change in rng.sample(_CHANGES, rng.choice((1, 1, 2, 3))):
        text = change(text, rng)
    return text


def other(text: str, rng: random.Random, vocabulary: Sequence[str]) -> str | None:
    """Another question that differs in one word of the vocabulary: exchanged, or added; None if no word can go."""
    found = [match for match in _CONTENT.finditer(text) if match[0].lower() in _known(tuple(vocabulary))]
    if not found:
        return None
    gone, new = rng.choice(found), rng.choice(vocabulary)
    if new in text.lower():
        return None
    if rng.random() < 0.7:
        return text[: gone.start()] + new + text[gone.end() :]
    return text[: gone.start()] + new + " " + text[gone.start() :]


@lru_cache(maxsize=8)
def _known(vocabulary: tuple[str, ...]) -> frozenset[str]:
    return frozenset(vocabulary)


def _typo(text: str, rng: random.Random) -> str:
    found = [match for match in _WORD.finditer(text) if match[0].islower()]
    if not found:
        return text
    word = rng.choice(found)
    at = word.start() + rng.randrange(1, len(word[0]) - 2)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at + 1 :] if kind == 1 else text[:at] + text[at] + text[at:]


def _case(text: str, rng: random.Random) -> str:
    return rng.choice((text.lower(), text.upper(), text[:1].swapcase() + text[1:]))


def _marks(text: str, rng: random.Random) -> str:
    return text.rstrip("?!. ") + rng.choice(("", "?", ".", " ?"))


def _space(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    at = rng.randrange(len(words))
    return rng.choice(("", " ")) + " ".join([*words[:at], "", *words[at:]])


def _polite(text: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(_BEFORE) + text
    return text.rstrip("?. ") + rng.choice(_AFTER)


def _contract(text: str, rng: random.Random) -> str:
    lower = text.lower()
    known = [long for long in _SHORT if re.search(rf"\b{long}\b", lower)]
    if not known:
        return text
    long = rng.choice(known)
    return re.sub(rf"\b{long}\b", _SHORT[long], lower, count=1)


_CHANGES = (_typo, _typo, _case, _marks, _space, _polite, _contract)
