"""Edits to another question about the same thing: why, when, how long or at what cost instead of how.

Reads frames as `question_forms` does. Invariant: the new question is of a type that no good answer to the old one
covers.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize import question_forms
from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, capital, last_sentence, single, split_end

_TURNED = {
    question_forms.PROCEDURE: (
        "how long does it take to"
        " {b}?", "how much does it cost to {b}?", "why should I {b}?", "when should I {b}?", "who is allowed to {b}?",
        "what happens if I"
        " {b}?", "is it safe to {b}?", "how often should I {b}?", "what happens if I don't {b}?", "do I have to {b}?",
        "why can't I {b}?", "what are the risks if I {b}?", "at what age can one {b}?",
    ),
    question_forms.ABILITY: (
        "how long does it take to"
        " {b}?", "how much does it cost to {b}?", "do I have to {b}?", "why can't I {b}?", "what happens if I {b}?",
        "how often can I {b}?", "who is allowed to {b}?", "why should I {b}?", "what are the risks if I {b}?",
    ),
    question_forms.WANTED: (),
    question_forms.ORDER: (),
}  # fmt: skip
_ABOUT_MINE = (
    "how do I change"
    " {b}?", "why has {b} changed?", "who can see {b}?", "when was {b} last updated?", "how is {b} determined?",
    "is it possible to change {b}?", "why can't I see {b}?", "how often does {b} change?",
)  # fmt: skip
_MINE = re.compile(
    r"^my (?:[\w-]+ )?(?:balance|limit|pin|address|salary|rate|score|number|status|username|password|schedule|fee"
    r"|credit|name|apr|bill|plan|income|email|phone)$"
)
_THING = re.compile(
    r"^(?:what is|what's|what are|what is a|what is an|define|explain)(?: \(are\))? (?P<x>(?:a "
    r"|an )?[A-Za-z][\w'-]*(?: [\w'-]+){0,3})$",
    re.IGNORECASE,
)
_ABOUT = (
    "what is the history of"
    " {b}?", "why is {b} important?", "what are common misconceptions about {b}?", "who discovered {b}?",
    "what is the opposite of"
    " {b}?", "what are the types of"
             " {b}?", "how common is {b}?", "what is an alternative to {b}?", "when did people first learn of {b}?",
    "how do I recognise {b}?", "what books are there about {b}?",
)  # fmt: skip
_NOT_THINGS = re.compile(
    r"\b(?:the|my|your|is|are|wrong|going|this|that|it|his|her|their|our|here|there|new|up|i|you|we|some|these"
    r"|those|happening|to|of)\b",
    re.IGNORECASE,
)
_VERBS = {
    "wrote": "written",
    "invented": "invented",
    "discovered": "discovered",
    "founded": "founded",
    "directed": "directed",
    "painted": "painted",
}
_VERBS |= {
    "built": "built",
    "designed": "designed",
    "composed": "composed",
    "created": "created",
    "developed": "developed",
    "proposed": "proposed",
}
_MADE = re.compile(rf"^who (?P<verb>{'|'.join(_VERBS)}) (?P<x>[^,?.;]+)$", re.IGNORECASE)
_HEADS = (
    (re.compile(r"^when (?=(?:did|was|were|does|do|is) (?!it\b))", re.IGNORECASE), ("where ", "why ", "how ")),
    (re.compile(r"^where (?=(?:did|was|were|does) )", re.IGNORECASE), ("when ", "why ")),
    (
        re.compile(r"^why (?=(?:did|was|were|does|do|is|are|has|have) )", re.IGNORECASE),
        ("when ", "since when ", "how often "),
    ),
    (
        re.compile(r"^how long (?=(?:do|does|will|can|should|is|did|has) (?!it take))", re.IGNORECASE),
        ("how often ", "why "),
    ),
    (re.compile(r"^how often (?=(?:do|does|can|should|is) )", re.IGNORECASE), ("how long ", "why ", "since when ")),
    (
        re.compile(r"^how many (?=\w+ (?:do|does|did|can|are|is|were|will|have) )", re.IGNORECASE),
        ("which ", "what kind of "),
    ),
    (re.compile(r"^how do (?=(?:i|you|we|they|people) )", re.IGNORECASE), ("why do ", "when do ", "how often do ")),
    (re.compile(r"^how much does (?=.+ cost$)", re.IGNORECASE), ("why does ",)),
    (
        re.compile(
            r"^(?:when|at what time) will (?=my "
            r"|the )",
            re.IGNORECASE,
        ),
        ("where will ", "how will ", "why will "),
    ),
    (re.compile(r"^where is (?=my |the )", re.IGNORECASE), ("whose is ", "how old is ", "how big is ")),
    (re.compile(r"^which (?=of the following (?:is|was|are|were) )", re.IGNORECASE), ("how many ", "why ")),
)


def _frame(text: str, rng: random.Random) -> str | None:
    frame = question_forms.read(text)
    if frame is None:
        return None
    others = _TURNED[frame.type]
    if frame.type == question_forms.WANTED and _MINE.match(frame.body.lower()):
        others = _ABOUT_MINE
    return question_forms.render(rng.choice(others), frame.body, tidy=frame.tidy) if others else None


def _thing(text: str, rng: random.Random) -> str | None:
    core, end = split_end(text)
    match = _THING.match(core.strip())
    if match is None or _NOT_THINGS.search(match["x"]) or any(map(str.isdigit, core)):
        return None
    return question_forms.render(rng.choice(_ABOUT), match["x"], tidy=bool(end) or core[:1].isupper())


def _maker(text: str, rng: random.Random) -> str | None:
    core, end = split_end(text)
    match = _MADE.match(core)
    if match is None:
        return None
    new = f"{rng.choice(('when', 'where', 'why'))} was {match['x']} {_VERBS[match['verb'].lower()]}"
    return (capital(new) if core[:1].isupper() else new) + end


def _head(text: str, rng: random.Random) -> str | None:
    if not single(text):
        return None
    core, end = split_end(text)
    for pattern, others in _HEADS:
        match = pattern.match(core)
        if match is not None:
            new = rng.choice(others)
            if new == "why " and "of the following" in core[:24]:
                return None
            if new in ("how many ", "which ", "what kind of ") and "of the following" in core[:24]:
                new, core = (
                    "how many ",
                    re.sub(r" (is|was) ", lambda m: {" is ": " are ", " was ": " were "}[m[0]], core, count=1),
                )
            told = new + core[match.end() :]
            return (capital(told) if core[:1].isupper() else told) + end
    return None


_PREFIXES = """
what are the advantages of | what are the disadvantages of
what is the best way to | what is the worst way to
what can i do with | what can I not do with
what should i do if | what should I do before
what causes | what prevents
how to diagnose | how to prevent | how to treat
how is | why is
who is at risk for | who treats
how many people are affected by | how many people die of
what documents do i need to | how long does it take to
what is the difference between | what is the connection between
how do i know if | what happens if
can you explain | can you criticize
write a function to | write a unit test for a function to | estimate the complexity of a function to
write a python function to | write a unit test for a python function to | write a Java method to
write a story about | write a review of a story about
tell me about | tell me what to avoid about
explain the | criticize the
describe the | question the
"""


def _prefixes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, _PREFIXES.splitlines())):
        one, *others = (part.strip() for part in line.split("|"))
        found[one] = others
    return found


_EXTRAS = {
    question_forms.PROCEDURE: (
        "and how long does it"
        " take", "and what does it"
                 " cost", "and who can help me with it", "and what can go wrong", "and is there a limit",
        "and how can I undo it", "and what should I do before that",
    ),
    question_forms.ABILITY: ("and what does it"
                     " cost", "and how long does it take", "and is there a limit", "and who else can"),
}  # fmt: skip


def _extra(text: str, rng: random.Random) -> str | None:
    """With a second question behind it."""
    frame = question_forms.read(text)
    if frame is None or frame.type not in _EXTRAS or len(text) > 120:
        return None
    core, end = split_end(text)
    return f"{core}, {rng.choice(_EXTRAS[frame.type])}{'?' if end else ''}"


RULES = changing_rules(
    question_frame=last_sentence(_frame),
    question_thing=_thing,
    question_maker=_maker,
    question_head=last_sentence(_head),
    question_opening=Lexicon(_prefixes()),
    extra_question=_extra,
)
