"""Names in a corpus that stand in the same place of its prompts, so that one can be put for another.

Learns two sorts of places as prompts go by: the end of a prompt behind the words before it ("What are the symptoms
of"), and capitalised names behind a word ("transfer to"). Invariant: bounded memory, whatever the number of
prompts; the things of one place share no word.
"""

from __future__ import annotations

import random
import re

from semcache.request.text import vocabulary
from semcache.train.synthesize.edit_rule import EditRule, changing_rules
from semcache.train.synthesize.prose_edits import split_end

_PLACES, _THINGS = 20_000, 24
_TAIL = re.compile(
    r"^(?P<lead>.*\b(?:of|for|about|between|to|related to|affected by|is \(are\)|does|causes|prevent|diagnose|mean) )"
    r"(?P<thing>(?!(?:the|a|an|my|your|this|that|it|them|me|you|i|do|be|get|his|her|our|their|what|how|these"
    r"|those|all|some)\b)[A-Za-z][\w'-]*(?: [\w'-]+){0,4})$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )(?P<thing>[A-Z][\w'’&-]+(?: (?:of |the |and )?[A-Z][\w'’&-]+){0,3})(?![\w'’])")
_QUOTED = re.compile(r"\"(?P<thing>[^\"\n]{2,60})\"")
_VERB_FIRST = re.compile(r"\bto $", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")
_COMMON = vocabulary("I I'm I've I'd I'll The A An This OK Hi Python")


class CorpusNames:
    """Things by place. `learn` every prompt, then `rules()` edit any."""

    def __init__(self) -> None:
        self._tails: dict[str, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        self._quoted: dict[str, list[str]] = {}

    def learn(self, text: str) -> None:
        """Take notice of what a prompt names."""
        if len(text) > 300:
            return
        core, _ = split_end(text)
        tail = _TAIL.match(core)
        if tail is not None and not _VERB_FIRST.search(tail["lead"]) and len(tail["lead"].split()) > 2:
            _note(self._tails, tail["lead"].lower(), tail["thing"])
        for match in _NAME.finditer(text):
            if match["thing"] not in _COMMON:
                _note(self._names, _before(text, match.start()), match["thing"])
        for match in _QUOTED.finditer(text):
            _note(self._quoted, _before(text, match.start()), match["thing"])

    def rules(self) -> tuple[EditRule, ...]:
        """Rules that put one thing for another of its place."""
        return changing_rules(entity_place=self._tail, entity_name=self._name, entity_quotation=self._quotation)

    def _tail(self, text: str, rng: random.Random) -> str | None:
        core, end = split_end(text)
        match = _TAIL.match(core)
        if match is None:
            return None
        new = _other(self._tails.get(match["lead"].lower()), match["thing"], rng)
        return None if new is None else match["lead"] + new + end

    def _name(self, text: str, rng: random.Random) -> str | None:
        return _exchanged(_NAME, self._names, text, rng)

    def _quotation(self, text: str, rng: random.Random) -> str | None:
        return _exchanged(_QUOTED, self._quoted, text, rng)


def _exchanged(pattern: re.Pattern[str], known: dict[str, list[str]], text: str, rng: random.Random) -> str | None:
    found = list(pattern.finditer(text)) if len(text) <= 600 else []
    if not found:
        return None
    match = rng.choice(found)
    new = _other(known.get(_before(text, match.start())), match["thing"], rng)
    return None if new is None else text[: match.start("thing")] + new + text[match.end("thing") :]


def _before(text: str, start: int) -> str:
    return " ".join(text[:start].lower().split()[-2:])


def _note(known: dict[str, list[str]], place: str, thing: str) -> None:
    things = known.get(place)
    if things is None:
        if len(known) >= _PLACES:
            return
        known[place] = [thing]
    elif len(things) < _THINGS and thing not in things:
        things.append(thing)


def _other(things: list[str] | None, old: str, rng: random.Random) -> str | None:
    """A thing of the same place that shares no beginning of a word with `old`."""
    if not things or len(things) < 2:
        return None
    heads = {word[:4] for word in _WORD.findall(old.lower())}
    for _ in range(3):
        new = rng.choice(things)
        if heads.isdisjoint(word[:4] for word in _WORD.findall(new.lower())):
            return new
    return None
