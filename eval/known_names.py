"""The names and rare words that look misspelt, for the correction of slips: `python -m eval.known_names`.

Takes the given names, family names and cities of Faker's provider lists (MIT; `pip install faker`) in languages that
are written in Latin letters, the words of BERT's uncased vocabulary (Apache-2.0; it ships with the embedder), and those
of Webster's second dictionary of 1934 (public domain; `pip install english-words`). Keeps those that would be corrected
otherwise, but no word that is far more often a doubled or swapped letter in another one. Invariant: writes
`known_names.txt` and `known_words.txt` in `semcache/request/wording` and nothing else.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from semcache.request.wording import misspelt
from semcache.request.wording.slips import USUAL

ROOT = Path(__file__).parent.parent / "semcache"
WRITTEN = ROOT / "request" / "wording" / "known_names.txt"
RARE = WRITTEN.with_name("known_words.txt")
TOKENIZER = ROOT / "models" / "all-minilm-l6-v2-int8" / "tokenizer.json"
_NAME = re.compile(r"[a-z]{4,24}")
_DOUBTLESS = 4  # likeliness of a slip that is far more often meant than a rare word
_LISTS = re.compile(r"^(?:first|last)_names|^cit(?:y|ies)|^states?$|^countries$")


def names() -> set[str]:
    """All names in lower case, without accents."""
    found = set(json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"])
    for text in _faker():
        plain = unicodedata.normalize("NFKD", text.lower())
        found.update("".join(char for char in plain if not unicodedata.combining(char)).split())
    return {word for word in found if _NAME.fullmatch(word)}


def _faker() -> Iterator[str]:
    """The entries of Faker's lists of persons and places."""
    for room in ("person", "address"):
        package = importlib.import_module(f"faker.providers.{room}")
        for module in pkgutil.iter_modules(package.__path__):
            provider = importlib.import_module(f"faker.providers.{room}.{module.name}").Provider
            for name, entries in vars(provider).items():
                if _LISTS.match(name) and isinstance(entries, tuple | list | Mapping):
                    yield from (str(entry) for entry in entries)


def rare_words() -> set[str]:
    """All words of the dictionary in lower case."""
    lists = importlib.import_module("english_words")
    words: set[str] = lists.get_english_words_set(["web2"], lower=True, alpha=True)
    return {word for word in words if _NAME.fullmatch(word)}


def _is_rare(word: str) -> bool:
    right = None if word in USUAL else misspelt.correction(word)
    return right is not None and misspelt.slip_likeliness(word, right) < _DOUBTLESS


def main() -> int:
    """Write the names and words that would be corrected if they were not known."""
    before = {path: path.read_text(encoding="utf-8") for path in (WRITTEN, RARE)}
    after = dict(before)
    for path in before:
        path.write_text("", encoding="utf-8")
    try:
        misspelt.warm()
        corrected = sorted(name for name in names() if misspelt.correction(name) is not None)
        after = {WRITTEN: "\n".join(corrected) + "\n", RARE: "\n".join(sorted(filter(_is_rare, rare_words()))) + "\n"}
    finally:
        for path, text in after.items():
            path.write_text(text, encoding="utf-8")
    for path, text in after.items():
        print(f"{text.count(chr(10))} words in {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
