"""The guard for the type of a question: who, when, where, why and how many are answered by different things.

Reads the question word and what stands for one ("what time", "the reason", "which city"), procedures, definitions,
requests for permission and yes-or-no questions. A statement or an order has no type. It compares types, not subjects;
where all content words are the same, it also compares what `grammar` reads of the light ones. Other `commands`, a
question that is `favour`able where the other warns, a part of an amount or a thing for the whole, another `modality` or
mood, an equative for a comparative, a past habit for the present, other `whereabouts` or `circumstances` and a further
question conflict as well.
Invariant: types that good paraphrases exchange ("how do I find" and "where can I find") never conflict.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards import (
    acts,
    amount_parts,
    circumstances,
    commands,
    equatives,
    favour,
    further,
    grammar,
    habits,
    modality,
    moods,
    part_of_thing,
    persons,
    tongues,
    whereabouts,
)
from semcache.matching.guards.base import ReadingGuard
from semcache.request.text import LIGHT, content, lexicon, vocabulary
from semcache.request.text import read as read_text
from semcache.types import Conflict

_WORDS = vocabulary("who who's whos whom whose when where where's wheres why how how's hows what what's whats which")
_PLAIN = {"who's": "who", "whos": "who", "whom": "who", "whose": "who", "where's": "where", "wheres": "where"}
_PLAIN |= {word: word for word in ("who", "when", "where", "why")}
# A question word behind one of these begins a question; behind another word it may join two clauses.
_BEFORE = vocabulary(
    "and or so but know me tell explain understand see out wondering wonder say show describe ask about idea"
    " sure please"
    " hi hello hey ok okay thanks morning afternoon evening for at in on by to from since until of exactly then also"
    " learn remember is do"
    " determine"
)
_HOW = lexicon(
    "number=many amount=much,expensive span=long,soon,quickly,fast often=frequently far age=old"
    " size=big,large,tall,high,heavy,wide,deep why=come"
)
_COUNTED = lexicon(
    "span=minutes,hours,days,weeks,months,years,time,longer far=miles,kilometers,kilometres,km often=times"
    " amount=money,dollars,pounds,euros,rupees,calories"
)
_HEADS = lexicon(
    "when=time,date,day,year,month,hours,deadline"
    " where=place,places,country,city,location,address,town,website,site,shop,store"
    " who=person,people amount=price,prices,cost,costs,fee,fees,charge,charges,salary number age"
    " size=height,weight far=distance"
    " why=reason,reasons,cause,causes,purpose,caused,makes,made,leads,led often=frequency span=duration"
    " procedure=way,ways,step,steps,process,method,methods,trick,tips"
)
# "The best method of payment" is a kind of it.
_METHODS = vocabulary("method methods")
# "Which country won" asks who did.
_WINNING = (("won",), ("wins",), ("beat",))
_LEAD = vocabulary(
    "is are was were the a an your my its their our his her of some best good exact right main real actual"
    " current total"
    " average minimum maximum usual normal easiest fastest quickest simplest cheapest most effective efficient possible"
    " great better other different proper correct ideal"
)
_ABOUT = vocabulary(
    "do does can could should must may shall ought would to might did will am is are was were has have had"
)
_ASKING = vocabulary(
    "is are was were do does did will would has have had should isn't aren't don't doesn't won't didn't"
)
# Behind "when", any other word begins a clause: "when I pay by card, ...".
_INVERTED = _ASKING | vocabulary("can could shall may must might to exactly and or")
_ALLOWED = vocabulary("can could may am")

# Before a question that is asked indirectly: "do you know why ...", "could anyone tell me how ...".
_INDIRECT = re.compile(
    r"\W*(?:(?:hi|hello|hey|please|so|and|ok)\W+)*(?:do|does|can|could|would|will|may|might)"
    r" (?:you|i|anyone|anybody|someone|somebody)\b(?: \w+){0,2}?"
    r" (?:know|tell|explain|say|show|clarify|ask)(?: me| us| to me)? "
    r"(?=(?:who|whom|whose|when|where|why|how|what|which)\b)"
)

# Answered by yes or no, and by how it is done.
_WAY_AND_HOW = frozenset(("way", "procedure"))
_WAY = re.compile(r"\W*is there (?:a|an|any|some)(?: \w+)? (?:way|method|trick) (?:to|of|for|i can|you can)\b")

# How things come to be is why they are: no type is told from the other.
_ORIGINS = re.compile(r"\b(?:c[oa]me (?:about|into being|to be)|arises?|arose|originated?)\b")
_COMPOUND = 4  # words of the name of a thing
_HARD = vocabulary("why number amount span often far age size when where who")


def _pairs(text: str) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair.split("/")) for pair in text.split())


# Measured on duplicate questions: these are exchanged as often by paraphrases as by other questions.
_EXCHANGED = _pairs(
    "span/when amount/number procedure/where whether/where permission/where permission/why what/where what/when"
    " what/amount"
    " what/number definition/where definition/amount definition/number definition/when what/size definition/size"
    " whether/span what/age definition/age what/often what/far what/span"
)
_DOUBTED = _pairs(
    "where/who size/far size/amount size/number age/span often/span often/number far/span far/where"
    " definition/procedure"
    " definition/whether permission/procedure amount/span age/when"
)
# Where nothing else differs, these ask for something else beyond doubt.
_TELLING = _pairs(
    "procedure/why procedure/when procedure/who procedure/amount procedure/number procedure/span procedure/often"
    " procedure/far procedure/age definition/procedure definition/why definition/who permission/span"
    " amount/span where/who procedure/whether"
)
_TYPE_WORDS = frozenset((*_HOW, *_COUNTED, *_HEADS))
_INTERROGATIVE = _WORDS - {"which"}
_HOW_WHERE = frozenset(("procedure", "where"))
_PLACED = frozenset(("when", "where", "where's", "wheres"))
_AMOUNT = frozenset(("what", "amount"))
_HOW_MUCH = _INTERROGATIVE | {"much"}
# "What does it cost" asks how much.
_MEASURED = vocabulary("cost costs charge pay earn make weigh owe spend measure get is are was were run go rent total")
_ACTING = vocabulary("i you we one people someone somebody my our to")
_NAMED = frozenset(("who", "when", "where"))
_COMPARED = (
    acts.compare,
    favour.compare,
    commands.compare,
    tongues.compare,
    persons.let_or_as,
    amount_parts.compare,
    part_of_thing.compare,
    modality.compare,
    moods.compare,
    equatives.compare,
    habits.compare,
    whereabouts.compare,
    circumstances.compare,
)
_BEING = frozenset(("is", "are", "was", "were"))
_FAR = 6  # words behind a question word that may tell its type
_SAME_REST = 0.8  # Jaccard index of the content words from which on the type is all that differs


class QuestionReading(NamedTuple):
    """`kind` is the type of the first question, "" for none, "way" for "is there a way".

    Every text has a reading of its own.
    """

    kind: str


class QuestionGuard(ReadingGuard[QuestionReading]):
    """Vetoes prompts that ask for things of another type, and doubts those that may."""

    name = "question"

    def read(self, text: str) -> QuestionReading:
        """The reading of `text`."""
        return QuestionReading(read(text))

    def compare(self, one: QuestionReading, two: QuestionReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the types of two questions, and their light words."""
        found = self._of_types(one.kind, two.kind, query, cached)
        if found is None or not found.veto:
            light = grammar.compare(query, cached)
            if light is not None:
                return Conflict(self.name, *light)
            for compared in _COMPARED:
                detail = compared(query, cached)
                if detail is not None:
                    return Conflict(self.name, detail)
            if further.compare(query, cached):
                return Conflict(self.name, "a further question")
        return found

    def _of_types(self, one: str, two: str, query: str, cached: str) -> Conflict | None:
        """The finding where questions of these types ask for other things, as few good paraphrases do."""
        if one == two or not one or not two or {one, two} == _WAY_AND_HOW:
            return None
        one, two = (kind if kind != "way" else "whether" for kind in (one, two))
        if one == two:
            return None
        pair = frozenset((one, two))
        detail = f"{min(one, two)} / {max(one, two)}"
        apart = read_text(query).bag ^ read_text(cached).bag
        if apart <= _INTERROGATIVE and (("what" in pair and pair & _NAMED) or ("whether" in pair and apart)):
            return Conflict(self.name, detail)
        if "which" in apart and apart <= _WORDS and apart & _PLACED:
            return Conflict(self.name, detail)
        if pair == _AMOUNT and apart <= _HOW_MUCH and read_text(query).bag.isdisjoint(_MEASURED):
            return Conflict(self.name, detail)
        # "How can I buy" is answered by where to; "how did he die" is not.
        if pair == _HOW_WHERE and apart and apart <= _INTERROGATIVE and read_text(query).bag.isdisjoint(_ACTING):
            return Conflict(self.name, detail)
        doubted = bool(pair & _HARD) or pair in _DOUBTED
        if pair in _EXCHANGED or not (doubted or pair in _TELLING):
            return None
        veto = pair <= _HARD and pair not in _DOUBTED
        if not veto and pair in _TELLING:
            left, right = content(query) - _TYPE_WORDS, content(cached) - _TYPE_WORDS
            veto = len(left & right) >= _SAME_REST * len(left | right) > 0
        return Conflict(self.name, detail, veto) if veto or doubted else None


