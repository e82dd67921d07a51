"""The guard for entities: two prompts about different things have different answers.

Reads names by their capitals (also behind a sentence start, and by a table in lower case) and acronyms. It knows
spelling, expansion of acronyms, the aliases of `names`, and what lies `within` what; what texts in other scripts are
about `scripts` tells. Names on both sides are a conflict, unless the texts differ by much and one names what holds the
other, or a place only; a name that only one text has is a doubt, unless it is all that tells the
texts apart: good paraphrases drop and add names.
Invariant: a name counts as shared when the other text spells it anywhere, in any case, number or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from semcache.matching.guards import common_names, nationalities, placed_names, scripts, within
from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.dates import CALENDAR
from semcache.matching.guards.name_forms import derived, expanded, short_for, typos, written_apart
from semcache.matching.guards.names import ALIASES, CAPITALISED, COMMON, PHRASE_CUES, PHRASES, SHORT_FORMS
from semcache.matching.guards.units import UNITS
from semcache.request.text import READINGS, SplitText, content, differing, stem, stems, unaccented, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00d6\u00d8-\u00de][^\W_]*(?:['-][^\W_]+)*")
# Capitalised inside a sentence, these say that the writer capitalises everything.
_NEVER_CAPITAL = vocabulary(
    "do does did is are was be can could should would will my your how what why when where which who you"
    " we it have has get"
)
_TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "prof", "vs"))
# Ordinary words that titles and fields capitalise ("Data Mining"); alone they are no reason to veto.
_ORDINARY = re.compile(r"(?:ing|tion|sion|ment|ness|ly|ity|ology|ship|ics|ance|ence|ive|ous|ful)$")
_ALIASED = frozenset(ALIASES)
_IN_PHRASES = frozenset(PHRASES.values())
_WHOLE = {phrase: re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)") for phrase in PHRASES}
_ENOUGH = 20  # names that only one text has; no more are looked for
_LITTLE = 4  # content words by which texts may differ for a name to be all that was changed
_MUCH = 6  # content words by which texts differ that say the same in other words
_AMERICA = frozenset(("usa", "america", "american", "americans", "states"))
_NONE: frozenset[str] = frozenset()
_OF_WORKS = vocabulary(
    "directed director wrote written author starred stars star cast plot movie film song sang album novel book series"
    " soundtrack sequel released composed plays actor actress ending"
)


class EntityReading(NamedTuple):
    """The things that a text names.

    `names` were spelt as names; `known` are canonical names of the table; `foreign` is all in other scripts; `placed`
    are the words that stand where a name does, `common` the names that are common words too.
    """

    names: tuple[tuple[str, ...], ...]
    known: frozenset[str]
    foreign: scripts.ScriptReading = scripts.NOTHING
    placed: frozenset[str] = _NONE
    common: common_names.CommonNames = common_names.NOTHING


class EntityGuard(ReadingGuard[EntityReading]):
    """Vetoes prompts that name different things; doubts those of which only one names a thing."""

    name = "entities"

    def read(self, text: str) -> EntityReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: EntityReading, two: EntityReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the things that both texts name."""
        if one.foreign is not two.foreign and (found := scripts.differing(one.foreign, two.foreign)) is not None:
            return Conflict(self.name, _show(found.ours, found.theirs), found.sure)
        if one.common is not two.common and (shared := common_names.differing(one.common, two.common)) is not None:
            return Conflict(self.name, f"{shared}: a name / a thing")
        query, cached = unaccented(query), unaccented(cached)
        here, there = read_text(query), read_text(cached)
        left, right = ([], []) if one.known == two.known else (_strangers(one, two, there), _strangers(two, one, here))
        own, others = _strange_names(one, two, there), _strange_names(two, one, here)
        listed, both = bool(left or right), bool(left and right)
        left += [name for name, _ in own if _listed(name) not in left]
        right += [name for name, _ in others if _listed(name) not in right]
        if left and right:
            same = not both and typos(left, right)
            return Conflict(self.name, _show(left, right), not (same or _reworded(left, right, query, cached)))
        if (one.placed or two.placed) and len(differing(query, cached)) <= _LITTLE:
            left_placed, right_placed = _strange_places(one, two, there), _strange_places(two, one, here)
            if left_placed and right_placed and not typos(left_placed, right_placed):
                return Conflict(self.name, _show(left_placed, right_placed))
        if (titles := _other_title(here, there) or _other_title(there, here)) is not None:
            return Conflict(self.name, titles)
        if not left and not right:
            return None
        trailing = any(last for _, last in own + others)
        alone = _alone(query, cached, left + right)
        if listed or trailing or alone:
            return Conflict(self.name, _show(left, right), alone and (listed or trailing))
        return None


