"""Turn pairs of two conversations: which turns differ in their wording, and which of them may.

Pure. Knows chains of turns as they were read; embeds and decides nothing. Invariant: turns that may not be in other
words are equal to the letter, or the two conversations are not the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request import eligibility
from semcache.request.assertions import regrouped, unshared
from semcache.request.characters import LONGEST_WORD, is_plain
from semcache.request.code_parts import same_code
from semcache.request.conversation import TurnChain, is_small_answer
from semcache.request.kinds import ends
from semcache.request.kinds.as_written import asks_about_form
from semcache.request.kinds.elliptic import is_elliptic
from semcache.request.pointing import reordered
from semcache.request.wording import canonical

ALIKE = 0.9  # cosine from which two wordings of an assistant's turn are taken for one; questions have a threshold
ALIKE_BESIDE_CALL = 0.7  # the same beside a tool's call or result, which are equal and say what it is about
_REMARK = 200  # characters of what is said beside a call that may be left unsaid
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"(?<![^\W_])(?<!')[^\W\d_a-z][^\W_]+")
_BEGINNING = re.compile(r"(?:^|[.!?:\n])[\W_]*$")
_PLACE = re.compile(
    r"\b(?:second|third|fourth|fifth|former|latter|previous|other|above|respectively)\b"
    r"|\b(?:the|that|this|your|my|a) (?:first|last|next)\b|\b(?:first|last|next) (?:one|option|point|part|item|step)\b"
    r"|\b(?:option|number|one of) (?:\d|one|two|three|them|those|these)\b|\b[1-9](?:st|nd|rd|th)\b"
)
_ORDER = re.compile(r"\b(?:first|last|order|former|latter|respectively)\b")


class TurnPair(NamedTuple):
    """Two wordings of the same turn: of the request that is looked up, and of the one that was kept."""

    role: str
    asked: str
    kept: str
    beside_call: bool = False

    @property
    def least(self) -> float:
        """The cosine from which two wordings of an assistant's turn are taken for one."""
        return ALIKE_BESIDE_CALL if self.beside_call else ALIKE


def pairs(
    asked: TurnChain, kept: TurnChain, *, last: tuple[str, str], longest: int, longest_word: int = LONGEST_WORD
) -> tuple[TurnPair, ...] | None:
    """The turns that differ in their wording; None when the two conversations cannot be the same.

    `last` are the two last messages. To the letter equal must be: turns of more than `longest` characters, secrets, and
    an assistant's turn to which the user then points ("the second one"). An assistant's turn says the same of the same
    things, unless a call beside it says of what; a user's turn to which the user then points has its words in the same
    order. Equal in their canonical wording must be what is personal or about this moment, unless a tool was called for
    it, and a first question that makes no sense alone. What is called by a name must be called so in both wordings, or
    in the question before; code stands in both as it is, and so do turns with what an embedder does not read, such as
    words of more than `longest_word` characters.
    """
    if [turn.role for turn in asked.turns] != [turn.role for turn in kept.turns]:
        return None
    if asked.turns == kept.turns:
        return ()
    if any(asks_about_form(ends(text)) for text in (*asked.questions, *kept.questions, *last)):
        return None
    found: list[TurnPair] = []
    opening = next((place for place, turn in enumerate(asked.turns) if turn.role == "user"), -1)
    for place, (turn, other) in enumerate(zip(asked.turns, kept.turns, strict=True)):
        pair = TurnPair(turn.role, turn.text, other.text, turn.beside_call)
        one, two = pair.asked, pair.kept
        if one == two or (pair.beside_call and not (one and two) and _is_remark(one or two)):
            continue
        if max(len(one), len(two)) > longest or not (is_plain(one, longest_word) and is_plain(two, longest_word)):
            return None
        if not same_code(one, two):
            return None
        if pair.role == "user":
            may_differ = _may_ask(pair, (*_later(asked, kept, place), *last), opens=place == opening)
        else:
            said = _said_before(asked, place) & _said_before(kept, place)
            may_differ = same_names(one, two, said) and not any(map(_points, _reaction(asked, kept, place) or last))
        if not may_differ:
            return None
        told = (one, two) if pair.role == "user" or pair.beside_call else _told_otherwise(one, two)
        if told is None:
            return None
        found.append(pair._replace(asked=told[0], kept=told[1]))
    return tuple(found)


def same_names(one: str, two: str, said: frozenset[str] = frozenset()) -> bool:
    """Return True if what either text calls by a name stands in the other, too, or was `said` before both."""
    return _names(one) <= _words(two) | said and _names(two) <= _words(one) | said


def _may_ask(pair: TurnPair, later: tuple[str, ...], *, opens: bool) -> bool:
    """Return True if two wordings of a user's turn may ask the same; `later` are the user's messages behind it."""
    one, two = pair.asked, pair.kept
    if not same_names(one, two) or (reordered(one, two) and any(map(_orders, (one, two, *later)))):
        return False
    kinds = [eligibility.kinds(text) for text in (one, two)]
    if any(kind.secret for kind in kinds):
        return False
    of_now = not pair.beside_call and any(kind.personal or kind.live for kind in kinds)
    if of_now or (opens and any(map(is_elliptic, (one, two)))):
        return canonical(one).text == canonical(two).text
    return True


def _told_otherwise(one: str, two: str) -> tuple[str, str] | None:
    """The words of two turns of the assistant that differ, which a long rest that is equal does not make more alike.

    None if one of them says more, or something of another thing.
    """
    if canonical(one).text == canonical(two).text:
        return one, two
    told = unshared(one, two)
    if regrouped(one, two) or (bool(told[0]) != bool(told[1]) and not is_small_answer(told[0] or told[1])):
        return None
    return told if all(told) else (one, two)


def _is_remark(text: str) -> bool:
    """Return True for words beside a call that say nothing which the call does not."""
    return len(text) <= _REMARK and not _names(text) and not any(map(str.isdigit, text))


def _reaction(asked: TurnChain, kept: TurnChain, place: int) -> tuple[str, ...]:
    """The user's next message after a turn, in both chains; none when that is the last message."""
    return _later(asked, kept, place)[:2]


def _later(asked: TurnChain, kept: TurnChain, place: int) -> tuple[str, ...]:
    """The messages of the user after a turn in both chains, but for the last one."""
    turns = zip(asked.turns[place + 1 :], kept.turns[place + 1 :], strict=True)
    return tuple([turn.text for pair in turns for turn in pair if turn.role == "user"])


def _said_before(chain: TurnChain, place: int) -> frozenset[str]:
    """The words of the user's message before a turn."""
    before = next((turn.text for turn in reversed(chain.turns[:place]) if turn.role == "user"), "")
    return frozenset(_words(before))


def _points(text: str) -> bool:
    """Return True if a message picks something out of the answer before it by its place there."""
    return len(text) <= 200 and _PLACE.search(text.lower()) is not None


def _orders(text: str) -> bool:
    """Return True if it matters to a message in which order things were named."""
    return _points(text) or _ORDER.search(text.lower()) is not None


def _names(text: str) -> set[str]:
    """Words with a capital where no sentence begins."""
    found = ((name[0], text[max(0, name.start() - 8) : name.start()]) for name in _NAME.finditer(text))
    return {name.lower() for name, before in found if name[0].isupper() and _BEGINNING.search(before) is None}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
