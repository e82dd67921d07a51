"""The names that look misspelt, for the correction of slips: `python -m eval.known_names`.

Takes the given names, family names and cities of Faker's provider lists (MIT; `pip install faker`) in languages that
are written in Latin letters, and the words of BERT's uncased vocabulary (Apache-2.0; it ships with the embedder). Keeps
those that would be corrected otherwise. Invariant: writes `semcache/request/wording/known_names.txt` and nothing else.
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

ROOT = Path(__file__).parent.parent / "semcache"
WRITTEN = ROOT / "request" / "wording" / "known_names.txt"
TOKENIZER = ROOT / "models" / "all-minilm-l6-v2-int8" / "tokenizer.json"
_NAME = re.compile(r"[a-z]{4,24}")
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


def main() -> int:
    """Write the names that would be corrected if they were not known."""
    text = WRITTEN.read_text(encoding="utf-8")
    WRITTEN.write_text("", encoding="utf-8")
    try:
        misspelt.warm()
        text = "\n".join(sorted(name for name in names() if misspelt.correction(name) is not None)) + "\n"
    finally:
        WRITTEN.write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10))} names in {WRITTEN}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
