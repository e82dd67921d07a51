"""Prompts that lean on what was said before: "what about Germany?" asks nothing without an earlier turn.

Knows openings, verbless fragments, and pronouns for things that the text does not name. Reads one text at a time, no
conversation. Invariant: pure; a prompt of more than `_LONGEST` words is never elliptic.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from semcache.request.text import LIGHT, READINGS, SplitText, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.verbs import is_base
from semcache.runtime.scoped_memo import scoped_cache

_LONGEST = 12  # words; a longer prompt says itself what it is about
_OPENING = re.compile(
    r"""\W*(?!yes\W{1,3}(?:or\W)?no\W+\w)(?:(?:ok|okay|no|yes|yeah|hmm?|well|sorry|thanks|thank\ you|great)\b\W*)*(?:
      (?:(?:and|but|so|then|or)\W*)?(?:what|how)\ about\b(?!\s+(?:when|if|the\s+time))
    | (?:and|but|or|nor|then|also)\b(?!/)
    | (?:what|how)\ (?:else|so|then|next|now|come)\W*$ | what\ if\ (?:not|so|it|they|he|she|that)\b
    | (?:why|how|when|where|who|which|what|how\ (?:much|many|long|often|far|big|old))\W*$
    | (?:why\ not|why\ so|why\ is\ that|how\ so|how\ come|since\ when|for\ how\ long|in\ what\ way|such\ as
      |like\ what|for\ example)\W*$
    | same\ (?:for|with|question|thing)\b | (?:ditto|likewise|similarly)\b
    | (?:(?:can|could|would)\ you\ )?(?:please\ )?
        (?:tell\ me\ more|say\ more|more\ (?:details?|info|information|examples?)
        |elaborate|continue|go\ on|keep\ going|carry\ on|expand|go\ deeper
        |give\ (?:me\ )?(?:an\ example|examples|another)
        |explain\ (?:more|further|again)|try\ again|once\ more|again|shorter|longer|simpler|one\ more|another\ one)
        (?:\ please|\ (?:about|on|in|into|for)\ (?:it|that|this|them|more\ detail|detail))?\W*$
    | (?:(?:can|could|would)\ you\ )?(?:please\ )?
        (?:make|explain|repeat|say|translate|rewrite|rephrase|summari[sz]e|shorten
        |simplify|fix|redo|undo|change|convert)\ (?:it|that|this|them)(?:\ [\w']+){0,4}\W*$
    | (?:is|was|are|were|does|do|did|has|have|can|could|will|would|should)\ (?:he|she|they)\b
        (?!\ (?:say|call|speak|eat|make|celebrate|use)\b)
    | (?:the|this|that|these|those|my|your|which|what\ is\ the|what's\ the)?\ ?(?:first|second|third|last|other
      |next|previous|former
        |latter|same|cheaper|bigger|smaller|red|blue)\ (?:one|ones)\b
    | (?:which|this|that|these|those|the)\ (?:one|ones)\W*$
    | (?:the\ )?(?:latter|former)(?=\W*$|\W?[^\w\s'-]|\ (?:one|or|and|is|was|are|were|does|do|did|can|will|has|had|would
        |should|for|in|with|please)\b)
    )""",
    re.VERBOSE,
)
_COMPUTING = re.compile(r"\bIT\b")
# A fragment that begins with a preposition and has no verb: "for children?", "in Germany?".
_PREPOSITIONS = vocabulary("for in on at with without from by via per during until except including instead only")
# What begins with a preposition and is no such fragment: "per capita income", "from Leeds to York by train".
_WHOLE = re.compile(r"per (?:diem|capita|annum|cent|se)\b|from (?:[\w-]+ ){1,2}to [\w-]+ \w")
_HEADED = re.compile(r"[\w' -]+: ?\w")  # "at 50: term life insurance"
_AUXILIARIES = vocabulary(
    """is are was were be do does did can could will would should shall may might must has have had isn't aren't don't
    doesn't didn't can't won't i you we what how why when where who which please"""
)
_PRONOUNS = vocabulary("he she him her his hers they them their theirs it its that this these those")
_PERSONS = vocabulary("he she him his hers they them their theirs her")
_POINTING = vocabulary("that this these those")
_ASKING = vocabulary("what what's who how when where why which is are was can could does do did tell will")
# Words before a pronoun that name nothing it could stand for.
_UNNAMED = vocabulary(
    """much many long often far old big ever same first name cost price make use used work works worked mean"
    " happen happened
    happens start started end ended begin kind types type else cause causes caused difference bad good important
    there"""
)
_DANGLING = re.compile(
    r"^[^.,;!]*\b(?:of|for|about|in|with|on|to|from|than|like|after|before) (?:it|this|that|them|him|those|these)\W*$"
)
# "Soup with cream in it", "which foods have gluten in them".
_WITHIN = re.compile(
    r"(?:\w with|\b(?!(?:which|what|who|that|they|you|do|does|these|those|some|all) )\w{3,} (?:do not |don't )?have)"
    r" (?:\w+ ){1,3}(?:in|on) (?:it|them)\W*$"
)
# Things that a pronoun stands for, named behind it: "which of these is larger, 2/3 or 0.6", "is it 'less' or 'fewer'".
_LISTED = re.compile(r"\b(?:these|those|them)\b[^,:]{0,40}[,:] ?\S.* or \S|\b(?:is|was) it [\"'][^\"']+[\"'] or [\"']")
# Two ways to write one thing, asked which is right: "is it who or whom", "is it a hour or an hour".
_EITHER = re.compile(r"\W*is it (?:spell?ed |written |called )?([\w' -]{2,30}) or ([\w' -]{2,30})\W*$")
_ALIKE = 0.7  # of 1, for spellings of one thing
# Behind another word than these, "that" begins a clause.
_BEFORE_THAT = _AUXILIARIES | _PREPOSITIONS | vocabulary("of to about like than after before and or but not if")
_ENOUGH = 4  # content words behind "where do they", which say what it is about
# Those of no text: "how do they say hello in Japanese", "what does that mean".
_IMPERSONAL = re.compile(
    r"\b(?:do|did|does) they (?:say|call|speak|eat|make|celebrate|use)\b"
    r"|\bhow (?:do|did) they (?:build|brew|calculate|choose|compute|decide|determine|diagnose|elect|extract|grow"
    r"|harvest|measure|mine|predict|produce|recycle|test|train|treat) (?:(?:an?|the) )?"
    r"(?!(?:it|its|that|this|these|those|them|their|his|her|if|whether|what|who|which|when|for|one|ones)\b)[a-z]{3,}"
)
# "When did they build the Eiffel Tower": whoever it was, what is named is asked about.
_OF_NAMED = re.compile(
    r"\b(?:do|did) they (?:abolish|bury|build|demolish|discover|film|invent|name|open|rebuild|release|rename|restore)"
    r" (?:the )?[A-Z]"
)
# "It" that stands for nothing: "is it safe to ...", "what time is it", "how long does it take to ...".
_EXPLETIVE = re.compile(
    r"\b(?:is|was|does|would|will|can|could|should|has|do|did) (?:it|that|this)\b"
    r"(?!.*\b(?:related|similar|close|connected|compared?|comparable|equal|linked|limited|due|relevant) to\b).*"
    r"\b(?:to|that|if|when|for|rain|raining|snow\w*|like|mean|about|take|takes|feel|say|worth|possible|true|working"
    r"|going|since)\b"
    r"|\b(?:time|day|date|weather|year|month|hot|cold|late|far|raining|street|place|floor) (?:is|was"
    r"|will) (?:it|this)\b"
    r"|\b(?:it|that) (?:feels?|looks?|seems?|appears?|says?|takes?|comes|was|is|would|could|might|may)\b"
    r"|\b(?:it|that)'s\b|\bit like\b|\bit (?:rain|snow|hail|freez)\w*"
    r"|\bits (?:been|a|an|the|not|\w+ed|\w+ing)\b"
    r"|\b(?:know|think|say|mean|so|tell|sure|true|prove|show|see|find|believe|feel|heard|likely|possible) that\b"
    r"|\b(?:is|was) it (?:\w+er|(?:more|less) \w+|ok|okay|safe|bad|good|hard|easy|legal|illegal|normal|known) \w+ing\b"
    r"|\b(?:is|was) it (?:\w+ ){1,4}?who\b|\bwill it rain\b|\bis it known\b"
    r"|\b(?:is|was) it (?:so |too |very |always |often |still )?(?:cold|cool|hot|warm|dark|light|dry|wet|humid|windy"
    r"|foggy|sunny|rainy|quiet|loud|noisy|cheap|expensive) (?:in|at|on|near|inside|outside|during|under)\b"
    r"|\b(?:is|was) it called \w|\bif (?:its|it's|it is) (?:\w+ ){1,3}or \w"
)


@scoped_cache(maxsize=READINGS)
def is_elliptic(text: str) -> bool:
    """Return True if `text` cannot be understood without the turns before it. Remembers its readings."""
    words = read_text(text)
    if "IT" in words.tokens and not words.raw.isupper():
        words = read_text(_COMPUTING.sub("computing", words.raw))
    said, lower = words.words, words.lower
    if not said or len(said) > _LONGEST:
        return False
    if _OPENING.match(lower) is not None:
        return True
    if said[0] in _PREPOSITIONS and words.bag.isdisjoint(_AUXILIARIES) and len(said) < 6:
        behind = read_text(lower.partition(", ")[2]).words
        if len(behind) > 1 and is_base(behind[0]) and behind[1] not in _PREPOSITIONS:
            return not _PRONOUNS.isdisjoint(behind)  # "in simple words, explain gravity"
        return not _is_whole(said, lower) and _HEADED.match(lower) is None
    if words.bag.isdisjoint(_PRONOUNS) or _LISTED.search(lower) is not None or _asks_for_spelling(lower):
        return False
    # The first word that names a thing, or stands for one.
    place = next(at for at, word in enumerate(said) if word in _PRONOUNS or not (word in LIGHT or word in _UNNAMED))
    if said[place] in _PRONOUNS:
        return _points_back(words, place)
    dangles = _DANGLING.search(lower) is not None and _WITHIN.search(lower) is None
    return dangles and said[0] in _ASKING and len(said) < 10


def _points_back(words: SplitText, place: int) -> bool:
    """Return True if the pronoun at `place`, before which nothing is named, stands for something said before."""
    said, lower = words.words, words.lower
    word, behind = said[place], said[place + 1] if place + 1 < len(said) else ""
    if word == "their" and said[:place] in (("is",), ("are",)):
        return False  # "are their any fees"
    if word in _PERSONS:
        impersonal = _IMPERSONAL.search(lower) is not None or _OF_NAMED.search(words.raw) is not None
        return said[0] in _ASKING and not impersonal and not _told(said, place)
    if word == "that" and behind and place and said[place - 1] not in _BEFORE_THAT:
        return False  # "what happened that made Rome fall"
    if word in _POINTING and behind and behind not in LIGHT and behind not in _AUXILIARIES:
        return False
    return said[0] in _ASKING and _EXPLETIVE.search(lower) is None


def _asks_for_spelling(lower: str) -> bool:
    """Return True if it is asked which of two like spellings is right; "legal or illegal" are no spellings."""
    if (either := _EITHER.match(lower)) is None:
        return False
    one, two = either[1], either[2]
    return not (one.endswith(two) or two.endswith(one)) and SequenceMatcher(None, one, two).ratio() >= _ALIKE


def _is_whole(words: tuple[str, ...], lower: str) -> bool:
    """Return True if a few words behind a preposition say what they are about."""
    if words[0] == "only":  # "only children of divorced parents", not "only in Germany"
        return len(words) > 2 and words[1] not in _PREPOSITIONS and words[1] not in LIGHT
    return _WHOLE.match(lower) is not None


def _told(words: tuple[str, ...], place: int) -> bool:
    """Return True for "they" of whom so much is asked that it hardly matters who they are."""
    return words[place] == "they" and len([word for word in words[place + 1 :] if word not in LIGHT]) >= _ENOUGH
