"""Labelled pairs of prompts, on which embedders are trained and measured, and their files.

Knows the shapes of files that hold pairs or triplets; knows no model and no cache. Invariant: a pair that is read has
two texts that are not empty and a label, or the file is refused with the number of the faulty line.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semcache.errors import InvalidArgument, StoreError
from semcache.train.table_rows import TableRows, is_table

NAMES: Mapping[str, tuple[str, ...]] = {
    "one": ("one", "question1", "sentence1", "text1", "query", "prompt", "a", "anchor"),
    "two": ("two", "question2", "sentence2", "text2", "cached", "other", "b"),
    "same": ("same", "label", "is_duplicate", "same_answer", "duplicate"),
    "positive": ("positive",),
    "negative": ("negative",),
}
_REQUIRED = (("one", "two", "same"), ("one", "positive", "negative"), ("one", "positive"))
_YES = frozenset({"1", "1.0", "true", "yes", "same"})
SYNTHESIZE = "both kinds are needed (`semcache embedder synthesize` makes different ones from prompts)"
_NO = frozenset({"0", "0.0", "false", "no", "different"})


@dataclass(frozen=True, slots=True)
class Pair:
    """Two prompts and whether they share an answer.

    `kind` is what distinguishes them (a guard's name, an edit), `made` how the pair came about: "" for given data, a
    rule's or a model's name for synthetic ones.
    """

    one: str
    two: str
    same: bool
    kind: str = ""
    made: str = ""


def read(path: Path, columns: Mapping[str, str] | None = None) -> list[Pair]:
    """The pairs of a JSON-lines, CSV or TSV file, UTF-8, packed with gzip or not; a triplet gives two pairs.

    `columns` maps the names of `NAMES` to the file's own; without it the usual names are looked for. Raises StoreError
    for a file that cannot be read, InvalidArgument for one that holds no pairs, naming the line.
    """
    lines = _rows(path)
    number, first = next(lines, (0, {}))
    if not number:
        raise InvalidArgument(f"{path} is empty: write one pair a line, such as {_EXAMPLE}")
    named = {frozenset(first): _named(str(path), first, columns or {})}
    found = _pairs(path, number, first, named[frozenset(first)])
    for number, row in lines:
        keys = frozenset(row)
        if keys not in named:  # lines of JSON need not be alike: some triplets lack the negative, say
            named[keys] = _named(f"{path}:{number}", row, columns or {})
        found += _pairs(path, number, row, named[keys])
    return found


def write(pairs: Iterable[Pair], path: Path) -> None:
    """Write JSON lines that `read` reads. Raises StoreError."""
    try:
        with path.open("w", encoding="utf-8") as out:
            for pair in pairs:
                row: dict[str, Any] = {"one": pair.one, "two": pair.two, "same": pair.same}
                row |= {name: value for name, value in (("kind", pair.kind), ("made", pair.made)) if value}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error


def both_classes(pairs: Sequence[Pair], what: str, *, remedy: str = SYNTHESIZE) -> None:
    """Raise InvalidArgument unless `pairs` hold both labels; `what` names them in the message, `remedy` ends it."""
    same = sum(pair.same for pair in pairs)
    if 0 < same < len(pairs):
        return
    held = "no pair" if not pairs else "only pairs of the same answer" if same else "only pairs of different answers"
    raise InvalidArgument(f"{what}: {held}; {remedy}")


_EXAMPLE = '{"one": "reset my password", "two": "I forgot my password", "same": true}'


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file with the numbers of their lines."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = data[: error.start].count(b"\n") + 1
        raise InvalidArgument(
            f"{path}:{place}: not UTF-8 ({error.reason}): convert the file, e.g. with iconv"
        ) from error
    if is_table(path):
        yield from TableRows(path, io.StringIO(text, newline=""))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidArgument(f"{path}:{number}: no JSON ({error}); write one pair a line: {_EXAMPLE}") from error
        if not isinstance(row, dict):
            raise InvalidArgument(f"{path}:{number}: {type(row).__name__} instead of an object such as {_EXAMPLE}")
        yield number, row


def _named(path: str, row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, str]:
    """The file's own names of the columns that are there. Raises InvalidArgument for missing ones."""
    unknown = set(columns) - set(NAMES)
    if unknown:
        raise InvalidArgument(f"unknown column {sorted(unknown)[0]!r}: map {', '.join(NAMES)}")
    absent = [own for own in columns.values() if own not in row]
    if absent:
        raise InvalidArgument(f"{path}: there is no column {absent[0]!r}; there are {', '.join(map(repr, row))}")
    named = {
        name: next((own for own in (columns.get(name), *usual) if own in row), None) for name, usual in NAMES.items()
    }
    found = {name: own for name, own in named.items() if own is not None}
    if not any(all(name in found for name in needed) for needed in _REQUIRED):
        lacking = [name for name in _REQUIRED[0] if name not in found]
        raise InvalidArgument(
            f"{path}: no column for {', '.join(lacking)}; there are {', '.join(map(repr, row))}. "
            f"Name them: --columns {','.join(f'{name}=COLUMN' for name in lacking)}"
        )
    return found


def _pairs(path: Path, number: int, row: Mapping[str, Any], named: Mapping[str, str]) -> list[Pair]:
    def text(name: str) -> str:
        value = row.get(named[name])
        if not isinstance(value, str) or not value.strip():
            raise InvalidArgument(f"{path}:{number}: {named[name]} is {value!r}, not a text")
        # Half a character, which JSON can spell and no tokenizer reads: an embedder replaces it as well.
        return value.encode("utf-8", "replace").decode("utf-8")

    kind, made = (str(row.get(name) or "") for name in ("kind", "made"))
    if "two" in named and "same" in named:
        label = str(row.get(named["same"])).strip().lower()
        if label not in _YES | _NO:
            raise InvalidArgument(f"{path}:{number}: {named['same']} is {row.get(named['same'])!r}, not 1 or 0")
        return [Pair(text("one"), text("two"), label in _YES, kind, made)]
    found = [Pair(text("one"), text("positive"), True, kind, made)]
    return [*found, Pair(text("one"), text("negative"), False, kind, made)] if "negative" in named else found