def read(text: str) -> str:
    """The type of the first question in `text`, "" for none."""
    seen = read_text(text)
    words = seen.words
    if words[:2] == ("is", "there") and _WAY.match(seen.lower) is not None:
        return "way"
    if words[:1] and words[0] not in _WORDS and (lead := _INDIRECT.match(seen.lower)) is not None:
        words = read_text(seen.lower[lead.end() :]).words
    for place, word in enumerate(words[:12]):
        if word == "when" and words[place + 1 : place + 2] and words[place + 1] not in _INVERTED:
            if words[place + 1] in ("and", "or"):
                return ""
            continue
        if word in _WORDS and (not place or words[place - 1] in _BEFORE):
            return _typed(word, words[place + 1 : place + 1 + _FAR + 2])
        if not place and word in _ALLOWED:
            return "permission" if words[1:2] in (("i",), ("we",), ("you",), ("my",), ("one",)) else "whether"
        if not place and word in _ASKING:
            return "whether"
    return ""


def _typed(word: str, behind: tuple[str, ...]) -> str:
    plain = _PLAIN.get(word)
    if plain is not None:
        return plain
    if word[0] == "h":
        if not behind or behind[0] in _ABOUT or word != "how":
            return "" if _ORIGINS.search(" ".join(behind)) else "procedure"
        kind = _HOW.get(behind[0], "")
        return _counted(behind[1:], kind) if kind in ("number", "amount") else kind
    near = behind[:_FAR]
    if behind[:1] and behind[0] in _BEING and behind[-2:] == ("caused", "by"):
        # "The disease caused by mosquitoes" is a thing.
        return "why"
    for place, head in enumerate(near):
        if head in _METHODS and behind[place + 1 : place + 2] == ("of",) and not _is_doing(behind[place + 2 :]):
            return "definition"
        if head in _HEADS:
            if head == "number" and behind[place + 1 : place + 2] == ("of",):
                return _counted(behind[place + 2 :], "number")
            return "who" if behind[place + 1 : place + 2] in _WINNING else _HEADS[head]
        if head not in _LEAD:
            if not place and head in ("do", "does", "did", "can", "should", "could", "will", "would", "happens"):
                return "what"
            return "definition" if place and behind[0] in ("is", "are") and len(near) - place < 4 else "what"
    return "what"


def _counted(things: tuple[str, ...], kind: str) -> str:
    """The type by what is counted, "parental leave days" or "days of parental leave"; `kind` for other things."""
    for word in things[:_COMPOUND]:
        if word in _COUNTED:
            return _COUNTED[word]
        if word in LIGHT:
            break
    return kind


def _is_doing(behind: tuple[str, ...]) -> bool:
    """Return True if the first of these words says what is done: "(the best way of) learning chess"."""
    return not behind or behind[0].endswith("ing")
