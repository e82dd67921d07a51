"""The names by which a value is known to be a person's: `python -m eval.person_names`.

Takes the names of Faker's provider lists (MIT; `pip install faker`) that are written in Latin letters. Of the given
names it keeps those of three languages or more, and of the rarer ones those that no dictionary has. One that is a place
or an ordinary word too, by how often the authored texts of the recipe have it without a capital, gets a question mark.
Of the family names it keeps, with a plus sign, those that are frequent words: others say by themselves that they are
none. Invariant: writes `semcache/agents/person_names.txt` and nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from semcache.agents.value_sorts import unaccented
from semcache.config.calendar_names import MONTHS, WEEKDAYS
from semcache.matching.guards.names import ALIASES
from semcache.request.text import vocabulary
from semcache.request.wording.english import FUNCTION_WORDS
from semcache.request.wording.misspelt import PLACES, frequencies

ROOT = Path(__file__).parent.parent / "semcache"
WRITTEN = ROOT / "agents" / "person_names.txt"
AUTHORED = ROOT / "train" / "recipe" / "authored"
LANGUAGES = 3  # in whose lists a name stands that a dictionary has too
_RARE = 2
_FREQUENT = 500_000  # occurrences of a family name that is a word too
_ENGLISH = frozenset(("en", "en_US", "en_GB", "en_IE", "en_NZ"))
_LOWER = 5  # times that the texts have a name without a capital, by which it is an ordinary word
_NAME = re.compile(r"[a-z]{2,24}")
_WITHIN = re.compile(r"(?<=[a-z,] )[A-Za-z]{2,24}\b")  # not at the beginning of a sentence
# Places, products and words that the lists above do not have.
_ALSO = vocabulary(
    """
    alberta carolina trinidad santiago salvador marina nova eden ebony savannah augusta charlotte madison jackson
    chelsea brooklyn jefferson alexa destiny mats che otto zara cora dior
    """
)


# Family names that more often are the last word of a place's or a thing's name.
_NO_FAMILY = vocabulary(
    """
    street lane park hill hills house church bridge bridges hall way york field fields case block page story storey
    branch toner stack orchard garden board port key keys guard read reader swift toy walls rails victory holder
    """
)


def names() -> list[str]:
    """The names in lower case without accents, with their signs."""
    return sorted([*_given(), *_family()])


def _given() -> list[str]:
    languages: Counter[str] = Counter()
    english: set[str] = set()
    for language, found in _faker("first_names"):
        languages.update(found)
        english |= found if language.startswith("en") else set()
    known = frequencies()
    kept = {
        name
        for name, count in languages.items()
        if count >= LANGUAGES or (name not in known and (count >= _RARE or name in english))
    }
    lower, capital = _written(kept)
    doubtful = kept & {*PLACES, *ALIASES, *FUNCTION_WORDS, *MONTHS, *WEEKDAYS, *_ALSO}
    doubtful |= {one for one in kept if lower[one] >= _LOWER and 2 * lower[one] >= capital[one]}
    return [f"{one}?" if one in doubtful else one for one in kept]


def _family() -> list[str]:
    languages: Counter[str] = Counter()
    english: set[str] = set()
    for language, found in _faker("last_names"):
        languages.update(found)
        english |= found if language in _ENGLISH else set()
    kept = [one for one, count in languages.items() if count >= LANGUAGES or one in english]
    known = frequencies()
    return [f"{one}+" for one in kept if known.get(one, 0) >= _FREQUENT and one not in _NO_FAMILY]


def _faker(kind: str) -> Iterator[tuple[str, set[str]]]:
    """The names of each list of this kind, with its language."""
    package = importlib.import_module("faker.providers.person")
    for module in pkgutil.iter_modules(package.__path__):
        provider = importlib.import_module(f"faker.providers.person.{module.name}").Provider
        found: set[str] = set()
        for name, entries in vars(provider).items():
            if name.startswith(kind) and isinstance(entries, tuple | list | Mapping):
                found.update(*map(_plain, entries))
        yield module.name, {word for word in found if _NAME.fullmatch(word)}


def _plain(text: object) -> list[str]:
    return unaccented(str(text).lower()).split()


def _written(words: set[str]) -> tuple[Counter[str], Counter[str]]:
    """How often the authored texts have each word in lower case, and how often with a capital."""
    lower, capital = Counter[str](), Counter[str]()
    for path in sorted(AUTHORED.glob("*.jsonl")):
        for word in _WITHIN.findall(path.read_text(encoding="utf-8")):
            if word.lower() in words:
                (lower if word.islower() else capital)[word.lower()] += 1
    return lower, capital


def main() -> int:
    """Write the names."""
    text = "\n".join(names()) + "\n"
    WRITTEN.write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10))} names in {WRITTEN}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
