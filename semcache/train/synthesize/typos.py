"""Typing slips: misspelt words, no capitals, missing punctuation.

Knows keyboards, no meaning. Invariant: no number, no code, no word of negation and no word of fewer than five letters
is misspelt, so that a slip cannot turn one word that matters into another.
"""

from __future__ import annotations

import random

from semcache.request.text import vocabulary
from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import plain, split_end, words

# A key, and the keys beside it.
_KEYS = """
qwa wqes ewrd retf tryg ytuh uyij iuok oipl pol aqsz sadw dsfe fdgr gfht hgjy jhku kjli lkop zxs xzcd cxvf vcbg bvnh
nbmj mnk
"""
_NEAR = {keys[0]: keys[1:] for keys in _KEYS.split()}
_KEPT = vocabulary(
    """
    without never before after below above under until unless least other another first second third fourth third
    where which about there these those their would could should every either neither
    """
)


def _typo(text: str, rng: random.Random) -> str | None:
    found = [
        word
        for word in words(text).all
        if word.end - word.start > 4
        and word.lower.isalpha()
        and word.lower not in _KEPT
        and word.lower[:2] not in _PREFIXES
        and text[word.start + 1 : word.end].islower()
        and (text[word.start].islower() or not word.start)
    ]
    if not found or not plain(text):
        return None
    word = rng.choice(found)
    at = rng.randrange(word.start + 1, word.end - 2)
    letter = text[at]
    kind = rng.randrange(4)
    if kind == 0:
        return f"{text[:at]}{text[at + 1]}{letter}{text[at + 2 :]}"
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[:at] + letter + text[at:]
    return text[:at] + rng.choice(_NEAR.get(letter, letter)) + text[at + 1 :]


# A slip in "unsafe" or "disable" may give its opposite.
_PREFIXES = frozenset(("un", "in", "im", "ir", "il", "di", "de", "no", "en", "ad", "af", "ef", "hy", "ex"))


def _typos(text: str, rng: random.Random) -> str | None:
    once = _typo(text, rng)
    return None if once is None else _typo(once, rng)


def _lower(text: str, _: random.Random) -> str | None:
    return text.lower() if plain(text) and not any(word.isupper() for word in text.split() if len(word) > 1) else None


def _upper(text: str, _: random.Random) -> str | None:
    return text.upper() if plain(text) and len(text) < 80 else None


def _bare(text: str, _: random.Random) -> str | None:
    """Without the mark at the end, and without the commas."""
    core, end = split_end(text)
    if not end or not plain(text):
        return None
    return core if any(map(str.isdigit, text)) else core.replace(", ", " ")


def _marked(text: str, rng: random.Random) -> str | None:
    core, end = split_end(text)
    asks = "?" in end
    return core + (rng.choice(("??", " ?", "?!", "...?")) if asks else rng.choice(("!", "...", ".", "!!")))


def _joined(text: str, rng: random.Random) -> str | None:
    """Lower case, no end mark and a slip: a prompt from a phone."""
    lower = _lower(text, rng)
    return None if lower is None else _typo(split_end(lower)[0], rng)


RULES = keeping_rules(
    typo_once=_typo,
    typo_twice=_typos,
    typo_phone=_joined,
    case_lower=_lower,
    case_upper=_upper,
    punctuation_bare=_bare,
    punctuation_more=_marked,
)
