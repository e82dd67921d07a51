"""Second turns of a conversation, which mean nothing without the first: "And what does it cost?".

A conversation is written as its user turns, one a line. Invariant: a follow-up is one of a table, fits what a first
turn asks to be done, and two follow-ups of different lines of the table never ask for the same.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import changing_rules, keeping_rules
from semcache.train.synthesize.prose_edits import capital, split_end

# One line, one meaning.
_FOLLOWUPS = """
how long does it take? | how much time does that take? | and how long will that take?
how much does it cost? | what does that cost? | and what is the price of that? | is there a fee, and how much is it?
can I do that online? | is that possible on the website? | does that work online?
what if it does not work? | and if that fails? | what do I do if it doesn't work?
can I undo that later? | is that reversible? | can it be undone afterwards?
why is that? | what is the reason for that? | how come?
and on my phone? | how does that work on a phone? | is it the same on a phone?
what about in Germany? | and in Germany? | is that so in Germany too?
what about for students? | and for students? | does that hold for students as well?
what about for businesses? | and for businesses? | does that hold for businesses as well?
who can help me with that? | is there somebody to help me with it? | whom can I ask for help with that?
do I need any documents for that? | which papers does that require? | what documents are needed for it?
is it safe? | are there any risks? | is that dangerous?
how often can I do that? | how many times may I do that? | how frequently is that possible?
give me an example. | can you show an example? | an example, please.
explain that again, more simply. | can you put that in simpler words? | I don't understand. In simpler terms, please?
"""
_TABLE = [[one.strip() for one in line.split("|")] for line in filter(None, map(str.strip, _FOLLOWUPS.splitlines()))]
_LINE = {one: place for place, line in enumerate(_TABLE) for one in line}
_FIRST = re.compile(
    r"^(?:how (?:do|can|to|could)|can i|could i|is it possible|am i able|i (?:want|need|would like) to(?! know)"
    r"|what is the way)\b",
    re.IGNORECASE,
)


def followed(text: str, rng: random.Random) -> str | None:
    """A prompt that asks how or whether something is done, with a follow-up as its last line."""
    if "\n" in text or len(text) > 160 or not _FIRST.match(text):
        return None
    told = rng.choice(rng.choice(_TABLE))
    return f"{text}\n{capital(told) if text[:1].isupper() else split_end(told)[0].lower()}"


def _place(text: str) -> tuple[str, int] | None:
    first, _, last = text.rpartition("\n")
    if not first:
        return None
    for one, place in _LINE.items():
        if split_end(one)[0].lower() == split_end(last)[0].lower():
            return first, place
    return None


def _written(first: str, told: str) -> str:
    return f"{first}\n{capital(told) if first[:1].isupper() else split_end(told)[0].lower()}"


def _otherwise(text: str, rng: random.Random) -> str | None:
    found = _place(text)
    return None if found is None else _written(found[0], rng.choice(_TABLE[found[1]]))


def _other(text: str, rng: random.Random) -> str | None:
    found = _place(text)
    if found is None:
        return None
    first, place = found
    return _written(first, rng.choice(_TABLE[(place + rng.randrange(1, len(_TABLE))) % len(_TABLE)]))


RULES = (*keeping_rules(followup_otherwise=_otherwise), *changing_rules(ellipsis_other=_other))
