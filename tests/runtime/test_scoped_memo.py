"""What one tenant has had read and embedded is not remembered for another."""

from __future__ import annotations

import asyncio
import re
import weakref
from contextvars import copy_context
from pathlib import Path

import numpy as np
import pytest

import semcache
from semcache import AsyncSemanticCache
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.models.embedders.memo import MemoEmbedder
from semcache.runtime import scoped_memo
from semcache.runtime.memo_scopes import MemoScopes
from semcache.types import Scope

DECORATED = re.compile(r"@lru_cache[^\n]*\ndef (\w+)")
# Functions of one word, of audits, or of what a pack says: nobody's text can be told by them.
OF_WORDS = {
    *("stem", "affixed", "third_person", "past_tense", "is_base"),
    *(
        "_stems",
        "person_names",
        "_panel",
        "_speller",
        "_pairs",
        "_total",
        "_rank",
        "mark_of_rules",
        "_compiled",
        "_named",
        "_needed",
    ),
}


class Reading:
    """What a function read in a text."""

    def __init__(self, text: str) -> None:
        self.text = text


async def test_the_scope_is_part_of_every_key() -> None:
    calls: list[str] = []

    @scoped_memo.scoped_cache(maxsize=10)
    def read(text: str) -> str:
        calls.append(text)
        return text.upper()

    async def ask(tenant: str) -> str:
        scoped_memo.enter(tenant, None, "")
        return await asyncio.to_thread(read, "secret plan")

    for tenant in ("a", "a", "b", "b", "a"):
        assert await asyncio.create_task(ask(tenant)) == "SECRET PLAN"
    assert len(calls) == 2


@pytest.mark.parametrize("length", [10, 256, 257, 1024, 1025, 20_000, 200_000])
def test_the_longer_texts_are_the_fewer_readings_of_them_are_held(length: int) -> None:
    """Conversations about documents of 28 KB took a gigabyte of a worker once four thousand turns had been read."""
    alive: weakref.WeakSet[Reading] = weakref.WeakSet()

    @scoped_memo.scoped_cache(maxsize=1024)
    def read(text: str) -> Reading:
        reading = Reading(text)
        alive.add(reading)
        return reading

    for number in range(1100):
        read(f"{number:09d} " + "x" * (length - 10))
    assert len(alive) * length <= 1024 * 256
    assert len(alive) >= max(1, 1024 * 64 // length) or len(alive) == 1024
    assert read.cache_info().currsize == len(alive)  # type: ignore[attr-defined]


async def test_the_longest_texts_are_read_once_a_request_and_then_forgotten() -> None:
    alive: weakref.WeakSet[Reading] = weakref.WeakSet()
    calls = 0

    @scoped_memo.scoped_cache(maxsize=1024)
    def read(text: str) -> Reading:
        nonlocal calls
        calls += 1
        reading = Reading(text)
        alive.add(reading)
        return reading

    async def ask() -> bool:
        scoped_memo.enter("a", None, "")
        text = "x" * (1 << 19)
        return read(text) is await asyncio.to_thread(read, text)

    for _ in range(3):
        assert await asyncio.create_task(ask())
    assert calls == 3
    async with asyncio.timeout(30):  # until the loop and the thread let go of the last task
        while alive:
            await asyncio.sleep(0.01)


def test_what_is_read_within_a_scope_is_remembered_for_it_alone_and_the_one_before_goes_on() -> None:
    calls: list[tuple[str, str]] = []

    @scoped_memo.scoped_cache(maxsize=8)
    def read(text: str) -> str:
        calls.append((scoped_memo.current(), text))
        return text

    def work() -> None:
        scoped_memo.enter("a")
        read("one")
        with pytest.raises(ZeroDivisionError), scoped_memo.within("b", None, "n"):
            read("one")
            read("x" * (1 << 19))
            raise ZeroDivisionError
        assert scoped_memo.current() == "a"
        read("one")
        with MemoScopes().within(Scope("b", None, "n")):
            read("one")
        with MemoScopes(shared=True).within(Scope("b", None, "n")):
            assert scoped_memo.current() == ""

    copy_context().run(work)
    assert [where for where, text in calls if text == "one"] == ["a", "b\0\0n"]


async def test_another_tenants_text_is_embedded_anew(tmp_path: Path) -> None:
    embedded: list[str] = []

    class Counting(HashingEmbedder):
        async def embed(self, texts):  # type: ignore[no-untyped-def]
            embedded.extend(texts)
            return await super().embed(texts)

    async with await AsyncSemanticCache.open(str(tmp_path), embedder=MemoEmbedder(Counting(64)), seed=1) as opened:
        embedded.clear()
        for tenant in ("a", "a", "b"):
            await opened.lookup("How tall is the tower of Pisa?", tenant=tenant)
    assert len(embedded) == 2


@pytest.mark.parametrize("room", ["request", "matching", "agents"])
def test_nothing_that_reads_texts_remembers_them_for_all(room: str) -> None:
    """Every `lru_cache` of these rooms is on a list of functions that see no text of a request."""
    for path in (Path(semcache.__file__).parent / room).rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert set(DECORATED.findall(source)) <= OF_WORDS, path.name
        assert "= lru_cache(" not in source, path.name


def test_a_vector_of_a_memo_is_its_own() -> None:
    async def ask() -> None:
        memo = MemoEmbedder(HashingEmbedder(8))
        first = await memo.embed(["x"])
        first[:] = 0
        assert np.any(await memo.embed(["x"]))

    asyncio.run(ask())


async def test_an_operator_may_let_tenants_share_what_was_embedded(tmp_path: Path) -> None:
    embedded: list[str] = []

    class Counting(HashingEmbedder):
        async def embed(self, texts):  # type: ignore[no-untyped-def]
            embedded.extend(texts)
            return await super().embed(texts)

    opening = Opening(data=str(tmp_path), embedder=MemoEmbedder(Counting(64)), seed=1, share_memos=True)
    async with AsyncSemanticCache(await open_components(opening)) as opened:
        embedded.clear()
        for tenant in ("a", "b"):
            await opened.lookup("How tall is the tower of Pisa?", tenant=tenant)
    assert len(embedded) == 1


def test_what_is_given_beside_the_text_is_part_of_the_key() -> None:
    calls: list[tuple[str, int]] = []

    @scoped_memo.scoped_cache(maxsize=10, usual=4)
    def repeated(text: str, times: int) -> str:
        calls.append((text, times))
        return text * times

    for text in ("ab", "a longer text"):
        assert [repeated(text, 2), repeated(text, 3), repeated(text, 2)] == [text * 2, text * 3, text * 2]
    assert calls == [("ab", 2), ("ab", 3), ("a longer text", 2), ("a longer text", 3)]