def _other_title(here: SplitText, there: SplitText) -> str | None:
    """A film, song or book whose title is the plural of another's, and that other: "Aliens" and "Alien"."""
    if _OF_WORKS.isdisjoint(here.bag) or _OF_WORKS.isdisjoint(there.bag):
        return None
    for word in here.tokens[1:]:
        plural = f"{word}s"
        if len(word) > 3 and word.istitle() and plural in there.tokens and word not in there.tokens:
            return f"{word} / {plural}"
    return None


_NOTHING = EntityReading((), _NONE)


@scoped_cache(maxsize=READINGS)
def read(text: str) -> EntityReading:
    """The things that `text` names."""
    words = read_text(unaccented(text))
    phrases = () if words.bag.isdisjoint(PHRASE_CUES) else _phrases(words.lower)
    names, known, placed = _names(words, phrases), _known(words, phrases), placed_names.read(words)
    foreign, common = scripts.read(text), common_names.read(words)
    if not (names or known or placed or common is not common_names.NOTHING) and foreign is scripts.NOTHING:
        return _NOTHING
    return EntityReading(names, known, foreign, placed, common)


def _phrases(lower: str) -> tuple[str, ...]:
    """The phrases of the table in a text, whole words of it: "renew York library books" does not name New York."""
    return tuple(phrase for phrase, whole in _WHOLE.items() if phrase in lower and whole.search(lower) is not None)


def _alone(query: str, cached: str, names: list[str]) -> bool:
    """Return True if two texts differ in nothing but how they say these names."""
    words = [
        word
        for word in content(query) ^ content(cached)
        if word not in names and ALIASES.get(word, ALIASES.get(word + "s")) not in names
    ]
    return not words or set(words) <= {
        part for phrase, name in PHRASES.items() if name in names for part in phrase.split()
    }


def _known(words: SplitText, phrases: tuple[str, ...]) -> frozenset[str]:
    bag = words.bag
    aliased = bag & _ALIASED
    if not aliased and not phrases and "'s" not in words.lower:
        return _NONE
    known = {ALIASES[word] for word in aliased}
    if "'s" in words.lower:
        known |= {ALIASES[word[:-2]] for word in bag if word.endswith("'s") and word[:-2] in ALIASES}
    known.update(PHRASES[phrase] for phrase in phrases)
    pronoun = "us" in bag and "US" not in words.tokens and not nationalities.names_america(words.lower)
    if pronoun and bag.isdisjoint(_AMERICA):
        known.discard("usa")
    if "ups" in bag and "UPS" not in words.tokens:
        known.discard("ups")
    return frozenset(known) if known else _NONE


