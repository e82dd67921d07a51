"""The guard for the form of the answer: one question wants another answer as JSON, in French or for a child.

Reads the wished format, tongue, reader, length and tone, and whether steps or examples are wanted. It knows what is
asked for, never what an answer looks like.
Invariant: two different wishes are a conflict; a wish that only one text makes is one too if it is said outright or all
that tells the texts apart, else a doubt.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.figures import LIKE_A_CHILD
from semcache.request.text import differing, lexicon, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.types import Conflict

_FORMATS = lexicon(
    "json yaml xml csv html markdown latex table=tables,tabular spreadsheet grid list=lists,bullets,bullet,bulleted"
    " checklist paragraph=paragraphs,prose sentence=sentences essay poem=verse haiku limerick tweet diagram=flowchart"
    " pseudocode slides outline timeline dialogue emojis headline rap sonnet metaphor analogy"
)
_WORKS = _FORMATS | lexicon(
    "song story email letter script code formula speech report caption summary article memo blog joke"
)
_SHAPES = _FORMATS | {"word": "word", "line": "sentence"}
TONGUES = lexicon(
    "english french german spanish italian portuguese dutch polish russian ukrainian chinese mandarin cantonese"
    " japanese"
    " korean arabic hindi urdu bengali punjabi gujarati tamil telugu marathi turkish greek hebrew swedish"
    " norwegian danish"
    " finnish czech hungarian romanian welsh irish gaelic latin persian=farsi vietnamese thai indonesian malay swahili"
    " somali yoruba tagalog filipino"
)
_READERS = lexicon(
    "child=children,kid,kids,toddler,eli5 teenager=teenagers,teen,teens beginner=beginners,novice,newbie,dummies"
    " layman=layperson,laypeople,laymen expert=experts,professional,specialist"
    " manager=managers,executive,executives,ceo,boss,bosses,supervisor"
    " grandmother=grandma,granny,grandparents customer=customers medic=doctor,doctors,nurse,nurses"
    " student=students,pupils"
    " developer=developers,programmer,programmers,engineer,engineers lawyer=lawyers schoolchild undergraduate"
)
_LENGTHS = lexicon(
    "short=briefly,brief,concise,concisely,succinctly,tldr,nutshell,quick,shorter"
    " long=detail,detailed,depth,thorough,thoroughly,comprehensive,comprehensively,longer,extensively,full"
)
_TONES = lexicon(
    "formal=formally,professional casual=casually,informal,informally,friendly funny=humorous,humorously,funnily"
    " polite=politely simple=plain,lay,layman,laymans,layman's,everyday,easy technical=technically,scientific"
    " rhyming=rhymes,rhyme sarcastic angry=angrily firm=firmly,stern,sternly,strict apologetic=apologetically"
    " upbeat=enthusiastic,cheerful persuasive=persuasively"
)


def _any(table: dict[str, str]) -> str:
    return "|".join(sorted(map(re.escape, table), key=len, reverse=True))


_WISHES = (
    ("format", frozenset(_SHAPES) | {"liner"}, _SHAPES, True, re.compile(
        r"\b(?:in|into|as|using|return(?: it| them)?|output(?: it)?|format(?:ted)?)(?: an?| just| only"
        r"| the form(?:at)? of| valid| plain| one| two"
        rf"| three| single| short| brief| simple| numbered| bulleted| markdown| nested| code| form of"
        # "In an HTML form" something is sent to a server.
        rf"| format of)* (?!html forms?\b)({_any(_FORMATS)})\b"
        rf"|\b(?:one|single)[ -](sentence|paragraph|word|line)r?\b"
        rf"|\b(?!html forms?\b)({_any(_FORMATS)}) (?:only|format|form|output)\b"
    )),
    ("format", frozenset(_WORKS), _WORKS, False, re.compile(
        rf"^\W*(?:please |can you |could you |would you |i want you to |i need you to )*(?:write|give me|make"
        rf"|create|draw|draft|compose|generate|produce)(?: me)?(?: an?| the| some| short| brief)* ({_any(_WORKS)})\b"
    )),
    ("tongue", frozenset(TONGUES), TONGUES, True, re.compile(
        rf"\b(?:in|into|to)(?! (?:simple|plain) english\b)(?: simple| plain| british| american| the)*"
        rf" ({_any(TONGUES)})\b"
        # "In French" may be the answer's tongue, "in the French capital" is not.
        r"(?=\W*$|\W*[^\w\s]|\W+(?:and|or|with|for|to|using|please|pls|so|that|about|but|of|on|by|as|words?|language|text"
        r"|letters?|script|version|translation|how|what|is|the|an?|my|this|who|when|then|not|than|instead|only|at|from"
        r"|if|because|i|you|say|me|we|he|she|it|they|there|are|was|do|can|would|should)\b)"
    )),
    ("reader", frozenset(_READERS) | {"five", "5", "old", "olds"}, _READERS, True, re.compile(
        r"\b(?:like|as if|as though|to|for)(?: i'm| i am| im| i was| i were)(?: an?| the| complete| absolute"
        r"| total| small| little| young)*"
        rf"(?: (?:\w+[ -])?years?[ -]old| five| \d+)+\b|\b(?:like|as if|as though)(?: i'm| i am| im| i was"
        rf"| i were| to)?"
        rf"(?: an?| the| complete| absolute| total| small| little| young)* ({_any(_READERS)})\b|\b(eli5)\b"
        r"|\b(?:explain(?:ed)?|describe|teach|summari[sz]ed?|simplif(?:y|ied)|write|tell)\b[^.?!]{0,60}?"
        r" (?:to|for|suitable for|aimed at)"
        rf"(?: an?| my| the| young| small| complete| absolute| total| primary| school"
        rf"| \w+[ -]years?[ -]old)* ({_any(_READERS)})\b"
    )),
    ("length", frozenset(_LENGTHS), _LENGTHS, False, re.compile(
        r"\b(briefly|concisely|succinctly|tldr|thoroughly|comprehensively|extensively)\b|\bin (?:a |more "
        r"|great |full )*(brief|nutshell"
        r"|short|detail|depth|full)\b(?! (?:time|term|run|sleeve|bloom|swing))|\b(short|brief|concise|quick"
        r"|detailed|longer|thorough|comprehensive|full|depth) (?:answer|explanation"
        r"|summary|description|overview|version|response|introduction|report|note|paragraph|essay)\b"
    )),
    ("tone", frozenset(_TONES), _TONES, False, re.compile(
        r"\b(formally|informally|casually|humorously|politely)\b|\b(?:in|use|with)(?: an?| the"
        r"| very)* ([\w']+) (?:tone|way|style|manner|language|terms"
        r"|words)\b|\bin(?: very)? (simple|plain) english\b"
        r"|\b(formal|informal|casual|friendly|funny|polite|rhyming|professional|firm|stern|angry|apologetic|upbeat"
        r"|enthusiastic|cheerful|persuasive|sarcastic) (?:email|letter|reply|answer|message|poem|note|tone)\b"
    )),
)  # fmt: skip
# A wish is told from what a question is about by the words before it: "list them in a table", "my dates in a table".
_ASKING = re.compile(
    r"\b(?:give|list|show|explain|write|answer|reply|respond|summari[sz]e|present|put|compare|tell|describe|provide|display"
    r"|arrange|lay|need|want|like|define|name|sum|outline|state|report|say|make|create|generate|draft|produce|identify|turn"
    r"|translate|convert|rewrite|rephrase|return|print|use|rate|rank|assess|evaluate|contrast|analy[sz]e|review|discuss|clarify|condense|express"
    r"|phrase|recast|format|organi[sz]e|what|which|who)\b|[,;:.?!(-]\s*$|^\W*$"
)
# Said of the answer or of who reads it, these come to the same.
_SIMPLE = vocabulary("simple simply plain plainly layman beginner")
# So does what a child understands, where simple is said of words: simple interest may be explained to a child.
_SIMPLY = re.compile(r"\b(?:simply|plainly|(?:simple|plain|easy) (?:words?|terms?|language|english|explanation))\b")
_CHILD = ("reader", "child")
_SUMMARIES = vocabulary("summary summaries summarise summarize")
# "How do I write it in HTML" asks for what to do, in whatever form.
_MARKUP = vocabulary("json yaml xml csv html markdown latex")
_DOING = re.compile(r"\bhow (?:to|(?:do|can|could|should|would) (?:i|you|we|one)) [^,;:.?!]*$")
# "I feel like a teenager" asks for nothing.
_LIKENED = re.compile(
    r"\b(?:feel|feels|feeling|felt|look|looks|looking|looked|sound|sounds|act|acts|acting|acted|behave|behaves|behaving"
    r"|behaved|treat|treats|treated|treating)(?: (?:me|us|him|her|them|you))? $"
)
_NEAR = 300  # characters
_LOOSE = re.compile(r"(?:in|using)\b")
# "Fluent in French" and "in French or in Russian?" wish for no tongue.
_SPOKEN = re.compile(
    r"\b(?:written|fluent|spoken|displayed|published|printed|native|conversational|literate|lessons?"
    rf"|class(?:es)?|courses?|degree|(?:{_any(TONGUES)}) or) $"
)
_OR_TONGUE = re.compile(rf" or (?:in )?(?:{_any(TONGUES)})\b")
_STEPS = re.compile(r"\bstep[ -]by[ -]step\b|\bstepwise\b|\bas steps\b|\bwith steps\b")
_EXAMPLES = re.compile(r"\b(?:with|including|include|give|using)(?: me)?(?: an?| some| code| real)* examples?\b")
_NAMES: dict[str, str] = {word: name for wish in _WISHES for word, name in wish[2].items()}
_TRIGGERS = frozenset[str]().union(*(wish[1] for wish in _WISHES)) | vocabulary("step stepwise steps example examples")

_STEMS = frozenset(map(stem, _TRIGGERS)) | vocabulary("explain describe answer write give term word as one single")


class FormReading(NamedTuple):
    """`outright` and `hinted` are wishes as (kind, what); those hinted at may be part of the subject."""

    outright: frozenset[tuple[str, str]]
    hinted: frozenset[tuple[str, str]]


_NOTHING = FormReading(frozenset(), frozenset())


class FormGuard(ReadingGuard[FormReading]):
    """Vetoes prompts that want the answer in different forms."""

    name = "form"

    def read(self, text: str) -> FormReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: FormReading, two: FormReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the wishes that both texts make about the answer."""
        if one == two:
            return None
        left, right = _lacking(one, two, cached), _lacking(two, one, query)
        if not left and not right:
            return None
        firm = bool((left & one.outright) | (right & two.outright)) or (bool(left) and bool(right))
        firm = firm or differing(query, cached) <= _STEMS
        return Conflict(self.name, " / ".join(sorted((_show(left), _show(right)))), firm)


