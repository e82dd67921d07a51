"""The content words of a prompt: what is left of it without the words that rarely change what is asked.

Pure and remembered by text. Invariant: two spellings of one inflected word have one stem, as far as endings tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import NamedTuple

from semcache.matching.guards.order import BEING
from semcache.request.text import read as read_text
from semcache.request.wording.verbs import IRREGULAR
from semcache.runtime.scoped_memo import scoped_cache

_HEAD = 600  # characters; longer prompts are spelt as far as that
_VERBAL = ("ed", "es", "ing")
_QUESTION = frozenset(["who", "whom", "whose", "when", "where", "why", "how", "which", "what"])
_STOP = frozenset(
    " ".join(
        (
            "a an the this that these those is are was were be been being am do does did done have has had having",
            "i me my mine we us our you your yours he him his she her it its they them their",
            "of in on at to for from by with about as into and or but if so than then there here",
            "can could will would shall should may might must please what which who whom whose when where why how",
            "just also any some very really get got know tell like want need wondering quick question help",
            "hi hello hey thanks thank please pls kindly sorry excuse good morning afternoon evening asap advance u",
        )
    ).split()
)


class ContentWords(NamedTuple):
    """A prompt as its words are compared.

    `stems` are those of the content words, in order and as a `bag`; `inflected` are the ones that an ending of a verb
    was taken off. `trigrams` are of all letters, distinct and in no order; `asks` is the first question word, "" for
    none, and `words` counts all words. `by` and `being` may make a passive. Thousands are remembered: a tuple takes a
    sixth of the memory of a set, and texts share the strings of their trigrams and stems.
    """

    stems: tuple[str, ...]
    bag: frozenset[str]
    trigrams: tuple[str, ...]
    asks: str
    words: int
    digits: bool
    inflected: frozenset[str]
    by: bool
    being: bool


@scoped_cache(maxsize=8192)
def read(text: str) -> ContentWords:
    """The content words of a text."""
    seen = read_text(text)
    words = seen.words
    stems = stems_of(words)
    squeezed = f" {' '.join(words)} "[:_HEAD]
    return ContentWords(
        stems=stems,
        bag=frozenset(stems),
        trigrams=tuple({intern(squeezed[i : i + 3]) for i in range(len(squeezed) - 2)}),
        asks=next((asking for word in words if (asking := word.partition("'")[0]) in _QUESTION), ""),
        words=len(words),
        digits=seen.digits,
        inflected=frozenset([intern(_stem(word)) for word in words if word.endswith(_VERBAL)]),
        by="by" in seen.bag,
        being=not seen.bag.isdisjoint(BEING),
    )


@scoped_cache(maxsize=64)
def trigrams_of(text: str) -> frozenset[str]:
    """The trigrams of a request, which are compared with those of all its neighbours."""
    return frozenset(read(text).trigrams)


def stems_of(words: Iterable[str]) -> tuple[str, ...]:
    """The stems of the content words among these."""
    return tuple([intern(_stem(word)) for word in words if word not in _STOP and word.partition("'")[0] not in _STOP])


def _stem(word: str) -> str:
    """A word without the endings that rarely change what is asked; the base of an irregular verb."""
    word = IRREGULAR.get(word, word)
    for ending in ("'s", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