def _names(words: SplitText, phrases: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
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
        if word in COMMON or word in UNITS or word in CALENDAR:
            if word in _NEVER_CAPITAL:
                return ()
            continue
        run.append(_base(token))
    if run:
        found.append(tuple(run))
    return tuple(found)


def _base(token: str) -> str:
    """The name that a capitalised word tells, without the ending of a plural or possessive."""
    word = token.lower()
    if word.endswith("'s") and token[:-2].isupper():
        return word[:-2]
    if token.isupper():
        return word
    return word[:-1] if token[-1] == "s" and token[:-1].isupper() else SHORT_FORMS.get(word) or stem(word)


def _plain(raw: str) -> bool:
    """Return True if the only capitals are the first letter and a lone "I", as in most questions that name nothing."""
    tail = raw[1:].replace(" I ", "   ")
    if tail != tail.lower():
        return False
    head = raw.split(" ", 1)[0]
    return raw[:1].islower() or len(head) == 1 or (head[1:].islower() and head[1:].replace("'", "").isalpha())


def _opens_sentence(raw: str, start: int) -> bool:
    if not start:
        return True
    before = raw[max(0, start - 8) : start].rstrip(" \t\"'(“„«¿¡")
    if not before or before[-1] in "!?:\n":
        return True
    return before[-1] == "." and before[:-1].split()[-1:] != [] and before[:-1].split()[-1].lower() not in _TITLES


def _strange_names(one: EntityReading, two: EntityReading, there: SplitText) -> list[tuple[str, bool]]:
    """Words of names of `one` that the other text lacks, and whether each is more than a lead-up to a shared name.

    "President" before "Obama" is a lead-up.
    """
    missing: list[tuple[str, bool]] = []
    theirs = {name for run in two.names for name in run}
    for run in one.names:
        if len(missing) >= _ENOUGH:
            break
        if len(run) > 1 and "".join(name[0] for name in run) in there.bag:
            continue
        shared = [name in theirs or _spelt(name, two, there) for name in run]
        last = len(shared) - 1 - shared[::-1].index(True) if True in shared else -1
        missing += [
            (name, place > last and not _ORDINARY.search(name)) for place, name in enumerate(run) if not shared[place]
        ]
    return missing


def _strange_places(one: EntityReading, two: EntityReading, there: SplitText) -> list[str]:
    """Words of `one` in the place of a name that the other text holds in no form."""
    return sorted(name for name in one.placed if not _spelt(name, two, there) and not short_for(name, there.words))


def _listed(name: str) -> str | None:
    """The name of the table that a name without its plural or possessive ending stands for."""
    return ALIASES.get(name) or ALIASES.get(name + "s")


def _capitalised(reading: EntityReading) -> frozenset[str | None]:
    """The listed names that the names of a text stand for by their capitals."""
    return frozenset([CAPITALISED.get(name) for run in reading.names for name in run])


def _spelt(name: str, other: EntityReading, there: SplitText) -> bool:
    if name in there.bag or name + "s" in there.bag or name in stems(there.raw):
        return True
    listed = _listed(name)
    if name in other.known or CAPITALISED.get(name) in other.known:
        return True
    if listed and (listed in other.known or listed in there.bag or listed in _capitalised(other)):
        return True
    if nationalities.told(name, there.bag):
        return True
    if (len(name) > 3 and written_apart(name, there.words)) or expanded(name, there.words):
        return True
    return derived(name, there.words)


def _strangers(one: EntityReading, two: EntityReading, there: SplitText) -> list[str]:
    """Table names of `one` that `two` neither holds nor expands."""
    return sorted(
        name
        for name in one.known - two.known - _capitalised(two)
        if name not in there.bag
        and f"{name}s" not in there.bag
        and not expanded(name, there.words)
        and not derived(name, there.words)
        and not nationalities.told(name, there.bag)
    )


def _reworded(left: list[str], right: list[str], query: str, cached: str) -> bool:
    """Return True if texts may name one thing in other words: "in Rome" for "in Italy", "the Fed" for "the US bank"."""
    others = len(differing(query, cached))
    if others <= _LITTLE:
        return False
    held, holding = within.apart(left, right), within.apart(right, left)
    if (len(held), len(holding)) != (len(left), len(right)):
        return not (held and holding)
    return others > _MUCH and (_beside(left, right) or _beside(right, left))


def _beside(places: list[str], names: list[str]) -> bool:
    """Return True if these are places and those are names that no table lists, which may be of something there."""
    return all(map(within.is_place, places)) and not any(
        _listed(name) or name in _IN_PHRASES or name in CAPITALISED or nationalities.is_people(name) for name in names
    )


def _show(left: Iterable[str], right: Iterable[str]) -> str:
    return f"{', '.join(left) or 'nothing'} / {', '.join(right) or 'nothing'}"
