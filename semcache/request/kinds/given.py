"""Prompts that bring what they ask about: a text to be worked on, or a problem of quantities told in full.

Two questions are asked of a text that is given. `without_given`: what is left to be read of a prompt, so that a long
text says nothing about who asks and when. `given`: what is worked on, however short, for another text has another
answer. Invariant: what is left out stands in the prompt itself, so that the same prompt has the same answer on any day
and for anybody; an instruction is always read.
"""

from __future__ import annotations

import re

from semcache.request.kinds.patterns import SENTENCES, WORKS_ON_TEXT, any_of, vocabulary
from semcache.request.secrets import fold
from semcache.request.wording.task_texts import worked_on

_LONGEST = 2000  # characters of a problem
_LEAST = 12  # words of a text that is given
_TEXT = (
    r"(?:texts?|articles?|passages?|paragraphs?|e-?mails?|messages?|letters?|documents?|transcripts?|conversations?"
    r"|dialogues?|reviews?|tweets?|comments?|stor(?:y|ies)|abstracts?|reports?|posts?|sentences?|essays?|notes?"
    r"|logs?|speech(?:es)?|descriptions?|content|snippets?|excerpts?|statements?|scenarios?|information|facts"
    r"|details|points|minutes|contracts?|clauses?|feedback|tickets?|headlines?|quotes?|chat|thread)\b"
)
_WORKS = rf"{WORKS_ON_TEXT}|categori[sz]e|label|proofread|edit|correct|detect|convert|rate"
_WORKED_ON = (
    rf"\b(?:{_WORKS}|sum up|summary of|describe|explain|read|find|list|determine|highlight|turn|what is|what are|who is"
    r"|create|write|generate|judge|evaluate|compare|pull out|pick out|identify|spot|name|assign|return|output|give me"
    r"|which|what (?:does|do|did|was|were))\b"
)
_WHICH = r"(?:the (?:following|given|provided)|this|these|following)"
_INSTRUCTION = any_of(
    rf"^(?=.{{0,400}}{_WORKED_ON})"
    rf"(?=.{{0,400}}\b(?:{_WHICH} (?:[\w'-]+ ){{0,3}}?{_TEXT}|{_TEXT} (?:given|provided|below)\b))"
)
_ABOVE = any_of(
    rf"^(?=.{{0,200}}{_WORKED_ON}).{{0,200}}\b(?:(?:the )?above|this|these|the given) (?:[\w'-]+ ){{0,2}}?{_TEXT}"
)
_BREAK = re.compile(r"\n\s*\n|:\s*\n|:\s+(?=\S)")

LEAD = r"^\W*(?:(?:hi|hello|hey|ok|so|please|kindly|(?:can|could|would|will) you|i (?:need|want) you to)\W+)*"
_WORK = (
    rf"(?:{_WORKS}|spell-?check|fix|check|reword|score|capitali[sz]e|punctuate|improve|format|complete|continue|expand"
    r"|is there an? (?:spelling|grammar)|what(?:'s| is) the (?:tone|sentiment|language|mood)|how many words)\b"
)
_GIVEN = re.compile(
    rf"{LEAD}{_WORK}[^:\n?]{{0,120}}(?:\?\s*\n|:|\n\s*\n)\s*(?P<given>\S.*)\Z".replace(" ", r"\s+"), re.DOTALL
)

# A verb and a colon say that what follows is the text, however short it is.
_COLON = any_of(
    rf"{LEAD}(?P<task>(?:summari[sz]e|extract|classify|categori[sz]e|label|proofread|rewrite|rephrase|paraphrase|simplify"
    r"|shorten)(?: [^:\n?.]{1,60})?):"
)
_LEAST_AFTER = 5
_LEAST_SUMMARISED = 9

_NUMBER = re.compile(
    r"\d+(?:[.,/]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|sixty|hundred|thousand|dozen|half|twice|double|triple[sd]?|thrice|quarter|third|fourth|fifth|tenth)\b"
)
_QUANTITY = any_of(
    r"\bhow (?:many|much|old|long|far|tall|fast|heavy|big|large|high)\b|\bwhat number of\b"
    r"|\b(?:what(?:'s| is| was| were| will be| would be| are)|calculate|compute|find|determine) (?:the|his|her|their"
    r"|its|\w+'s) (?:[\w-]+ ){0,2}?(?:total|sum|average|mean|difference|ratio|percent(?:age)?|number|amount"
    r"|ages?|salary|cost|price|profit|earnings|income|height|weight|length|area|volume|speed|distance|population|probability|balance)\b"
)
_QUOTES = "\"'\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb "
_SUPPOSED = any_of(r"^\W*(?:suppose|supposing|imagine|assume|assuming|let's say|say|if) ")
_PERSONS = vocabulary("i i'm i've i'd my mine me we we're we've our us you your")
# What is told of these is news.
_NEWS = vocabulary(
    "shares stock stocks bitcoin ethereum crypto nasdaq dow ftse dax inflation election president minister government"
    " parliament congress senate nba nfl mlb nhl fifa uefa covid hurricane earthquake"
)


def without_given(folded: str) -> str:
    """The instruction of a folded text that gives the text to be worked on; else the text as it is."""
    parts = _BREAK.split(folded)
    if len(parts) > 1 and _INSTRUCTION.match(parts[0]) is not None and _words(parts[1:]) >= _LEAST:
        return parts[0]
    if len(parts) > 1 and (task := _COLON.match(folded)) is not None:
        least = _LEAST_SUMMARISED if task["task"].startswith("summar") else _LEAST_AFTER
        if _words(parts[1:]) >= least:
            return task[0]
    if len(parts) > 1 and _ABOVE.match(parts[-1]) is not None and _words(parts[:-1]) >= _LEAST:
        return parts[-1]
    return folded


def given(text: str) -> str | None:
    """The text that a prompt gives to be worked on, white space and quotes around it aside; None for none."""
    found = _GIVEN.match(fold(text))
    taken = worked_on(text) if found is None else text[found.start("given") :]
    return None if taken is None else " ".join(taken.split()).strip(_QUOTES)


def _words(parts: list[str]) -> int:
    return sum(len(part.split()) for part in parts)


def is_problem(folded: str, bag: frozenset[str]) -> bool:
    """Return True if the text tells quantities and asks for another that follows from them; `bag` holds its words."""
    if len(folded) > _LONGEST or not bag.isdisjoint(_NEWS):
        return False
    if not bag.isdisjoint(_PERSONS) and _SUPPOSED.match(folded) is None:
        return False
    if len(_NUMBER.findall(folded)) < 2 or _QUANTITY.search(folded) is None:
        return False
    told = [part for part in SENTENCES.split(folded) if _NUMBER.search(part) is not None and _tells(part)]
    return bool(told)


def _tells(sentence: str) -> bool:
    """Return True for a statement, and for a question that begins with a case: "If a train goes 60 miles, how far"."""
    return not sentence.endswith("?") or _SUPPOSED.match(sentence) is not None or ", how " in sentence
