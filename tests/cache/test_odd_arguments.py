"""What cannot be written as JSON is refused with the library's own error, whatever it is that JSON cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache, SemanticCache
from semcache.errors import InvalidArgument

MANY_DIGITS = 10**5000


def nested(levels: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SemanticCache]:
    with SemanticCache.open(tmp_path, seed=1) as opened:
        yield opened


@pytest.mark.parametrize("params", [{"seed": MANY_DIGITS}, {"tools": nested(5000)}], ids=["digits", "nesting"])
def test_arguments_that_no_json_holds_are_refused(cache: SemanticCache, params: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="no chat request"):
        cache.lookup("How do I pay?", model="m", **params)


@pytest.mark.parametrize("extra", [MANY_DIGITS, nested(5000)], ids=["digits", "nesting"])
def test_answers_that_no_json_holds_are_refused(cache: SemanticCache, extra: Any) -> None:
    found = cache.lookup("How do I pay?", model="m")
    with pytest.raises(InvalidArgument, match="cannot be written as JSON"):
        cache.record(found, {"choices": [], "extra": extra})


@pytest.mark.parametrize("pack", ["default", "private"])
@pytest.mark.parametrize(
    "odd",
    [
        {"user": b"x"}, {"user": 5}, {"user": "\ud800"}, {"tenant": b"x"}, {"namespace": None}, {"category": 5},
        {"model": b"x"}, {"model": None}, {"stop": b"x"}, {"stop": ["a", b"x"]}, {"stop": [float("nan")]},
        {"metadata": {"a": {"b": float("inf")}}}, {"seed": {1, 2}},
    ],
    ids=str,
)  # fmt: skip
def test_what_would_be_read_as_something_else_is_refused(pack: str, odd: dict[str, Any]) -> None:
    with SemanticCache.open("memory://", policies=pack) as opened:
        for ask in (opened.lookup, opened.explain):
            with pytest.raises(InvalidArgument):
                ask("How do I pay?", **odd)


def test_a_message_that_json_would_write_as_another_text_is_refused(cache: SemanticCache) -> None:
    with pytest.raises(InvalidArgument, match="messages holds bytes"):
        cache.lookup([{"role": "user", "content": b"How do I pay?"}])


@pytest.mark.parametrize("misspelt", ["tennant", "tenant_id", "users", "name_space", "categories"])
def test_a_misspelt_caller_shares_no_answers_with_everybody(cache: SemanticCache, misspelt: str) -> None:
    for ask in (cache.lookup, cache.explain):
        with pytest.raises(InvalidArgument, match=f"'{misspelt}' .* did you mean"):
            ask("How do I pay?", **{misspelt: "acme"})


def test_a_field_of_a_vendor_with_the_name_of_a_caller_is_passed_and_keeps_answers_apart(cache: SemanticCache) -> None:
    cache.record(cache.lookup("How do I pay?", user_id="ann"), "By card.")
    assert cache.lookup("How do I pay?", user_id="ann").answer == "By card."
    assert cache.lookup("How do I pay?", user_id="bo").answer is None


def test_a_report_about_what_was_found_is_refused_and_not_lost(cache: SemanticCache) -> None:
    found = cache.lookup("How do I pay?")
    with pytest.raises(InvalidArgument, match=r"give `found.entry_id`"):
        cache.feedback(found, correct=False)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"give `found.entry_id`"):
        cache.withdraw(found)  # type: ignore[arg-type]
    assert not cache.feedback(None, correct=False)


def test_bytes_are_no_prompt_and_an_object_is_no_answer(cache: SemanticCache) -> None:
    with pytest.raises(InvalidArgument, match="not bytes"):
        cache.lookup(b"How do I pay?")  # type: ignore[arg-type]

    class Completion:
        def model_dump(self) -> dict[str, Any]:
            return {}

    with pytest.raises(InvalidArgument, match="not Completion: give its `model_dump"):
        cache.record(cache.lookup("How do I pay?"), Completion())  # type: ignore[arg-type]


def test_a_cache_is_opened_by_open_and_says_so() -> None:
    for kind in (SemanticCache, AsyncSemanticCache):
        with pytest.raises(InvalidArgument, match=rf"{kind.__name__}.open\(folder\)"):
            kind("folder")  # type: ignore[arg-type]


def test_what_was_found_shows_no_texts(cache: SemanticCache) -> None:
    cache.record(cache.lookup("How do I pay?"), "By card.")
    shown = repr(cache.lookup("How do I pay?"))
    assert shown.startswith("Found(outcome='exact', why='exact', score=")
    assert "pay" not in shown
    assert "card" not in shown
