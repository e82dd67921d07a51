"""Indirect questions in direct order: "why the sky is blue" is "why is the sky blue".

Moves an auxiliary to its place in a direct question, or adds the one that the verb's form stands for.
Invariant: tense and number are kept, no word is lost, and a clause whose verb is in doubt stays as it is.
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.request.text import vocabulary
from semcache.request.wording.verbs import BASES, DOUBTFUL, PAST, PRESENT, is_base, past_tense, third_person

_AUXILIARIES = vocabulary("is are was were can could will would should must may might cannot")
_HAVE = vocabulary("has have had")
_DIRECT = _AUXILIARIES | _HAVE | vocabulary("do does did am shall ought not to")
_BEGINNINGS = vocabulary(
    "the a an my your his her its our their this these those it he she they we i you each every some any"
)
_PRONOUNS = vocabulary("it he she they we i you")
_DEGREES = vocabulary(
    """
    old tall far long big deep high heavy fast large wide expensive hot cold rich popular often quickly soon late early
    accurate reliable safe dangerous common effective strong hard difficult easy loud thick good bad healthy warm
    """
)
_STOPS = vocabulary(
    """
    that which who whom whose if whether what where when why how because while although though but not no never
    than then nor as to
    """
)
_PARTICIPLES = vocabulary(
    "been got gone done made taken given seen known grown come become begun fallen risen won lost left found had"
)
_DENYING = vocabulary("not no never nobody none nothing nowhere neither nor hardly barely rarely seldom cannot")
_CLAUSES = vocabulary("if when while because although though that which who whose where unless until before after")
_MOST = 9
_LONGEST = 240


def directed(text: str) -> str:
    """The question in direct order; a text that is none, or has another clause behind a comma, as it is."""
    end = len(text.rstrip("?"))
    line, mark = text[:end], text[end:]
    if end > _LONGEST or "," in line or "\n" in line or ":" in line or ";" in line or ". " in line:
        return text
    words = line.split(" ")
    low = [word.lower() for word in words]
    start = _subject(low)
    if start is None:
        return text
    found = _ordered(words, low, start)
    return text if found is None else " ".join(found) + mark


def asked_whether(clause: str) -> str | None:
    """The direct question of a clause behind "if" or "whether"; None where its verb is in doubt, or denied.

    A yes to "is it true that it is not safe" is a no to "isn't it safe".

    >>> asked_whether("the earth is round")
    'is the earth round'
    """
    clause = clause.rstrip("?").removesuffix(" or not")
    end = len(clause)
    if end > _LONGEST or "\n" in clause or ":" in clause or ";" in clause or ". " in clause:
        return None
    words = clause[:end].split(" ")
    low = [word.lower() for word in words]
    if len(low) < 2 or low[0] in _DIRECT or _denies(low):
        return None
    if low[0] == "there" and low[1] in _DIRECT:
        return " ".join([words[1], words[0], *words[2:]])
    if (
        low[1] in _AUXILIARIES | _HAVE | _AM
        and low[0] in _PRONOUNS | _DEMONSTRATIVES
        and not (low[1] in _HAVE and not _perfect(low, 1))
    ):
        return " ".join([words[1], words[0], *words[2:]])
    found = _ordered(words, low, 0)
    return None if found is None else " ".join(found)


def _denies(low: list[str]) -> bool:
    """Return True for a clause that says no; what is "to not" be done, or behind another "if", is no part of its no."""
    ends = next((at for at, word in enumerate(low) if at and word in _CLAUSES), len(low))
    return any(word in _DENYING and low[at - 1] != "to" for at, word in enumerate(low[:ends]))


def _perfect(low: list[str], at: int) -> bool:
    following = low[at + 1] if at + 1 < len(low) else ""
    return following.endswith(("ed", "en")) or following in _PARTICIPLES or following == "to"


_AM = frozenset(("am", "do", "does", "did"))
_DEMONSTRATIVES = vocabulary("this that these those there")


def _subject(low: list[str]) -> int | None:
    """Where the subject of an indirect question begins; None for a direct question and for another text."""
    if len(low) < 3 or low[1] in _DIRECT:
        return None
    if low[0] in ("when", "where", "why"):
        return None if low[1] in ("else", "exactly", "precisely", "oh") else 1
    if low[0] == "how":
        if low[1] in ("many", "much"):
            return _second(low, 2)
        if low[1] in _DEGREES:
            return 2 if low[2] not in _DIRECT else None
        return 1
    if low[0] in ("what", "who"):
        if low[1] in _BEGINNINGS:
            return 1
        if (
            len(low) > 3
            and low[-1] in _PREPOSITIONS
            and low[2] in _AUXILIARIES
            and low[3].endswith(("ed", "lt", "de", "en", "wn"))
        ):
            return 1
        if low[0] == "what" and (low[-1] == "means" or (len(low) == 3 and low[-1] in ("does", "is"))):
            return 1
    if low[0] in ("what", "which", "whose"):
        return _second(low, 2)
    return None


def _second(low: list[str], at: int) -> int | None:
    """Where a second noun phrase begins behind "which trains", "how many eggs"; None without one."""
    for start in range(at, min(at + 3, len(low) - 1)):
        if low[start] in _DIRECT or (low[start - 1] in BASES and start > at):
            return None
        if low[start - 1] in PRESENT and low[start - 1] not in DOUBTFUL and low[0] != "how":
            return None
        if low[start] in _BEGINNINGS:
            before = low[start - 1]
            if (
                before in _PREPOSITIONS
                or before in PAST
                or (start > at and before in PRESENT and before not in DOUBTFUL)
            ):
                return None
            if before.endswith("ing") or (start == at and before in _VERBAL):
                return None
            return start
    return None


_VERBAL = vocabulary("makes causes happens includes contains gives takes is are was were has have")
_PREPOSITIONS = vocabulary("in on at of for with from by to about into over under per like between through during")


class _Clause(NamedTuple):
    """The words of an indirect question, the same in lower case, and where its subject begins."""

    words: list[str]
    low: list[str]
    start: int

    def inverted(self, at: int, auxiliary: str, *verb: str) -> list[str]:
        """The words with an auxiliary before the subject, and this verb in place of the word that stands at `at`."""
        words, start = self.words, self.start
        return [*words[:start], auxiliary, *words[start:at], *verb, *words[at + 1 :]]


def _ordered(words: list[str], low: list[str], start: int) -> list[str] | None:
    clause = _Clause(words, low, start)
    for at in range(start + 1, min(len(low), start + 1 + _MOST)):
        word = low[at]
        if word in _STOPS:
            return None
        if word in _AUXILIARIES:
            return _by_auxiliary(clause, at)
        if word in _HAVE:
            return _by_have(clause, at)
        if word in ("does", "did", "do"):
            negated = at + 1 < len(low) and low[at + 1] == "not"
            return clause.inverted(at, word, *([] if negated else ["do"]))
        if (found := _by_verb(clause, at)) is not None:
            return found
    return None


def _by_auxiliary(clause: _Clause, at: int) -> list[str] | None:
    """The clause with the auxiliary at its place; None where what stands before it may be no subject."""
    _, low, start = clause
    if low[0] == "how" and low[start] not in _BEGINNINGS and not _told(low, start, at):
        return None
    if low[0] == "what" and start > 1 and low[at - 1] in _PREPOSITIONS:
        return None
    return clause.inverted(at, clause.words[at])


def _by_have(clause: _Clause, at: int) -> list[str]:
    """The clause with "have" as the auxiliary that it is, or as a verb with one."""
    low = clause.low
    following = low[at + 1] if at + 1 < len(low) else ""
    if following.endswith(("ed", "en")) or following in _PARTICIPLES:
        return clause.inverted(at, clause.words[at])
    return clause.inverted(at, {"has": "does", "have": "do", "had": "did"}[low[at]], "have")


def _by_verb(clause: _Clause, at: int) -> list[str] | None:
    """The clause with the auxiliary that the form of this verb stands for; None where it may be no verb."""
    _, low, start = clause
    word = low[at]
    if (base := past_tense(word)) is not None:
        return clause.inverted(at, "did", base) if _ends_nouns(low, at) and not _another(low, at) else None
    if (base := third_person(word)) is not None and _ends_nouns(low, at):
        doubtful = word in DOUBTFUL or word not in PRESENT
        if doubtful and (_another(low, at) or low[at - 1] in _BEGINNINGS - _PRONOUNS):
            return None
        return clause.inverted(at, "does", base)
    if is_base(word) and _plural(low, start, at):
        return clause.inverted(at, "do", clause.words[at])
    return None


def _told(low: list[str], start: int, at: int) -> bool:
    """Return True if what stands before the auxiliary is a subject, not a degree as in "how closely related are"."""
    if at + 1 == len(low):
        return low[start] != "apart"
    following = low[at + 1]
    return start == 1 and (following.endswith(("ed", "en")) or following in _PARTICIPLES or following in BASES)


def _another(low: list[str], at: int) -> bool:
    """Return True if another word behind this one may be the verb."""
    return any(
        word in _AUXILIARIES
        or word in _HAVE
        or (word in PRESENT and word not in DOUBTFUL)
        or word in PAST
        or word in BASES
        for word in low[at + 1 : at + 5]
    ) and low[at + 1] not in (*_PREPOSITIONS, "up", "down", "out", "off", "the", "a", "an")


def _ends_nouns(low: list[str], at: int) -> bool:
    return low[at - 1] not in _BEGINNINGS - _PRONOUNS and low[at - 1] not in _PREPOSITIONS


def _plural(low: list[str], start: int, at: int) -> bool:
    """Return True if a plural subject of few words ends here, so that a base form is its verb."""
    if at - start > 3 or any(word in _PREPOSITIONS for word in low[start:at]):
        return False
    before = low[at - 1]
    if before in ("i", "you", "we", "they"):
        return at - start == 1
    return (before.endswith("s") and not before.endswith(("ss", "us", "is", "'s"))) or before in (
        "people", "men", "women", "children", "mice", "geese", "teeth", "feet", "sheep", "fish", "cattle", "police",
    )  # fmt: skip
