"""Fillers: greetings, hesitation, thanks, and the politeness that a question is wrapped in.

Invariant: what is dropped asks for nothing and says nothing: no "not", no quantity, no "if" and no verb but of asking.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.chatter import EXCUSES, enough, is_about, without_chatter
from semcache.request.wording.cues import begun, opening_words
from semcache.request.wording.endings import without_ending
from semcache.request.wording.openings import ASKING, NEXT, OPENING_WORDS, opening_of
from semcache.request.wording.request_verbs import VERB
from semcache.request.wording.verbs import is_base

_EXCUSED = re.compile(
    rf"(?:(?:ok|okay|well|so|and) ){{0,2}}(?:{EXCUSES}[ ,]+but (?={ASKING})|(?:i know )?it is (?:(?:very|really|so"
    rf"|quite|getting) )?late(?: (?:here|at night))?[ ,]+but (?={NEXT}))",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"^(what|who|where|when|why|how|which) (?:on earth|in the world|the heck|the hell|exactly|precisely|actually"
    r"|in god's name) "
    r"(?=(?:is|are|was|were|do|does|did|can|could|would|should|has|have|will|i|you|it|the|a|an|my)\b)",
    re.IGNORECASE,
)
_BASE = re.compile(
    r"^((?:how|why|when|where|what) (?:do|can|could|does|did|should|would) (?:[^\s,.?!;]+ ){1,4}?)(?:actually"
    r"|basically|sort of|kind of) "
    r"(?!mean|say|called|the\b|a\b|an\b|in\b|not\b)(?=[a-z])",
    re.IGNORECASE,
)
_JUST = re.compile(r"^(how (?:do|can|could|would) (?:i|you|we|one)) (?:just|simply) (?=[a-z])", re.IGNORECASE)
_GERUND = re.compile(
    r"^(?:would|do) you mind (explain|list|show|translat|summariz|describ|tell|suggest|recommend|provid|compar"
    r"|defin|calculat"
    r"|convert|outlin|clarify|solv|fix|draft|check|giv|writ|rewrit|creat|generat|nam|help)ing (?=\w)",
    re.IGNORECASE,
)
_DROPPED_E = (
    "translat",
    "summariz",
    "describ",
    "provid",
    "compar",
    "defin",
    "calculat",
    "outlin",
    "solv",
    "giv",
    "writ",
    "rewrit",
    "creat",
    "generat",
    "nam",
)
_QUESTIONS = vocabulary("what who where when why how which")
_MEANT = frozenset(("actually", "basically", "sort", "kind"))
_MIDDLE = re.compile(
    r"(?<!say)(?<!saying)(?<!word)(?<!mean)(?<!means)(?<!says)(?<!\buse)(?<!\busing)(?<!\bspell)(?<!\bplay)"
    r"(?<!\btype)(?<!\bwrite)(?<!\bavoid)(?<!\bhear)(?<!pronounce)(?<!\bremove)(?<!\bor)(?<!\bversus)"
    r"(?:(?<=\w)(?:,|\.\.\.)? |(?<=[.?!] ))(?:(?-i:u+h+m*|u+m+)|(?-i:e+rm+|h+m+|er)(?=,|\.\.\.))(?:,|\.\.\.)?(?= )",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?<=\w), (?:like|you know|i mean|i guess|i suppose|basically|honestly|essentially|literally|please|well|okay|just"
    r"|sort of|kind of|if possible|by the way|if you do not mind|if you know|anyway|as it were|so to speak|or whatever"
    r"|let us say|shall we say|say|if i may ask|by any chance|for example|perhaps|maybe),(?= )",
    re.IGNORECASE,
)
_ASIDES = vocabulary(
    "like know mean guess suppose basically honestly essentially literally please well okay just of possible "
    "way mind anyway were speak whatever say ask chance example perhaps maybe"
)
_ASKED = re.compile(r"\b(can|could|would|will) you please ")
# Behind these "to" alone may be of the verb: "what do I need in order to pass", "what do I need to pass".
_IN_ORDER = re.compile(
    r"(?<= )(?!(?:is|are|was|were|be|need|needed|have|has|had|want|get|got|use|used|ask|try|like|wish|hope|plan|choose"
    r"|decide|learn|expect|seem|fail|prefer|start|begin|go|come|stop|help|put|keep|sort|them|him|her|people|someone)\b)"
    r"(\w+) in order to (?=[a-z])"
)
# What is asked of kinds of things asks if the reader can at all: "can you generate images".
_ABILITY = re.compile(
    r"(?:can you|are you able to) (?:also |actually |really )?(?:write|draw|generate|create"
    r"|translate|solve|sketch|summarize"
    r"|analyze|edit|proofread|predict|design|debug|transcribe|identify|answer|guess|share|extract|plan|review|check)"
    r"(?: (?!the |my |this |these |those |your |our )(?:[a-z]+ )?(?:[a-z]{2,}s|code|poetry|music|art"
    r"|text|fiction|content|data"
    r"|html|css|sql|python|javascript|java|french|spanish|german|english|chinese|japanese|italian|video|audio))?$",
    re.IGNORECASE,
)
# Words that somebody may ask about, rather than say.
_SAID = vocabulary("hi hello hey hiya heya howdy greetings good dear yo hallo sorry please oh ok okay well um uh er hm")
_REQUEST = re.compile(rf"{VERB}", re.IGNORECASE)
_EVEN = re.compile(r"^((?:how|why|what|where) (?:do|does|did|can|would) \w+) even (?=([a-z]+)\b)", re.IGNORECASE)
_HESITATION = frozenset(["um", "umm", "ummm", "uh", "uhh", "uhm", "er", "erm", "ermm", "hm", "hmm", "hmmm"])


def is_request(text: str) -> bool:
    """Return True for a text that begins with a verb of what an assistant is asked to do: "explain", "list"."""
    return _REQUEST.match(text) is not None


def _asked_by(match: re.Match[str]) -> str:
    return f"{match[1]} "


def _of_a_verb(match: re.Match[str]) -> str:
    """The words before "even" alone where a verb follows it: "how do I even start", not "how do I even out"."""
    return f"{match[1]} " if is_base(match[2].lower()) and match[2] != "out" else match[0]


def unwrapped(text: str, words: list[str], bag: frozenset[str]) -> str:
    """The text without fillers at its beginning and end; `words` are its words in lower case."""
    if (plain := without_chatter(text)) is not text:
        text = plain
        words = opening_words(text)
    if "but" in bag and (match := _EXCUSED.match(text)) is not None:
        text = text[match.end() :]
        words = opening_words(text)
    able = words[:1] in (["can"], ["are"]) and _ABILITY.match(text) is not None
    while (
        words
        and not able
        and (words[0] in OPENING_WORDS or words[0].startswith(("um", "uu", "uh", "er", "hm", "ah", "oh")))
    ):
        end = opening_of(text, words[0])
        if end is None or end == len(text):
            break
        if words[0] in _SAID and (is_about(text[end:]) or (len(words) < 5 and not enough(text[end:]))):
            break
        text = text[end:].lstrip(" ,\n")
        words = opening_words(text)
    if "mind" in bag and (match := _GERUND.match(text)):
        stem = match[1].lower()
        text = f"{stem}{'e' if stem in _DROPPED_E else ''} {text[match.end() :]}"
    text = without_ending(text, bag)
    if words and words[0] in _QUESTIONS:
        text = begun(_EMPHASIS, _asked_by, text)
        if not bag.isdisjoint(_MEANT):
            text = begun(_BASE, lambda match: match[1], text)
        if "even" in bag:
            text = begun(_EVEN, _of_a_verb, text)
        if "just" in bag or "simply" in bag:
            text = begun(_JUST, _asked_by, text)
    if "in order to " in text:
        text = _IN_ORDER.sub(r"\1 to ", text)
    if "you please " in text:
        text = _ASKED.sub(r"\1 you ", text)
    if not bag.isdisjoint(_HESITATION):
        text = _MIDDLE.sub("", text)
    if text.count(", ") > 1 and not bag.isdisjoint(_ASIDES):
        text = _ASIDE.sub("", text)
    return text
