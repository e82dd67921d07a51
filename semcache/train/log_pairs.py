"""Pairs from a log: prompts of one tenant that were answered alike, and near ones that were answered otherwise.

Knows prompts and answers as texts; trains nothing. Invariant: no pair crosses a tenant, and an answer that says little
of its question (a refusal, a short one that many prompts got) makes no two prompts the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from semcache.train import mining
from semcache.train.pairs import Pair
from semcache.train.text_identity import caseless

if TYPE_CHECKING:
    from semcache.types import Matrix

_PER_ANSWER = 12  # pairs that one answer's prompts give at most, so that a popular answer does not drown the others
_SHORT_WORDS, _SHORT_LETTERS = 4, 24  # an answer below both says little: "Yes.", "42", "You're welcome!"
_FEW = 3  # prompts that may have a short answer for a reason: "Canberra." to some wordings of one question
_YES_OR_NO = frozenset(("yes", "no", "true", "false", "ok", "okay", "done", "sure"))
_REFUSAL = re.compile(
    r"\W*(?:as an ai\b|(?:(?:i(?:['’]m| am)(?: \w+)? )?sorry\W+|i apologi[sz]e\W+|my apologies\W+|unfortunately\W+)?"
    r"(?:but )?i(?: (?:can(?:no|['’])t|can not|won['’]t|will not|(?:don['’]t|do not) (?:know|have))\b"
    r"|(?:['’]m| am) (?:not able|unable|not allowed)\b))",
    re.IGNORECASE,
)
_REFUSED = 200  # letters: a longer answer that begins like that also says something


@dataclass(frozen=True, slots=True)
class AnsweredPrompt:
    """A prompt of a log, and what it got; `labelled`: the answer is the name of a class, such as an intent."""

    prompt: str
    answer: str
    tenant: str = ""
    labelled: bool = False


class LogPairs:
    """The pairs of a log: the same ones at once, the different ones part by part of a split.

    A log tells the answer of every prompt, so prompts of different answers are known to be different.
    """

    def __init__(self, rows: Sequence[AnsweredPrompt], encode: Callable[[Sequence[str]], Matrix]) -> None:
        tenants: dict[str, list[AnsweredPrompt]] = {}
        for row in rows:
            if row.prompt.strip() and row.answer.strip() and (row.labelled or not is_refusal(row.answer)):
                tenants.setdefault(row.tenant, []).append(row)
        self._tenants = [_read(mine) for mine in tenants.values()]
        self._encode = encode

    @property
    def texts(self) -> list[str]:
        """All prompts that pairs are made of."""
        return [text for tenant in self._tenants for text in tenant.texts]

    def same(self) -> list[Pair]:
        """Pairs of prompts that got the same answer; at most 12 an answer, in their order."""
        return [pair for tenant in self._tenants for pair in tenant.same]

    def different(self, there: Callable[[str], bool]) -> list[Pair]:
        """A near prompt of another answer for each pair of `same`, out of the texts that are `there`."""
        found = []
        for tenant in self._tenants:
            same = [pair for pair in tenant.same if there(pair.one) and there(pair.two)]
            texts = [text for text in tenant.texts if there(text)]
            if same:
                found += mining.mine(same, self._encode(texts), texts, tenant.classes)
        return found


def is_refusal(answer: str) -> bool:
    """Return True for an answer that says little but that there is none."""
    return len(answer) < _REFUSED and _REFUSAL.match(answer) is not None


@dataclass(frozen=True, slots=True)
class _TenantLog:
    """One tenant's pairs, texts, and a number for the answer of each caseless text."""

    same: list[Pair]
    texts: list[str]
    classes: Mapping[str, int]


def _read(rows: Sequence[AnsweredPrompt]) -> _TenantLog:
    numbers: dict[str, int] = {}
    classes: dict[str, int] = {}
    prompts: dict[str, dict[str, str]] = {}
    labelled: set[str] = set()
    for row in rows:
        answer, prompt = caseless(row.answer), caseless(row.prompt)
        classes.setdefault(prompt, numbers.setdefault(answer, len(numbers)))  # the first answer of a prompt counts
        prompts.setdefault(answer, {}).setdefault(prompt, row.prompt)
        if row.labelled:
            labelled.add(answer)
    same = [
        Pair(texts[one], texts[two], True, made="log")
        for answer, distinct in prompts.items()
        if answer in labelled or not _says_little(answer, len(distinct))
        for texts in (list(distinct.values()),)
        for one, two in islice(_nearest_first(len(texts)), _PER_ANSWER)
    ]
    return _TenantLog(same, list(dict.fromkeys(row.prompt for row in rows)), classes)


def _says_little(answer: str, prompts: int) -> bool:
    """Return True where prompts may share this answer by chance, caseless; `prompts` distinct ones did."""
    if answer.strip(" .!") in _YES_OR_NO:
        return True
    return prompts > _FEW and len(answer) < _SHORT_LETTERS and len(answer.split()) < _SHORT_WORDS


def _nearest_first(count: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places below `count`, those that lie nearest to each other first."""
    for gap in range(1, count):
        for place in range(count - gap):
            yield place, place + gap
