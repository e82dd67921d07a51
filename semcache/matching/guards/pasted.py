"""The comparison of text that was pasted into a prompt: code, quotations, and what stands behind a colon or on a line.

Who asks for the same thing in other words leaves what was pasted as it is. So where nearly all of such a part stands in
the other prompt too, while the words around it are others, a word that differs within it is another text. Invariant: a
part that the other text holds word for word is never a difference, nor is one of which it holds little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import islice, pairwise
from typing import NamedTuple

from semcache.request.code_parts import code_parts
from semcache.request.text import LIGHT, READINGS
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

_MARKS = re.compile(r"""[\n"\u201c\u201e\u00ab`;{*]|:\s|\w\(|\b[A-Z]{5,}\s""")
_QUOTED = re.compile(r'"([^"\n]{8,600})"|\u201c([^\u201d\n]{8,600})\u201d|(?<!`)`{1,3}(?!`)([^`]{3,600})`{1,3}')
_BEHIND_COLON = re.compile(r":[ \t]+(\S[^\n]*?(?:[.!?](?=\s|$)|$))", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*(\w[^:\n]{0,40}):[ \t]+(\S.*)$", re.MULTILINE)
_QUERY = re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER)\s[^\n;?`]{6,600}")
_SCHEDULE = re.compile(r"(?<!\S)(?:[\d*][\d*,/-]*\s+){3,5}[\d*][\d*,/-]*(?!\w)")
_TOKEN = re.compile(r"\w+(?:['\u2019]\w+)?")
_CODE_TOKEN = re.compile(r"\w+|[^\w\s]")
_FEWEST = 5  # words of a part of prose
_FEWEST_OF_CODE = 3  # tokens
_SHORTEST = 3  # words behind a label
_CODE = 0.4  # of the words of a part that have signs of code, from which on it is code
_ALIKE = 0.7  # of a part that the other text has to hold, so that it is the same part with a change
_MOST = 12  # parts of a text of which the other text may have changed one
_GAP = 2  # words in a row that may differ within such a part
_TOPIC = 3  # words in front of a colon, below which they name the topic of what is asked: "SQL: rows without a date"
_RELATIVE = frozenset(("that", "which", "who"))
_RUN = 5  # shared words in a row, from which on single words around them count too
_MOST_PAIRS = 15_000  # of equal tokens of a part and a text: tables, DNA and matrices have more, a page of prose fewer
_ENDS = 4  # tokens at an end of such a part in which it may differ
_AROUND = 2  # content words around it that only one of the texts has, from which on the words around are others


class _Part(NamedTuple):
    """A part that was pasted, as its tokens; `code` counts signs as tokens too."""

    tokens: tuple[str, ...]
    code: bool


def compare(query: str, cached: str) -> Conflict | None:
    """The finding where a part that was pasted into both texts is another one in one of them."""
    if not (_is_marked(query) or _is_marked(cached)):
        return None
    if labels := _exchanged(_labelled(query), _labelled(cached)):
        return Conflict("pasted", f"{labels[0]} / {labels[1]} changed places")
    only = _lacking(query, cached), _lacking(cached, query)
    if all(only):
        return Conflict("pasted", f"{only[0]} / {only[1]}")
    for one, two in ((query, cached), (cached, query)):
        changed = (part for part in _parts(one) if not _held(part, two))
        for part in islice(changed, _MOST):
            if _changed(part, one, two):
                return Conflict("pasted", f"another text is given: {' '.join(part.tokens)[:60]}")
    return None


@scoped_cache(maxsize=READINGS)
def _is_marked(text: str) -> bool:
    """Return True for a text that may hold a part that was pasted."""
    return _MARKS.search(text) is not None


@scoped_cache(maxsize=1024)
def _parts(text: str) -> tuple[_Part, ...]:
    """The parts of a text that look pasted."""
    if not _is_marked(text):
        return ()
    found = [_Part(tokens, code) for written, code in _written(text) if (tokens := _tokens(written, code))]
    return tuple(dict.fromkeys(one for one in found if len(one.tokens) >= (_FEWEST_OF_CODE if one.code else _FEWEST)))


def _written(text: str) -> Iterator[tuple[str, bool]]:
    """The parts as they are written, and for each True if it is code."""
    for match in _QUOTED.finditer(text):
        written = next(filter(None, match.groups()))
        yield written, match[3] is not None or _is_code(written)
    for pattern in (_QUERY, _SCHEDULE):
        for match in pattern.finditer(text):
            yield match[0], True
    for match in _BEHIND_COLON.finditer(text):
        if len(text[: match.start()].split(maxsplit=_TOPIC)) >= _TOPIC or "\n" in text:
            yield match[1], _is_code(match[1])
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        for line in lines:
            yield line, _is_code(line)


def _is_code(written: str) -> bool:
    return len(code_parts(written)) > _CODE * len(written.split())


def _tokens(written: str, code: bool) -> tuple[str, ...]:
    written = written.rstrip(".,;:!? ")
    return tuple(_CODE_TOKEN.findall(written)) if code else tuple(word.lower() for word in _TOKEN.findall(written))


class _Tokens(NamedTuple):
    """All tokens of a text, how often it has each, and the text made of them."""

    row: tuple[str, ...]
    times: Counter[str]
    joined: str


@scoped_cache(maxsize=1024)
def _tokens_of(text: str, code: bool) -> _Tokens:
    row = _tokens(text, code)
    return _Tokens(row, Counter(row), f" {' '.join(row)} ")


def _held(part: _Part, text: str) -> bool:
    """Return True if a text has this part word for word; a part without a word to compare is in any text."""
    return not part.tokens or f" {' '.join(part.tokens)} " in _tokens_of(text, part.code).joined


@scoped_cache(maxsize=1024)
def _labelled(text: str) -> dict[str, tuple[str, ...]]:
    """The words that stand behind each label at the front of a line, such as a speaker's name."""
    return {match[1].strip().lower(): _tokens(match[2], code=False) for match in _LABEL.finditer(text)}


def _exchanged(ours: dict[str, tuple[str, ...]], theirs: dict[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """Two labels of both texts, of which one has in either text what is the other's in the other."""
    behind = {said: label for label, said in theirs.items()}
    for label, said in ours.items():
        moved = behind.get(said, label)
        if moved != label and moved in ours and label in theirs and theirs[label] != said and len(said) >= _SHORTEST:
            return label, moved
    return None


def _lacking(one: str, two: str) -> str:
    """Code between backticks that only the first text has; "" if there is none."""
    written = (match[3] for match in _QUOTED.finditer(one) if match[3])
    return next((code for code in written if not _held(_Part(_tokens(code, code=True), True), two)), "")


def _changed(part: _Part, text: str, other: str) -> bool:
    """Return True if the other text holds this part with a change, amid other words."""
    theirs, held, _ = _tokens_of(other, part.code)
    times = Counter(part.tokens)
    if sum(min(count, held[token]) for token, count in times.items()) < _ALIKE * len(part.tokens):
        return False
    if sum(count * held[token] for token, count in times.items()) > _MOST_PAIRS:
        # To align these would take seconds. What differs within such a row of figures makes another row of it.
        return not any(_held(part._replace(tokens=one), other) for one in (part.tokens[_ENDS:], part.tokens[:-_ENDS]))
    matcher = SequenceMatcher(None, part.tokens, theirs, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if max(block.size for block in blocks) < _RUN:
        blocks = [block for block in blocks if part.code or block.size > 1]
    if sum(block.size for block in blocks) < _ALIKE * len(part.tokens) or not _differ_within(part, theirs, blocks):
        return False
    window = theirs[blocks[0].b : blocks[-1].b + blocks[-1].size]
    return _reworded_around(part.tokens, _tokens_of(text, part.code).row, window, theirs)


def _differ_within(part: _Part, theirs: Sequence[str], blocks: Sequence[Match]) -> bool:
    """Return True if a few words differ between two blocks that are shared, and never many."""
    gaps = [
        (part.tokens[before.a + before.size : after.a], theirs[before.b + before.size : after.b])
        for before, after in pairwise(blocks)
    ]
    if any(max(len(ours), len(others)) > _GAP for ours, others in gaps):
        return False
    return any(ours != others and not _immaterial(ours, others, part.code) for ours, others in gaps)


def _immaterial(ours: Sequence[str], theirs: Sequence[str], code: bool) -> bool:
    """Return True for a small word which only one text has or has another of, and for a sign of code told in words."""
    if not code:
        return LIGHT.issuperset((*ours, *theirs)) if not (ours and theirs) else _RELATIVE.issuperset((*ours, *theirs))
    signs = [not any(token[0].isalnum() for token in one) for one in (ours, theirs)]
    return signs[0] is not signs[1] and LIGHT.issuperset(ours if signs[1] else theirs)


def _reworded_around(part: Sequence[str], ours: Sequence[str], window: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return True if the words of two texts outside of a part of either are not the same."""
    left, right = (
        {word.lower() for word in Counter(whole) - Counter(inner) if word.isalnum()} - LIGHT
        for whole, inner in ((ours, part), (theirs, window))
    )
    return len(left ^ right) >= _AROUND
