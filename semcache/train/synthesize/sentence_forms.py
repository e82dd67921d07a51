"""Other forms of a whole sentence, and clauses in another order: passives, nominal and verbal forms, lists.

Each line of the table is one sentence pattern and what it may become. Invariant: every slot of a pattern is carried
over word for word, and a pattern that fits a part of a sentence only is not applied.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import capital, last_sentence, single, small, split_end

_X = r"(?P<x>(?:(?!\b(?:and|or|if|when|that|which|is|are|do|does|what|how)\b)[^,;:?!.])+?)"
_Y = _X.replace("?P<x>", "?P<y>")
# A pattern of a whole sentence without its end mark; indented, what says the same. <X> and <Y> are bare noun phrases.
_SENTENCES = r"""
what (?:is|are|'s) the (?:main )?differences? between (?P<x>[^,]+?) and (?P<y>[^,]+)
    how do {x} and {y} differ? | how does {x} differ from {y}? | {x} vs {y}: what's the difference? |
    how is {x} different from {y}? | what is the difference between {y} and {x}? |
    difference between {x} and {y}
what causes <X>
    what are the causes of {x}? | what is {x} caused by? | what leads to {x}? | causes of {x}
what are the causes of <X>
    what causes {x}? | what is {x} caused by? | {x} causes | tell me the causes of {x}.
what are the symptoms of <X>
    which symptoms does {x} have? | {x} symptoms | what symptoms does {x} cause? | what are the signs of {x}? |
    which symptoms are typical of {x}?
what are the treatments for <X>
    how is {x} treated? | treatment options for {x} | which treatments are there for {x}? | {x} treatment |
    how can {x} be treated? | how do doctors treat {x}?
how to diagnose <X>
    how is {x} diagnosed? | what is done to diagnose {x}? | {x} diagnosis | diagnosis of {x} |
    how do doctors diagnose {x}?
how to prevent <X>
    how can {x} be prevented? | what can be done to prevent {x}? | {x} prevention | prevention of {x}
how many people are affected by <X>
    how common is {x}? | how many people have {x}? | what is the prevalence of {x}? | how widespread is {x}?
is <X> inherited
    is {x} hereditary? | do you inherit {x}? | is {x} passed on by parents?
what are the genetic changes related to <X>
    which genetic changes are linked to {x}? | what gene mutations are associated with {x}? |
    {x} genetic changes | which genes are changed in {x}?
what is the outlook for <X>
    what is the prognosis for {x}? | {x} prognosis | what outlook do people with {x} have?
what are the complications of <X>
    which complications can {x} have? | {x} complications | what complications does {x} lead to?
who is at risk for <X>\?? ?
    who can get {x}? | who runs the risk of {x}? | which people are at risk of {x}?
what \(?(?:is|are)\)?(?: \(are\))? (?P<x>[A-Za-z][\w' -]*(?:syndrome|disease|disorder|deficiency|cancer|anemia))
    what does {x} mean? | explain {x} to me | define {x} | {x} definition | what's meant by {x}? |
    what kind of illness is {x}?
what does <X> mean
    what is the meaning of {x}? | meaning of {x} | define {x} | {x} meaning
what is the meaning of <X>
    what does {x} mean? | meaning of {x} | {x} meaning
what does (?P<x>[\w.]+) stand for
    what is {x} short for? | what is the full form of {x}? | what's {x} an abbreviation of?
how much does <X> cost
    what does {x} cost? | what is the price of {x}? | price of {x} | how much do I pay for {x}?
what does <X> cost
    how much does {x} cost? | what is the price of {x}?
how long does it take to <X>
    how much time does it take to {x}? | how much time is needed to {x}? | what is the time needed to {x}? |
    to {x}, how long does it take? | time it takes to {x}
how (?:long|much time) (?:does|will|would) it take for (?P<x>my [\w -]+?) to (?P<y>[\w -]+)
    how much time does it take for {x} to {y}? | how long until {x} will {y}?
how many <X> are there in <Y>
    what is the number of {x} in {y}? | how many {x} does {y} have? | number of {x} in {y} |
    in {y}, how many {x} are there?
how many <X> are in <Y>
    what is the number of {x} in {y}? | how many {x} are there in {y}? | number of {x} in {y}
how old is (?P<x>(?!it\b)[^,?]+)
    what is the age of {x}? | what age is {x}?
how tall is (?P<x>[^,?]+)
    what is the height of {x}? | height of {x}
how (?:far|far away) is (?P<x>[^,?]+?) from (?P<y>[^,?]+)
    what is the distance between {x} and {y}? | what's the distance from {y} to {x}?
what is the distance between (?P<x>[^,?]+?) and (?P<y>[^,?]+)
    how far is {x} from {y}? | how far apart are {x} and {y}? | distance between {x} and {y}
what is the capital of <X>
    which city is the capital of {x}? | {x} capital | capital city of {x} | what is {x}'s capital?
what is the population of <X>
    how many people live in {x}? | {x} population | how many inhabitants does {x} have?
who wrote <X>
    who is the author of {x}? | by whom was {x} written? | author of {x} | {x} was written by whom?
who invented <X>
    who is the inventor of {x}? | by whom was {x} invented? | inventor of {x} | who came up with {x}?
who discovered <X>
    by whom was {x} discovered? | who is credited with the discovery of {x}? | discoverer of {x}
when was (?P<x>[^,?]+?) born
    what is {x}'s date of birth? | on what date was {x} born? | {x} date of birth
where was (?P<x>[^,?]+?) born
    what is {x}'s place of birth? | in what place was {x} born? | birthplace of {x}
how do you say (?P<x>.+?) in (?P<y>\w+)
    what is {x} in {y}? | how would I say {x} in {y}? | translate {x} into {y} | what's the {y} for {x}? |
    {x} in {y}
(?:what's|what is) the weather (?:like )?in (?P<x>[^,?]+)
    how is the weather in {x}? | weather in {x} | tell me the weather in {x}
why (?P<x>was|am|were|can't|couldn't|haven't) (?P<y>i (?!\w+ing my).+)
    how come {y0} {x} {y1}? | what's the reason {y0} {x} {y1}? | can you explain why {y0} {x} {y1}?
(?:write|create) a (?:python )?function to (?P<x>[^.]+)
    I need a function to {x} | implement a function to {x} | code a function to {x} |
    please write me a function to {x} | make a function to {x} | can you code a function to {x}?
what (?:is|'s) (?:the )?best way to (?P<x>.+)
    what's the best way to {x}? | how do I best {x}? | how can I {x} in the best way? | best way to {x}
what time (?:does|do) (?P<x>.+?) (?P<y>open|close|start|begin|end|leave|arrive)
    when does {x} {y}? | at what time does {x} {y}? | at what hour does {x} {y}?
what happens if (?P<x>.+)
    what will happen if {x}? | if {x}, what happens? | what are the consequences if {x}? |
    what would happen if {x}?
(?P<x>is|are) there (?P<y>(?:a|any|an) .+)
    {x} there {y}? | can you tell me if there {x} {y}? | I'd like to know whether there {x} {y}. |
    do you know if there {x} {y}?
do i (?:need|have) to (?P<x>.+)
    must I {x}? | is it necessary for me to {x}? | am I required to {x}? | is it required to {x}?
i(?: would|'d) like to (?P<x>.+)
    I want to {x}. | I wish to {x}. | what I want is to {x}.
i(?: want| need) to (?P<x>(?!know\b).+)
    I would like to {x}. | I wish to {x}. | I'd like to {x}.
(?P<x>.+) is not working
    {x} doesn't work. | {x} isn't working. | {x} won't work.
which of the following (?P<x>(?:is|are|was|were|best|would|does|do|has|have|can|could|will) .+)
    of the following, which {x}? | from the following, choose which {x}. | which one of these {x}? |
    pick the option which {x}.
"""


def _table() -> dict[str, list[tuple[re.Pattern[str], tuple[str, ...]]]]:
    """Patterns by the first word that a sentence must begin with, "" for any."""
    found: dict[str, list[tuple[re.Pattern[str], tuple[str, ...]]]] = {}
    for entry in re.split(r"\n(?! )", _SENTENCES.strip()):
        pattern, _, others = entry.partition("\n")
        frames = tuple(one.strip() for one in others.split("|"))
        head = re.match(r"[a-z]+", pattern)
        read = re.compile(pattern.replace("<X>", _X).replace("<Y>", _Y) + "$", re.IGNORECASE)
        found.setdefault("" if head is None else head[0], []).append((read, frames))
    return found


_PATTERNS = _table()


def _sentence(text: str, rng: random.Random) -> str | None:
    """The whole sentence in another form."""
    if len(text) > 240 or not single(text):
        return None
    core, end = split_end(text.strip())
    first = core.split(" ", 1)[0].lower().split("'")[0]
    for pattern, frames in (*_PATTERNS.get(first, ()), *_PATTERNS.get("", ())):
        match = pattern.match(core)
        if match is not None:
            slots = {name: value.strip() for name, value in match.groupdict().items() if value}
            if "y" in slots and "{y0}" in frames[0]:
                slots["y0"], _, slots["y1"] = slots["y"].partition(" ")
                slots["y0"] = "I"
            new = rng.choice(frames).format(**slots)
            if new[0] == "{":
                new = small(new)
            return capital(new) if end or core[:1].isupper() else split_end(new)[0]
    return None


_CLAUSE = re.compile(
    r"^(?P<clause>(?:if|when|while|after|before|once|unless|because|since"
    r"|although) [^,?!.;:]{6,80}), (?P<main>[^,?!.;:]{8,})(?P<end>[?!.]*)$",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"^(?P<main>[^,?!.;:]{8,}?),? (?P<clause>(?:if|unless|once|while) (?:i|my|the|you|it|we|they|there|a|an"
    r"|someone) [^,?!.;:]{5,80})(?P<end>[?!.]*)$",
    re.IGNORECASE,
)
_KNOWING = re.compile(
    r"\b(?:know|tell|check|see|wonder(?:ing)?|ask(?:ing)?|me|sure|confirm|out|verify|test|determine|find|decide"
    r"|understand|say|like|as|what|matter"
    r"|look|feel|seems?|is|care|\w+ing|return(?:s)?|true)$",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^(?P<main>(?:what|how|where|who|which|when|can|is|are|do"
    r"|does)\b[^,?!.;:]{8,}) (?P<place>in [A-Z]\w+(?: [A-Z]\w+)?)(?P<end>\??)$"
)


def _clause_last(text: str, _: random.Random) -> str | None:
    match = _CLAUSE.match(text.strip())
    if match is None or match["main"].lower().startswith(("then", "and", "but", "it ", "they ", "he ", "she ")):
        return None
    clause = small(match["clause"])
    joined = f"{match['main']} {clause}{match['end']}"
    return capital(joined) if text[:1].isupper() else joined


def _clause_first(text: str, _: random.Random) -> str | None:
    match = _TRAILING.match(text.strip())
    if match is None or _KNOWING.search(match["main"]):
        return None
    joined = f"{match['clause']}, {small(match['main'])}{match['end']}"
    return capital(joined) if text[:1].isupper() else joined


_TOLD_ASKED = re.compile(r"^(?P<told>[A-Z][^.?!\n]{10,}[.!]) (?P<asked>(?:[A-Z])[^.?!\n]{8,}\?)$")
_POINTING = re.compile(
    r"\b(?:it|that|this|they|them|these|those|he|she|there|so|then|instead|one|also|still|do)\b", re.IGNORECASE
)


def _question_first(text: str, _: random.Random) -> str | None:
    """Turn "Something happened. What now?" into "What now? Something happened."; unless the question points back."""
    match = _TOLD_ASKED.match(text)
    if match is None or _POINTING.search(match["asked"]):
        return None
    return f"{match['asked']} {match['told']}"


def _place_first(text: str, _: random.Random) -> str | None:
    match = _PLACE.match(text.strip())
    if match is None:
        return None
    return f"{capital(match['place'])}, {small(match['main'])}{match['end']}"


_LIST = re.compile(
    r"\b(?:between|both|compare|contrast|of|like) (?P<x>(?:the |a |an )?[\w'-]+) and (?P<y>(?:the |a "
    r"|an )?[\w'-]+)(?=[?.,]|$)",
    re.IGNORECASE,
)


def _swapped(text: str, _: random.Random) -> str | None:
    """Turn "A and B" into "B and A", where order means nothing."""
    match = _LIST.search(text)
    if match is None or "respectively" in text or re.search(r"\b(?:ratio|order|first|then|from)\b", text):
        return None
    return f"{text[: match.start('x')]}{match['y']} and {match['x']}{text[match.end() :]}"


RULES = keeping_rules(
    rewording_sentence=last_sentence(_sentence),
    reordering_clause__last=_clause_last,
    reordering_clause__first=_clause_first,
    reordering_place=_place_first,
    reordering_question__first=_question_first,
    reordering_list=_swapped,
)
