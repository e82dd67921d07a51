"""Tenses: tense and aspect of the first finite verb of each main clause.

"Who leads the army?" is of the present, "who has led the army?" is perfect. Knows auxiliaries, and where a main verb
stands; parses no grammar. Invariant: a clause of which the verb is not sure has no tense.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from semcache.matching.guards.lemmas import ends_as_past, is_participle, is_past, lemma_of
from semcache.request.text import READINGS, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.verbs import DOUBTFUL, is_base, third_person
from semcache.runtime.scoped_memo import scoped_cache

Tense: TypeAlias = Literal["past", "present", "progressive", "perfect", "lasting", "state"]
_NO_TIME: Literal[""] = ""

DETERMINERS = vocabulary("a an the this that these those my your his her its our their any some")
_DO: dict[str, Tense] = {"do": "present", "does": "present", "did": "past"}
BE = vocabulary("is are am was were")
_BEING = vocabulary("is are am")
HAVE = vocabulary("have has had")
_MODAL = vocabulary("can could will would shall should may might must to let please cannot")
_PREPOSITIONS = vocabulary("in on at of for from with without by about against over under through into onto and or")
_SENTENCES = re.compile(r"[.?!;:,\n]+(?:\s|$)")
# A clause begun by one of these says under which condition, or of whom: "what if I lost my card" is of no time.
_CLAUSES = re.compile(
    r"\s(?=(?:if|when|whenever|because|that|which|who|whose|while|after|before|since|until|once"
    r"|although|though|whether|why|how|what|where|unless|and|but|or)\s)"
)
# Before a question that is asked indirectly, and before what is true of the things that a list is wanted of.
_ASKED_OF = re.compile(
    r"(?:please )?(?:(?:(?:can|could|would) you (?:please )?)?(?:tell me|explain(?: to me)?)"
    r"|(?:do you|i want to|i'd like to) know)"
    r" (?=(?:who|what|which|why|how|where|when)\b)"
    r"|(?:please )?(?:list|name|find|show me|give me|tell me)(?P<things>(?: [\w']+){1,6}?) (?=(?:that|who|which) )"
)
_SUBORDINATE = vocabulary(
    "if whenever because that while after before since until once although though whether unless as"
)
_QUESTION_WORDS = vocabulary("who what which why how where when whose")
_OPENING = _QUESTION_WORDS | BE | HAVE | frozenset(_DO)
_FIRST = vocabulary("i we you they he she it people everyone someone somebody there who what") | DETERMINERS
_HEADS = vocabulary("which whose many")
_HE = vocabulary("it he she that there")
_SAYING = vocabulary("who he she it")  # a verb stands behind these, be it known or not
REQUIRED = vocabulary("needed required")  # "what papers needed" leaves out "are"
_STARTING = _OPENING | _FIRST
_PLURALS = vocabulary("i you we they people men women children police who")
_UNCHANGED = vocabulary("cut put set hit let shut spread burst quit")


class ClauseTense(NamedTuple):
    """The tense of a main clause, and that the clause opens as a question does."""

    tense: Tense
    asked: bool


@scoped_cache(maxsize=READINGS)
def read(text: str) -> tuple[ClauseTense, ...]:
    """The tenses of the main clauses of a text, in their order; clauses of no time are left out."""
    found = []
    for sentence in _SENTENCES.split(read_text(text).lower):
        words = read_text(_main_clause(sentence.strip())).words
        if words and words[0] not in _SUBORDINATE and (tense := _tense(words)):
            found.append(ClauseTense(tense, words[0].partition("'")[0] in _OPENING))
    return tuple(found)


def asked_directly(text: str) -> str:
    """A question without a "tell me" or the like before it; any other text as it is."""
    lead = _ASKED_OF.match(text.lower())
    return text if lead is None or lead["things"] else text[lead.end() :]


def _main_clause(sentence: str) -> str:
    """The first clause of what a sentence in lower case asks; "list the rivers that flow" asks "who flow"."""
    if (lead := _ASKED_OF.match(sentence)) is not None:
        sentence = sentence[lead.end() :]
        if lead["things"]:
            sentence = "who " + sentence.partition(" ")[2]
    return _CLAUSES.split(sentence, maxsplit=1)[0]


def _tense(words: tuple[str, ...]) -> Tense | Literal[""]:
    """The tense and aspect of the first finite verb; "" for none, or for one that is of no time."""
    if words[0] not in _STARTING and "'" not in words[0]:
        return _NO_TIME
    before = ""
    for place, said in enumerate(words):
        word = _contracted(said) if "'" in said else said
        if word in _DO:
            return _DO[word]
        if word in BE:
            return _be(word, words[place + 1 :])
        if word in HAVE:
            return _have(words[place + 1 :])
        if word in _MODAL:
            return _NO_TIME
        if word == "used" and words[place + 1 : place + 2] == ("to",):
            return "past"
        if place and before not in DETERMINERS and before not in _PREPOSITIONS:
            tense = _main_verb(word, before, words, place)
            if tense is not None:
                return tense
        before = word
    return _NO_TIME


def _contracted(word: str) -> str:
    """The auxiliary of a contraction, "n't" left out; the word itself for any other."""
    stump, _, tail = word.rpartition("'")
    if tail == "t":
        return "will" if stump == "won" else "can" if stump == "can" else stump.removesuffix("n")
    if tail == "s":
        return "is" if stump in _QUESTION_WORDS or stump in _HE else word
    return {"ve": "have", "m": "am", "re": "are", "ll": "will", "d": "would"}.get(tail, word)


def _be(word: str, behind: tuple[str, ...]) -> Tense:
    """Progressive, or "state" for all else; what was and what is, is told by the first auxiliary of the text."""
    for one in behind:
        if one in ("going", "been"):
            return "state"
        if one in ("being", "doing", "getting") or (one.endswith("ing") and is_base(lemma_of(one))):
            return "progressive" if word in _BEING else "state"
        if is_participle(one) or one in _PREPOSITIONS:
            return "state"
    return "state"


def _have(behind: tuple[str, ...]) -> Tense:
    """Perfect, or "lasting" for what goes on: "has been raining", and what somebody has."""
    before = ""
    for place, one in enumerate(behind):
        if one == "to":
            return "lasting"
        if one == "been":
            return "lasting" if behind[place + 1 : place + 2] and behind[place + 1].endswith("ing") else "perfect"
        if before not in DETERMINERS and (one in _UNCHANGED or is_participle(one)):
            return "perfect"
        before = one
    return "lasting"


def _main_verb(word: str, before: str, words: tuple[str, ...], place: int) -> Tense | Literal[""] | None:
    """The tense of a word that may be the main verb, "" for a verb of no time, None for any other word."""
    behind = words[place + 1] if place + 1 < len(words) else ""
    if word in REQUIRED or word == "have":
        return _NO_TIME
    if is_past(word):
        return _NO_TIME if behind == "by" else "past"
    if word in _UNCHANGED and before not in _PLURALS and not before.endswith("s"):
        return "past"
    if before in _SAYING and (ends_as_past(word) or _ends_in_s(word)):
        return "past" if word.endswith("ed") else "present"
    base = third_person(word)
    if base is not None and before not in _HEADS and not is_past(behind):
        return "present" if _surely_said_of_one(word, base, before, words, place) else None
    return "present" if (before in _PLURALS or _ends_in_s(before)) and is_base(word) else None


def _surely_said_of_one(word: str, base: str, before: str, words: tuple[str, ...], place: int) -> bool:
    """Return True if a form such as "runs" or "names" is a verb in its place, not the plural of a noun."""
    if word not in DOUBTFUL or before in _QUESTION_WORDS or before in _HE:
        return True
    return place == 2 and (words[0] in _HEADS or (base in _UNCHANGED and words[0] in DETERMINERS))


def _ends_in_s(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")
