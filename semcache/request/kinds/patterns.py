"""Patterns of a kind of prompt, each beside words of which a text must hold one for it to match.

Knows regular expressions, no kind of prompt. Invariant: a pattern is tried only on a text that holds one of its words,
which is cheaper to tell.
"""

from __future__ import annotations

import re

from semcache.runtime.late_pattern import late

_WORD = re.compile(r"\w+")
# What is done with a text that is given, by every reading of it; each reading knows more verbs of its own.
WORKS_ON_TEXT = (
    "summari[sz]e|extract|identify|classify|translate|paraphrase|rewrite|rephrase|analy[sz]e|shorten|simplify|count"
)
SENTENCES = re.compile(r"(?<=[.?!;])\s+|\n\s*")  # between which a text is parted


def words_of(folded: str) -> frozenset[str]:
    """The words of a folded text."""
    return frozenset(_WORD.findall(folded))


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern out of many, for folded text; a space in them stands for any white space."""
    return late("|".join(f"(?:{pattern})" for pattern in patterns).replace(" ", r"\s+"))


def vocabulary(*words: str) -> frozenset[str]:
    """A set of words, written as text."""
    return frozenset(" ".join(words).split())


class CuedPatterns:
    """Patterns, each with the words of which a text that it matches holds at least one."""

    def __init__(self, *rules: tuple[frozenset[str], re.Pattern[str]]) -> None:
        self._rules = rules
        self._words = frozenset[str]().union(*(words for words, _ in rules))

    def may_match(self, bag: frozenset[str]) -> bool:
        """Return True if a text whose words are `bag` holds a word of any pattern."""
        return not self._words.isdisjoint(bag)

    def match(self, folded: str, bag: frozenset[str]) -> bool:
        """Return True if any pattern occurs in this text, whose words are `bag`."""
        present = bag & self._words
        if not present:
            return False
        return any(
            not words.isdisjoint(present) and pattern.search(folded) is not None for words, pattern in self._rules
        )


def rule(words: str | frozenset[str], *patterns: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """A rule of `CuedPatterns`: the words of which a text must hold one, and the pattern."""
    return vocabulary(words) if isinstance(words, str) else words, any_of(*patterns)
