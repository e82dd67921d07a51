"""Patterns that are compiled when they are first tried: none has a mistake, and none is compiled too soon."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

import semcache.matching
import semcache.request
from semcache.request.kinds.patterns import CuedPatterns, rule
from semcache.runtime.late_pattern import LatePattern, late


def test_every_late_pattern_of_the_package_compiles() -> None:
    found: list[LatePattern] = []
    for room in (semcache.request, semcache.matching):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            found += _patterns_in(list(vars(importlib.import_module(module.name)).values()))
    assert len(found) > 500
    for one in found:
        re.compile(one.pattern, one.flags)


def _patterns_in(value: object) -> Iterator[LatePattern]:
    """The late patterns in a value, its parts and theirs."""
    if isinstance(value, LatePattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _patterns_in(part)
    elif isinstance(value, CuedPatterns):
        yield from _patterns_in(list(vars(value).values()))
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _patterns_in([getattr(value, field.name) for field in fields(value)])


def test_a_pattern_is_compiled_at_its_first_use_and_no_sooner() -> None:
    wrong = late("(")
    with pytest.raises(re.error):
        wrong.search("text")
    right = late("(?P<word>b+)", re.IGNORECASE)
    assert "search" not in vars(right)
    found = right.search("aBBa")
    assert found is not None
    assert (found["word"], right.sub("c", "abba"), right.split("abba")) == ("BB", "aca", ["a", "bb", "a"])
    assert vars(right)["search"].__self__ is vars(right)["sub"].__self__


def test_a_pattern_is_not_compiled_for_a_text_without_its_words() -> None:
    cued = CuedPatterns(rule("ferry", "("))
    assert not cued.match("how do i bake bread", frozenset(("how", "do", "i", "bake", "bread")))
    with pytest.raises(re.error):
        cued.match("is the ferry late", frozenset(("is", "the", "ferry", "late")))


def test_an_unknown_attribute_is_refused() -> None:
    with pytest.raises(AttributeError, match="reach"):
        late("a").reach  # type: ignore[attr-defined]  # noqa: B018