def read(text: str) -> FormReading:
    """The wishes that `text` makes about the form of its answer."""
    words = read_text(text)
    if words.bag.isdisjoint(_TRIGGERS):
        return _NOTHING
    outright: set[tuple[str, str]] = set()
    hinted: set[tuple[str, str]] = set()
    for kind, triggers, table, firm, pattern in _WISHES:
        if words.bag.isdisjoint(triggers):
            continue
        for match in pattern.finditer(words.lower):
            word = next((group for group in match.groups() if group), "five")
            if word in table or word == "five":
                wish = (kind, table.get(word, "child"))
                (outright if firm and _is_outright(wish, match) else hinted).add(wish)
    if LIKE_A_CHILD.search(words.lower):
        outright.add(_CHILD)
    if "step" in words.lower and _STEPS.search(words.lower):
        hinted.add(("steps", "step by step"))
    if "example" in words.lower and _EXAMPLES.search(words.lower):
        hinted.add(("examples", "examples"))
    if not outright and not hinted:
        return _NOTHING
    return FormReading(frozenset(outright), frozenset(hinted))


def _is_outright(wish: tuple[str, str], match: re.Match[str]) -> bool:
    """Return False for what may be the subject of the question, too."""
    kind, what = wish
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    if kind == "tongue":
        return what != "english" and not (_SPOKEN.search(before) or _OR_TONGUE.match(match.string, match.end()))
    if kind == "format":
        if match[0].endswith((" line", "-line", " liner", "-liner")) and not before.endswith("in "):
            return False
        if what in _MARKUP and _LOOSE.match(match[0]) and _DOING.search(before):
            return False
        return _LOOSE.match(match[0]) is None or _ASKING.search(before) is not None
    # What is written or told to somebody is meant for him, whoever reads the answer.
    return not (match[0].startswith(("write", "tell")) or _LIKENED.search(before))


def _lacking(one: FormReading, two: FormReading, other: str) -> frozenset[tuple[str, str]]:
    """The wishes of `one` that `two` makes nowhere, not even in other words."""
    words = read_text(other)
    wishes = two.outright | two.hinted
    bag = words.bag | set(map(stem, words.bag))
    bag |= {_NAMES[word] for word in bag if word in _NAMES}
    if not bag.isdisjoint(_SIMPLE):
        bag |= _SIMPLE
    if _CHILD in wishes:
        bag |= {"simple"}
    if _SIMPLY.search(words.lower):
        bag |= {"child"}
    if not bag.isdisjoint(_SUMMARIES) and not any(kind == "length" for kind, _ in wishes):
        bag |= {"short"}  # as a summary is
    if "example" in bag:
        bag |= {"examples"}
    return frozenset(wish for wish in one.outright | one.hinted if wish not in wishes and wish[1] not in bag)


def _show(wishes: frozenset[tuple[str, str]]) -> str:
    return ", ".join(sorted(f"{kind} {what}" for kind, what in wishes)) or "no wish"
