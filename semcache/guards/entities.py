"""The guard for entities: two prompts about different things have different answers.

Reads names by their capitals (also behind a sentence start, and by a table in lower case), acronyms, quoted strings,
code identifiers, file names, flags and addresses, and which way a pair of things goes ("A to B"). It knows no world:
only spelling, expansion of acronyms, and the aliases of `names`.
Invariant: a name counts as shared when the other text spells it anywhere, in any case, number or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from semcache.guards.names import ALIASES, COMMON, LAST_WORDS, PHRASES
from semcache.guards.text import READINGS, Text, vocabulary
from semcache.guards.text import read as read_text
from semcache.types import Conflict

_MAIL = r"[\w.+-]+@[\w-]+\.[\w.]+\w"


def _literal(start: str, address: str) -> re.Pattern[str]:
    """What must match as written, tried where `start` allows."""
    return re.compile(
        rf"""{start}(?:
    (?P<quoted>"([^"\n]{{1,80}})"|“([^”\n]{{1,80}})”|(?<!\w)'([^'\n]{{1,80}})'(?!\w)|`+([^`\n]{{1,80}})`+)
    | (?P<address>{address})
    | (?P<language>(?<!\w)(?i:c\+\+|c\#|f\#|\.net\b|objective-c\b|node\.js|next\.js|vue\.js))
    | (?P<flag>(?<![\w-])--?[a-z][\w-]{{1,30}}(?!\w))
    | (?P<call>\b[A-Za-z_][\w.]*\(\))
    | (?P<file>\b[\w-]+\.(?:py|js|ts|tsx|jsx|java|cpp|rb|rs|sh|sql|csv|json|ya?ml|xml|html|css|pdf|docx?|xlsx?|pptx?|txt
        |md|toml|ini|log|png|jpe?g|gif|svg|mp[34]|zip|exe|ipynb|env)\b)
    | (?P<code>\b[A-Za-z]\w*_\w+\b|\b[a-z]{{2,}}[A-Z]\w*\b|\b[a-z_]{{2,}}\w*(?:\.[a-z_]{{2,}}\w*)+\b|\b\w+(?:::\w+)+)
    | (?P<id>\b[A-Za-z]{{1,6}}-?\d[\w-]*)
    | (?P<letter>\b(?i:vitamin|plan|class|type|grade|option|hepatitis|section|part|schedule|form|language)\ [A-Za-z]\b
        (?!['+\#])|\b(?:in|using|with|learn)\ [CR]\b(?![+\#]))
    )""",
        re.VERBOSE,
    )


_SITE = r'(?:https?://|www\.)[^\s<>"]+[\w/]'
_WITH_MAIL = _literal("", rf"{_SITE}|{_MAIL}")
# Without an "@" only quotes, sites and hyphens can begin inside a word, which spares most attempts.
_LITERAL = _literal(r"""(?:(?<!\w)|(?=["“`hw-]))""", _SITE)
# Whether `_LITERAL` is worth the search. One set of characters comes first, so that the engine skips to them.
_MARKS = re.compile(
    r"""
    ["“`@_#+'.:(\dA-Z-](?:
      (?<=["“`@_#+]) | (?<=['.-])(?<!\w.) | (?<=[.:])(?<=\w.)(?=[a-z]) | (?<=\()(?=\)) | (?<=:)(?=:|//)
    | (?<=\d)(?:(?<=[A-Za-z].)|(?<=[A-Za-z]-.)) | (?<=[A-Z])(?<=[a-z].)
    )
    """,
    re.VERBOSE,
)
_LETTERED = vocabulary("vitamin plan class type grade option hepatitis section part schedule form language")
_LETTERS = frozenset("cr")
_IN_LETTER = re.compile(r"\b(?:in|using|with|learn) [CR]\b")
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00d6\u00d8-\u00de][^\W_]*(?:['-][^\W_]+)*")
# Capitalised inside a sentence, these say that the writer capitalises everything.
_NEVER_CAPITAL = vocabulary(
    "do does did is are was be can could should would will my your how what why when where which who you"
    " we it have has get"
)
_TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "prof", "vs"))
_PIVOTS = vocabulary(
    "to into from than over beat beats defeat defeats cause causes owe owes replace replaces instead"
    " onto via behind towards toward against"
)
# Ordinary words that titles and fields capitalise ("Data Mining"); alone they are no reason to veto.
_ORDINARY = re.compile(r"(?:ing|tion|sion|ment|ness|ly|ity|ology|ship|ics|ance|ence|ive|ous|ful)$")
_SYMMETRIC = vocabulary("between vs versus difference differences compare comparison differ similar similarities same")
_LIGHT = vocabulary(
    "a an the my your our his her its their this that some any is are was be it of in on at and or how"
    " do does did i you we can"
    " what which who why when where should would will get go going need want possible way ways convert"
    " flight flights train"
    " fast cheap better best more less"
)
_ALIASED = frozenset(ALIASES)
_AMERICA = frozenset(("usa", "america", "american", "americans", "states"))
_NONE: frozenset[str] = frozenset()
_POSSESSIVE = re.compile(r"(?:'s|s'|')$")


class Reading(NamedTuple):
    """`names` were spelt as names; `known` are canonical names of the table; `literals` must match as written."""

    names: tuple[tuple[str, ...], ...]
    known: frozenset[str]
    literals: frozenset[str]
    words: Text
    pairs: tuple[tuple[frozenset[str], frozenset[str]], ...]
    symmetric: bool


class Entities:
    """Vetoes prompts that name different things, or the same two things the other way round."""

    name = "entities"

    def conflict(self, query: str, cached: str) -> Conflict | None:
        """Compare the things that both texts name."""
        one, two = read(query), read(cached)
        if one.literals or two.literals:
            left, right = _unshared(one.literals, two), _unshared(two.literals, one)
            if left or right:
                return Conflict(self.name, f"{_show(left)} / {_show(right)}")
        if one.known != two.known:
            left, right = _strangers(one, two), _strangers(two, one)
            if left or right:
                return Conflict(self.name, f"{_show(left)} / {_show(right)}")
        if one.names or two.names:
            ours, theirs = _strange_names(one, two), _strange_names(two, one)
            if (ours and theirs) or any(trailing for _, trailing in ours + theirs):
                return Conflict(self.name, f"{_show(name for name, _ in ours)} / {_show(name for name, _ in theirs)}")
        if one.pairs and two.pairs and not (one.symmetric or two.symmetric) and _swapped(one, two):
            return Conflict(self.name, "the same things the other way round")
        return None


@lru_cache(maxsize=READINGS)
def read(text: str) -> Reading:
    """The things that `text` names."""
    words = read_text(text)
    bag, raw = words.bag, words.raw
    phrases = () if bag.isdisjoint(LAST_WORDS) else tuple(phrase for phrase in PHRASES if phrase in words.lower)
    lettered = not bag.isdisjoint(_LETTERED) or (not bag.isdisjoint(_LETTERS) and _IN_LETTER.search(raw) is not None)
    marked = lettered or _MARKS.search(raw) is not None
    return Reading(
        _names(words, phrases),
        _known(words, phrases),
        _literals(raw) if marked else _NONE,
        words,
        () if bag.isdisjoint(_PIVOTS) else _pairs(words),
        not bag.isdisjoint(_SYMMETRIC),
    )


def _known(words: Text, phrases: tuple[str, ...]) -> frozenset[str]:
    bag = words.bag
    aliased = bag & _ALIASED
    if not aliased and not phrases and "'s" not in words.lower:
        return _NONE
    known = {ALIASES[word] for word in aliased}
    if "'s" in words.lower:
        known |= {ALIASES[word[:-2]] for word in bag if word.endswith("'s") and word[:-2] in ALIASES}
    known.update(PHRASES[phrase] for phrase in phrases)
    if "us" in bag and "US" not in words.tokens and bag.isdisjoint(_AMERICA):
        known.discard("usa")
    return frozenset(known) if known else _NONE


def _literals(raw: str) -> frozenset[str]:
    found = set()
    for match in (_WITH_MAIL if "@" in raw else _LITERAL).finditer(raw):
        kind, text = match.lastgroup, match[0].lower()
        if kind == "quoted":
            text = text.strip("\"'“”` ").rstrip(".,;:!? ")
        elif kind == "letter" and text.startswith(("in ", "using ", "with ", "learn ")):
            text = f"language {text[-1]}"
        elif kind == "id":
            text = text.replace("-", "").replace("_", "")
        found.add(text)
    found.discard("")
    return frozenset(found)


def _names(words: Text, phrases: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Runs of words whose capital the position does not explain; none in a text that capitalises common words."""
    raw = words.raw
    if _plain(raw):
        return ()
    told = frozenset(" ".join(phrases).split())
    found: list[tuple[str, ...]] = []
    run: list[str] = []
    end = -9
    for match in _CAPITALISED.finditer(raw):
        token, start = match[0], match.start()
        if start and (raw[start - 1].isalnum() or raw[start - 1] in "'_"):
            continue
        if run and (start != end + 1 or raw[end] != " "):
            found.append(tuple(run))
            run = []
        end = match.end()
        if "-" in token:
            parts = token.split("-")
            token = "".join(parts) if all(part[0].isupper() or len(part) == 2 for part in parts) else parts[0]
        word = token.lower()
        if word in told or ((token[1:].islower() or len(token) == 1) and _opens_sentence(raw, start)):
            continue
        if word in COMMON:
            if word in _NEVER_CAPITAL:
                return ()
            continue
        run.append(word[:-1] if token[-1] == "s" and token[:-1].isupper() else _stem(word))
    if run:
        found.append(tuple(run))
    return tuple(found)


def _plain(raw: str) -> bool:
    """Whether the only capitals are the first letter and a lone "I", as in most questions that name nothing."""
    tail = raw[1:].replace(" I ", "   ")
    if tail != tail.lower():
        return False
    head = raw.split(" ", 1)[0]
    return raw[:1].islower() or len(head) == 1 or (head[1:].islower() and head[1:].replace("'", "").isalpha())


def _opens_sentence(raw: str, start: int) -> bool:
    if not start:
        return True
    before = raw[max(0, start - 8) : start].rstrip(" \t\"'(“")
    if not before or before[-1] in "!?:\n":
        return True
    return before[-1] == "." and before[:-1].split()[-1:] != [] and before[:-1].split()[-1].lower() not in _TITLES


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    if "'" in word:
        word = _POSSESSIVE.sub("", word)
    if len(word) < 3 or word[-1] != "s" or word[-2] in "sui":
        return word
    return word[:-3] + "y" if len(word) > 4 and word.endswith("ies") else word[:-1]


@lru_cache(maxsize=READINGS)
def _stems(raw: str) -> frozenset[str]:
    """The stems of a text that was read; apart from its reading, for few comparisons ask for them."""
    return frozenset(map(_stem, read_text(raw).bag))


def _strange_names(one: Reading, two: Reading) -> list[tuple[str, bool]]:
    """Words of names that `two` lacks, and whether each is more than a lead-up to a shared name ("President" Obama)."""
    missing = []
    for run in one.names:
        if len(run) > 1 and "".join(name[0] for name in run) in two.words.bag:
            continue
        shared = [_spelt(name, two) for name in run]
        last = len(shared) - 1 - shared[::-1].index(True) if True in shared else -1
        missing += [
            (name, place > last and not _ORDINARY.search(name)) for place, name in enumerate(run) if not shared[place]
        ]
    return missing


def _spelt(name: str, other: Reading) -> bool:
    if name in _stems(other.words.raw) or name in other.words.bag or name + "s" in other.words.bag:
        return True
    if (ALIASES.get(name) or ALIASES.get(name + "s")) in other.known:
        return True
    return (len(name) > 3 and name in "".join(other.words.words)) or _expanded(name, other)


def _expanded(name: str, other: Reading) -> bool:
    """Whether `name` is an acronym of words that stand in a row in the other text."""
    return 2 <= len(name) <= 6 and name.isalpha() and name in "".join(word[0] for word in other.words.words)


def _unshared(literals: frozenset[str], other: Reading) -> list[str]:
    missing = []
    for literal in literals - other.literals:
        if ALIASES.get(literal) in other.known:
            continue
        squeezed = re.sub(r"[\W_]+", "", literal)
        if len(squeezed) > 1 and squeezed in "".join(other.words.words).replace("_", ""):
            continue
        pieces = literal.split()
        if len(pieces) > 3 and sum(_stem(piece) in _stems(other.words.raw) for piece in pieces) >= 0.7 * len(pieces):
            continue
        missing.append(literal)
    return sorted(missing)


def _strangers(one: Reading, two: Reading) -> list[str]:
    """Table names of `one` that `two` neither holds nor expands."""
    return sorted(name for name in one.known - two.known if name not in two.words.bag and not _expanded(name, two))


def _pairs(words: Text) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """What stands before and behind each directional word, light words left out; "from" reads the other way round."""
    found: list[tuple[frozenset[str], frozenset[str]]] = []
    every = words.words
    for place, word in enumerate(every):
        if word not in _PIVOTS:
            continue
        before = [_stem(w) for w in every[max(0, place - 4) : place] if w not in _LIGHT and w not in _PIVOTS][-2:]
        behind = []
        for w in every[place + 1 : place + 5]:
            if w in _PIVOTS:
                break
            if w not in _LIGHT:
                behind.append(_stem(w))
        sides = (frozenset(before), frozenset(behind[:2]))
        if word == "from":
            found.append((sides[1], frozenset()))
            if sides[0]:
                found.append((sides[1], sides[0]))
        elif sides[1]:
            found.append(sides)
    return tuple(found)


def _swapped(one: Reading, two: Reading) -> bool:
    if not set(one.pairs).isdisjoint(two.pairs):
        return False
    for before, behind in one.pairs:
        for left, right in two.pairs:
            if (before - left) & (right - behind) and (left - before) & (behind - right):
                return True
    return False


def _show(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"
