"""The regular expressions of a client's JSON schema, matched in time that grows with a value's length, not beyond.

Python's `re` tries every way to match, and some patterns have more ways than a computer can try. So an automaton
matches, the Rust one that pydantic brings. It knows no lookahead: one at the beginning of a pattern is matched on its
own. A word and a digit are those of ECMAScript, which JSON schemas are written in: ASCII alone. Those of Unicode have
thousands of places. Pure. Invariant: what the automaton does not know, or would be large for, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from semcache.runtime.scoped_memo import scoped_cache

_MOST = 9_000  # places of an automaton, with every part counted as often as it is repeated
# Places that a class of characters takes: one of ASCII, one of characters beyond it, and a property such as \p{L}.
_NARROW, _WIDE, _PROPERTY = 4, 8, 150
_ECMA = {r"\w": "[A-Za-z0-9_]", r"\W": "[^A-Za-z0-9_]", r"\d": "[0-9]", r"\D": "[^0-9]"}
_LOOKS = ("(?=", "(?!")
_COUNTED = "0123456789,"


class UnmatchablePattern(ValueError):
    """A pattern that is not matched here."""


class _Part(NamedTuple):
    """A pattern that is searched for, and whether it has to be found."""

    search: Any
    wanted: bool


@dataclass(frozen=True, slots=True)
class SchemaPattern:
    """A pattern that can be searched for. `size` is the number of places of its automata."""

    size: int
    parts: tuple[_Part, ...]

    def is_in(self, value: str) -> bool:
        """Return True if the pattern is found in a value."""
        return all(part.search(value) is part.wanted for part in self.parts)


def size_of(pattern: str) -> int:
    """About how many places the automata of a pattern have. Raises UnmatchablePattern for too many."""
    size = sum(_size(text) for text, _ in _apart(pattern))
    if size > _MOST:
        raise UnmatchablePattern(f"the pattern {pattern[:80]!r} is too large")
    return size


@scoped_cache(maxsize=256)
def compiled(pattern: str) -> SchemaPattern:
    """The pattern, ready to be searched for. Raises UnmatchablePattern."""
    size = size_of(pattern)
    return SchemaPattern(size, tuple([_Part(_automaton(text), wanted) for text, wanted in _apart(pattern)]))


def _automaton(pattern: str) -> Any:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        read = SchemaValidator(core_schema.str_schema(pattern=_plain(pattern), regex_engine="rust-regex"))
    except SchemaError as error:
        raise UnmatchablePattern(f"the pattern {pattern[:80]!r} is not known: {error}") from error
    return read.isinstance_python


def _apart(pattern: str) -> Iterator[tuple[str, bool]]:
    """The lookaheads at the beginning of a pattern, each as a pattern of its own, and what is left of it."""
    anchor, rest = ("^", pattern[1:]) if pattern.startswith("^") else ("", pattern)
    while anchor and rest.startswith(_LOOKS):
        end = _closing(rest)
        if end + 1 < len(rest) and rest[end + 1] in "*+?{":
            raise UnmatchablePattern(f"the pattern {pattern[:80]!r} repeats a lookahead")
        yield f"^(?:{rest[3:end]})", rest[2] == "="
        rest = rest[end + 1 :]
    # Without an alternative at its top, all of what is left stands behind the lookaheads.
    if anchor and len(rest) + 1 < len(pattern) and any(sign == "|" for sign, _ in _at_depth(rest, 0)):
        raise UnmatchablePattern(f"the pattern {pattern[:80]!r} has alternatives beside a lookahead")
    yield anchor + rest, True


def _closing(text: str) -> int:
    """The place of the parenthesis that closes the one at the beginning."""
    for sign, place in _at_depth(text, 1):
        if sign == ")":
            return place
    raise UnmatchablePattern(f"the pattern {text[:80]!r} is not closed")


def _at_depth(pattern: str, wanted: int) -> Iterator[tuple[str, int]]:
    """The signs of a pattern at a depth of its groups, with their places; a closing one is as deep as its group."""
    depth = place = 0
    while place < len(pattern):
        end = _end(pattern, place)
        sign = pattern[place:end]
        depth += sign == "("
        if depth == wanted:
            yield sign, place
        depth -= sign == ")"
        place = end


def _end(pattern: str, place: int) -> int:
    """The place behind the sign at a place: an escaped one, a class in brackets, or a single one."""
    if pattern[place] == "\\":
        closed = pattern.find("}", place) if pattern[place + 1 : place + 3] in ("p{", "P{") else -1
        return closed + 1 if closed > 0 else place + 2
    if pattern[place] != "[":
        return place + 1
    end = place + 2 if pattern[place + 1 : place + 2] == "^" else place + 1
    while end < len(pattern) and pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    return end + 1


def _plain(pattern: str) -> str:
    """The pattern with what is a sign in the classes of Rust alone, and no sign elsewhere, written as a character."""
    made, place = [], 0
    while place < len(pattern):
        end = _end(pattern, place)
        sign = pattern[place:end]
        if sign.startswith("["):
            if "--" in sign or sign in ("[]", "[^]"):
                raise UnmatchablePattern(f"the class {sign[:80]!r} is read in several ways")
            sign = "[" + "".join([f"\\{one}" if one in "[&~" else _ECMA.get(one, one) for one in _signs(sign[1:])])
        made.append(_ECMA.get(sign, sign))
        place = end
    return "".join(made)


def _signs(text: str) -> Iterator[str]:
    """The characters of a class, an escaped one with its backslash."""
    place = 0
    while place < len(text):
        end = place + 2 if text[place] == "\\" else place + 1
        yield text[place:end]
        place = end


def _size(pattern: str) -> int:
    """About how many places the automaton of a pattern has."""
    groups, last, place = [0], 0, 0
    while place < len(pattern):
        end = _end(pattern, place)
        sign = pattern[place:end]
        if sign == "(":
            groups.append(0)
            last = 0
        elif sign == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] += last
        elif sign == "{" and (counted := pattern[end:].partition("}")[0]) and not counted.strip(_COUNTED):
            times = max(int(said[:9]) for said in counted.split(",") if said) if counted.strip(",") else 1
            groups[-1] += last * max(0, times - 1)
            last *= max(1, times)
            end += len(counted) + 1
        else:
            last = _places(sign)
            groups[-1] += last
        place = end
    return sum(groups)


def _places(sign: str) -> int:
    """About how many places a single sign takes."""
    if sign != "." and len(sign) == 1:
        return 1
    if "\\p" in sign or "\\P" in sign:
        return _PROPERTY
    wide = sign == "." or sign.startswith("[^") or not sign.isascii()
    return _WIDE if wide or any(one in sign for one in (r"\W", r"\D", r"\s", r"\S", r"\u", r"\x")) else _NARROW
