"""Requests in the imperative, each family in one form: "give me an explanation of X" is "explain X".

Invariant: the verb that says what is wanted is kept, in another word class at most; who it is for is dropped only where
that is the asker.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.programs import names_program

_GIVING = (
    r"(?:give|provide|write|make|do|offer|present|supply|produce|create|get|show|need|want|share|prepare|compile"
    r"|draw up)"
)
_ME = r"(?:me|(?-i:us))"  # and not the country
_FOR_ME = rf"(?: {_ME})?(?: with)?"
_NOUNED = re.compile(
    rf"(?:(?:i )?{_GIVING}{_FOR_ME} )?(?:(?:an?|some|the) )?(?:(brief|short|quick|concise|detailed|simple"
    rf"|long|full|complete|clear) )?"
    r"(explanation|description|definition|summary|list|comparison|translation|overview|outline|estimate|analysis)"
    r" (?:of|for|on|about|between) (?=\S)",
    re.IGNORECASE,
)
# A list that is created in a program is an object of it: "create a list of integers in Python".
_CREATED = re.compile(r"(?:an? |the )?list\b|(?:i )?(?:create|make|write|produce|compile|get|prepare)\b", re.IGNORECASE)
_VERBED = {
    "explanation": "explain", "description": "describe", "definition": "define", "summary": "summarize",
    "list": "list", "comparison": "compare", "translation": "translate", "outline": "outline", "estimate": "estimate",
    "analysis": "analyze",
}  # fmt: skip
_MANNER = {
    "brief": "briefly", "short": "briefly", "quick": "quickly", "concise": "concisely", "detailed": "in detail",
    "simple": "simply", "full": "fully", "complete": "completely", "clear": "clearly",
}  # fmt: skip
_OBJECT = re.compile(
    r"(explain|describe|define|summarize|list|compare|translate|write|give|show|tell|make|draw|find|create"
    r"|generate|suggest"
    r"|recommend|draft|provide|name|outline|compose|design|build|prepare|calculate|compute|solve|convert|teach|get|send"
    r"|rewrite|offer|help|plan|propose|pick|choose|bake|cook|fetch|print)"
    rf" (?:(?:to|for) )?{_ME} (?:with )?(?=(?:an?|the|some|any|\d+|all|every|this|that|these|those|my|your|one|more"
    r"|examples?|ideas?|information|ways|something|about)\b)",
    re.IGNORECASE,
)
_FOR_WHOM = re.compile(
    r"^(?=(?:explain|describe|define|summarize|list|compare|translate|write|give|show|make|draw|find|create"
    r"|generate|suggest"
    r"|recommend|draft|provide|name|outline|compose|design|build|prepare|calculate|compute|solve|convert"
    r"|rewrite|plan)\b)"
    rf"([^,.?!;:\n]+?) (?P<way>to|for) {_ME}$",
    re.IGNORECASE,
)
_SOME = re.compile(
    rf"(?:name|give|list|tell|provide|show|state|mention|cite|offer)(?: {_ME})?(?: with)?"
    r" (some|\d{1,3}|a few|several)"
    r" (?!of\b|more\b|hours?\b|minutes?\b|seconds?\b|days?\b|weeks?\b|tips?\b|advice\b|information\b"
    r"|stars?\b|time\b)(?=[a-z])",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    rf"(?:(?:give|show|provide|state|name|share|offer|write|find|get|need|want)(?: {_ME})?(?: with)?|what is"
    r"|what would be"
    r"|could i (?:have|get|see)|can i (?:have|get|see)|i (?:need|want|would like)(?: to see)?) (an|some|a few|\d{1,2})"
    r" examples? (?=(?:of|for)\b)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:enumerate|list out|list down|list off) (?=\S)", re.IGNORECASE)
_WANTED = re.compile(
    r"i (?:need|want|would like|am looking for|require)(?: to (?:have|get|see|receive))? (a|an|some) "
    r"(?=(?:recipe|list|summary|poem"
    r"|story|joke|essay|letter|email|haiku|script|function|regular expression|query|table|plan|itinerary"
    r"|workout|schedule|slogan"
    r"|tagline|title|outline|template|example|translation|song|limerick|riddle|quote|cover|speech|toast"
    r"|formula|program|python|sql"
    r"|bash|shell|one-line)\b)",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"(?:can|could|may) (?:i|we) (?:have|get|see|please have|please get) (a|an|some) (?=(?:recipe|list"
    r"|summary|poem|story|joke"
    r"|essay|letter|email|haiku|script|function|query|table|plan|itinerary|schedule|template|translation"
    r"|riddle|quote)\b)",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"(?:give|tell|show|find|get|suggest|recommend|provide|share|send) (?=an? (?:\S+ ){0,3}?(?:recipe|joke"
    r"|riddle|quote|fun fact"
    r"|template|example|story|itinerary)\b)",
    re.IGNORECASE,
)
_SENT = vocabulary(
    "letter email e-mail message note reply poem speech compare convert"
)  # what has a reader, or two sides
_CLAUSES = vocabulary("what how why who where when which that whether if")
HEADS = vocabulary("""
    analysis bake build calculate can choose cite compare comparison compile compose compute convert cook could
    create define definition describe description design do draft draw enumerate estimate explain explanation fetch
    find generate get give help i list make may mention name need offer outline overview pick plan prepare present
    print produce propose provide recommend rewrite send share show solve state suggest summarize summary supply
    teach tell translate translation want what write
    """)


def commanded(text: str) -> str:
    """The request in the form of its family; a text that is none as it is."""
    if match := _NOUNED.match(text):
        how, noun = match[1], match[2].lower()
        listed = noun == "list" and (how or (_CREATED.match(text) and names_program(text)))
        if (verb := _VERBED.get(noun)) is not None and not listed:
            manner = f" {_MANNER[how.lower()]}" if how and how.lower() in _MANNER else ""
            if not how or manner:
                return f"{verb}{manner} {text[match.end() :]}"
    if match := _EXAMPLE.match(text):
        many = match[1].lower()
        return f"give {'an example' if many == 'an' else f'{many} examples'} {text[match.end() :]}"
    if match := _WANTED.match(text) or _MADE.match(text):
        text = f"give {match[1]} {text[match.end() :]}"
    if match := _LISTED.match(text):
        text = "list " + text[match.end() :]
    if match := _SOME.match(text):
        return f"list {match[1]} {text[match.end() :]}"
    if match := _OBJECT.match(text):
        text = f"{match[1]} {text[match.end() :]}"
    if match := _GIVEN.match(text):
        text = "give " + text[match.end() :]
    if (match := _FOR_WHOM.match(text)) and not _bound_to_asker(match["way"], text.split()):
        text = match[1] + text[match.end() :]
    return text


def _bound_to_asker(way: str, words: list[str]) -> bool:
    """Return True where "to me" belongs to a letter or a clause: "explain what happened to me"."""
    return not _CLAUSES.isdisjoint(words) or (way == "to" and not _SENT.isdisjoint(words))
