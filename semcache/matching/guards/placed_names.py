"""Names in lower case, told by where they stand: who is asked about, what is compared, what is translated.

"who was newton", "let vs const", "what did rome build" and "how do you say bread in greek" name things without a
capital. Reads the words at such places; knows no names. Invariant: a word behind an article or a possessive is no name,
save one that is compared with another.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT, SplitText, stem, vocabulary

_TONGUES = (
    "english|french|german|spanish|italian|portuguese|dutch|polish|russian|ukrainian|chinese|mandarin|cantonese|japanese"
    "|korean|arabic|hindi|urdu|bengali|turkish|greek|hebrew|swedish|norwegian|danish|finnish|czech|hungarian|romanian"
    "|welsh|irish|latin|persian|vietnamese|thai|indonesian|malay|swahili|tagalog|estonian|latvian|lithuanian|icelandic"
)
_WORDS = r"\w+(?: \w+){0,2}"
_ONE = r"(?:(?:an?|the) )?(\w+)"
# Each finds a name; those that hold none of its cue are spared it.
_PLACES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "who",
        re.compile(
            r"^\W*(?:so |and |please )?(?:who's|whos|who (?:is|was|are|were|wrote|sang|made|built|won|\w{3,30}ed))"
            rf" ({_WORDS})\W*$"
        ),
    ),
    ("did", re.compile(r"^\W*(?:what|when|where|why|how|who) did (\w+) \w+(?: \w+){0,2}\W*$")),
    ("v", re.compile(rf"\b(\w+) (?:vs\.?|versus) {_ONE}")),
    ("between", re.compile(rf"\bdifferences? between {_ONE}(?: \w+)? and {_ONE}")),
    ("translat", re.compile(rf"\btranslate (?:the (?:word|phrase|sentence) )?({_WORDS}) (?:in)?to (?:{_TONGUES})\b")),
    ("say", re.compile(rf"\b(?:say|write) ({_WORDS}) in (?:{_TONGUES})\b")),
)
_NONE: frozenset[str] = frozenset()
_CUES = vocabulary("who who's whos did vs versus between translate say write")
_NO_NAME = LIGHT | vocabulary("everyone everybody anyone someone everything same no not one two all")
_NO_PERSON = _NO_NAME | vocabulary(
    "people man men woman women mankind humanity human life school class right wrong exempt next first last best"
)
_NO_WORDS = vocabulary(
    "a an the this that these those it them me my your our his her their what something following text"
)
_NONE_AT = {"who": _NO_PERSON, "did": _NO_PERSON, "translat": _NO_WORDS, "say": _NO_WORDS}
# Adjectives and participles: "who is responsible", "who is allowed"
_NO_NAMES = re.compile(r"(?:able|ible|ful|less|ing|ed|en|est|ive|ous|ant|ent)$")


def read(words: SplitText) -> frozenset[str]:
    """The words that stand where a name does."""
    if words.bag.isdisjoint(_CUES):
        return _NONE
    found: set[str] = set()
    for cue, pattern in _PLACES:
        if cue not in words.lower:
            continue
        for match in pattern.finditer(words.lower):
            for group in match.groups():
                run = group.split()
                if _is_name(run, cue):
                    found.update(map(stem, run))
    return frozenset(found) if found else _NONE


def _is_name(run: list[str], cue: str) -> bool:
    none = _NONE_AT.get(cue, _NO_NAME)
    if not all(word.isalpha() and word not in none for word in run):
        return False
    return not (cue == "who" and _NO_NAMES.search(run[0])) and not (cue == "did" and run[0].endswith("s"))
