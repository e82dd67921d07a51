"""Edits of prose: words with their places, replacement of phrases, case, articles and endings.

Knows spelling, not meaning. Invariant: an edit leaves everything beside the words that it replaces as it was, except
the article in front of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W_]+(?:['’.+#-]+[^\W_]+)*(?:\+\+|#)?")
_END = re.compile(r"[\s?!.]*$")
_ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)
_LITERAL = re.compile(r"[`\"“”_{}<>=\\]|\w\(|://|\w\.\w{2,}\b")
_VOWEL = re.compile(r"(?:[aeio]|u(?!ni|s[eu]|k|tensil)|hour|honest)(?!ne\b|nce\b|uro)", re.IGNORECASE)


class ProseWord(NamedTuple):
    """A word in lower case, and where it stands."""

    lower: str
    start: int
    end: int


class ProseWords(NamedTuple):
    """The words of a text, in order and as a set."""

    all: tuple[ProseWord, ...]
    bag: frozenset[str]


@lru_cache(maxsize=4096)
def words(text: str) -> ProseWords:
    """The words of `text`; an apostrophe, hyphen or full stop inside a word is a part of it."""
    found = tuple(ProseWord(m[0].lower().replace("’", "'"), m.start(), m.end()) for m in _TOKEN.finditer(text))
    return ProseWords(found, frozenset(word.lower for word in found))


class PhraseMatch(NamedTuple):
    """A phrase of a lexicon in a text."""

    phrase: str
    start: int
    end: int


class Phrases:
    """Phrases, of which the longest that begins at a word is found; the words of one stand one space or hyphen apart.

    `proper` also finds what is capitalised inside a sentence, which is then likely a part of a name.
    """

    def __init__(self, phrases: Iterable[str], *, proper: bool = False) -> None:
        self._starts: dict[str, list[tuple[str, ...]]] = {}
        for phrase in phrases:
            parts = tuple(phrase.lower().split())
            self._starts.setdefault(parts[0], []).append(parts)
        for starting in self._starts.values():
            starting.sort(key=len, reverse=True)
        self._heads = frozenset(self._starts)
        self._proper = proper

    def find(self, text: str) -> list[PhraseMatch]:
        """All phrases in `text`, none inside another."""
        read = words(text)
        if read.bag.isdisjoint(self._heads):
            return []
        found: list[PhraseMatch] = []
        end = 0
        for place, word in enumerate(read.all):
            if word.start >= end and word.lower in self._heads:
                for parts in self._starts[word.lower]:
                    some = read.all[place : place + len(parts)]
                    if tuple([one.lower for one in some]) == parts and _adjoining(text, some):
                        if self._proper or not _is_name(text, word.start):
                            found.append(PhraseMatch(" ".join(parts), word.start, some[-1].end))
                        end = some[-1].end
                        break
        return found


class Lexicon:
    """A lexicon of replacements: each phrase with those that may stand for it.

    A phrase that is `whole` stays, and so does what it begins with or holds.
    """

    def __init__(self, table: Mapping[str, Sequence[str]], *, proper: bool = False, whole: Sequence[str] = ()) -> None:
        self._table = {phrase.lower(): tuple(others) for phrase, others in table.items()}
        self.phrases = Phrases([*self._table, *whole], proper=proper)

    def __call__(self, text: str, rng: random.Random) -> str | None:
        """`text` with one phrase replaced; None where it holds none."""
        found = [match for match in self.phrases.find(text) if match.phrase in self._table]
        if not found:
            return None
        one = found[0] if len(found) == 1 else rng.choice(found)
        return put(text, one.start, one.end, rng.choice(self._table[one.phrase]))


def put(text: str, start: int, end: int, new: str) -> str:
    """`text` with `new` in place of a span, in the case of what stood there, with the article that it needs."""
    before, after = text[:start], text[end:]
    if not new:
        after = after.lstrip(" ") if not before or before.endswith(" ") else after
        joined = before + after if after[:1] not in "?.!,;" else before.rstrip(" ") + after
        return capital(joined) if not start and text[:1].isupper() else joined
    article = _ARTICLE.search(before)
    if article is not None:
        wanted = "an" if _VOWEL.match(new) else "a"
        if article[1].lower() != wanted:
            wanted = wanted.capitalize() if article[1][0].isupper() else wanted
            before = before[: article.start(1)] + wanted + " "
    return before + cased(new, text[start:end]) + after


def cased(new: str, old: str) -> str:
    """`new` in the case of `old`; letters that are capital in `new` stay so unless `old` is all small."""
    if len(old) > 1 and old.isupper() and any(map(str.isalpha, old)) and len(new) > 1 and old.isalpha():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def table(lines: str, *, both: bool = True) -> dict[str, list[str]]:
    """Lines of alternatives "one | two | three": each stands for any other, or the first for the others only."""
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        some = [part.strip() for part in line.split("|")]
        for place, one in enumerate(some if both else some[:1]):
            found.setdefault(one, []).extend(other for other in some[:place] + some[place + 1 :] if other != one)
    return found


def alternatives(lines: str) -> dict[str, list[str]]:
    """Lines of alternatives "one, two, three", perhaps behind a name and a colon: each stands for any other."""
    return table("\n".join(line.rpartition(":")[2].replace(",", " | ") for line in lines.splitlines()))


def split_end(text: str) -> tuple[str, str]:
    """A text without the punctuation and space at its end, and these."""
    match = _END.search(text)
    assert match is not None
    return text[: match.start()], match[0]


def capital(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """With a small first letter, unless the first word is "I", a name in capitals or one with a capital inside."""
    first = text.split(" ", 1)[0]
    if first in ("I", "A") or first[:2] in ("I'", "I’"):
        return "a" + text[1:] if first == "A" else text
    return text if any(letter.isupper() or letter.isdigit() for letter in first[1:]) else text[:1].lower() + text[1:]


def plain(text: str) -> bool:
    """Return True if nothing in a text must be kept to the letter: code, quotations, addresses."""
    return _LITERAL.search(text) is None and "\n" not in text


def single(text: str) -> bool:
    """Return True if a text is one sentence of prose."""
    return "\n" not in text and not re.search(r"[?!.;:]\s", text.rstrip(" ?!."))


def last_sentence(edit: Callable[[str, random.Random], str | None]) -> Callable[[str, random.Random], str | None]:
    """An edit of one sentence as an edit of the last of a prompt's sentences, which holds the question."""

    def edited(text: str, rng: random.Random) -> str | None:
        cut = 0 if "\n" in text else max(text.rfind(mark, 0, len(text) - 8) for mark in (". ", "? ", "! ")) + 2
        if cut < 3:
            return edit(text, rng)
        new = edit(text[cut:], rng)
        return None if new is None else text[:cut] + new

    return edited


def _adjoining(text: str, some: Sequence[ProseWord]) -> bool:
    return all(text[one.end : two.start] in (" ", "-") for one, two in pairwise(some))


def _is_name(text: str, start: int) -> bool:
    """Return True if a capital at `start` is not explained by a sentence's beginning or by capitals throughout."""
    if not text[start].isupper() or not start:
        return False
    before = text[:start].rstrip(" \"'(“")
    return bool(before) and before[-1] not in "?!.:\n" and not text.isupper()


def spans(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The matches of a pattern that stand in no quotation and no code."""
    found = list(pattern.finditer(text))
    if not found or not ('"' in text or "`" in text):
        return found
    return [match for match in found if _outside(text[: match.start()])]


def pick(pattern: re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    """One of the matches of `spans`."""
    found = spans(pattern, text)
    return rng.choice(found) if found else None


def within(text: str, match: re.Match[str], group: str | int, new: str) -> str:
    """`text` with `new` in place of a group of a match."""
    return text[: match.start(group)] + new + text[match.end(group) :]


def _outside(before: str) -> bool:
    return before.count('"') % 2 == 0 and before.count("`") % 2 == 0
