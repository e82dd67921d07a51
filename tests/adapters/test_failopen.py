"""What all adapters share: a mistake in the program is an error at once, a fault of the cache later is a miss."""

from __future__ import annotations

import asyncio
import multiprocessing
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from semcache import SemanticCache
from semcache.errors import InvalidArgument
from semcache_failopen import FailOpen, finish_reason, reason_in

ANSWER: dict[str, Any] = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "A tree."}, "finish_reason": "stop"}]
}
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "What is a heap?"}]


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ({"tenant": 7}, "tenant=7 is no string"),
        ({"tenant": None}, "tenant=None is no string"),
        ({"user": 0}, "user=0 is no string"),
        ({"namespace": b"n"}, "namespace=b'n' is no string"),
        ({"tenant": "\ud800"}, "UTF-8"),
    ],
)
def test_a_scope_that_could_never_be_cached_in_is_an_error_and_no_silent_miss(
    tmp_path: Path, scope: dict[str, Any], says: str
) -> None:
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        with pytest.raises(InvalidArgument, match=says):
            FailOpen(cache, **scope)
        FailOpen(cache, tenant="acme", user=None, namespace="")


@pytest.mark.parametrize("folder", ["./cache", Path("cache")], ids=["str", "Path"])
def test_a_folder_is_no_open_cache(folder: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"no open cache: give SemanticCache.open\("):
        FailOpen(folder)


async def test_an_awaited_lookup_that_a_close_overtakes_is_a_miss_and_not_cancelled(
    cache: SemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def find(_: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        await asyncio.Event().wait()

    monkeypatch.setattr(cache.inner, "find", find)
    adapter = FailOpen(cache)
    request = adapter.chat(ASKED, "m", {})
    overtaken, cancelled = [asyncio.create_task(adapter.afind(request)) for _ in range(2)]
    await begun.wait()
    cancelled.cancel()
    await asyncio.to_thread(cache.close)
    assert await overtaken == (None, False)
    with pytest.raises(asyncio.CancelledError):
        await cancelled


def test_an_awaited_lookup_after_a_fork_is_a_miss_and_does_not_hang(cache: SemanticCache) -> None:
    adapter = FailOpen(cache)
    request = adapter.chat(ASKED, "m", {})
    child = multiprocessing.get_context("fork").Process(target=_awaited, args=(adapter, request), daemon=True)
    child.start()
    child.join(60.0)
    alive = child.is_alive()
    child.kill()
    assert (alive, child.exitcode) == (False, 0)


def _awaited(adapter: FailOpen, request: Any) -> None:
    assert asyncio.run(adapter.afind(request)) == (None, False)


def test_clearing_takes_the_entries_of_one_user_where_answers_are_private(tmp_path: Path) -> None:
    # A deletion of one's own would otherwise take the answers of everybody.
    (tmp_path / "pack.yaml").write_text("name: private\nshare: user\ndefaults: {wording: off}\n")
    given: dict[str, Any] = {"policies": str(tmp_path / "pack.yaml"), "embedder": "hashing"}
    with SemanticCache.open(str(tmp_path / "data"), **given) as cache:
        adapters = {user: FailOpen(cache, user=user) for user in ("ann", "bob")}

        def missing() -> list[str]:
            missed = []
            for user, adapter in adapters.items():
                found, served = adapter.find(adapter.chat(ASKED, "m", {}))
                if not served:
                    missed.append(user)
                    adapter.keep(found, ANSWER)
            return missed

        assert missing() == ["ann", "bob"]
        assert len(adapters["ann"].clear()) == 1
        assert missing() == ["ann"]
        of_nobody = FailOpen(cache)
        assert len(of_nobody.clear(user="bob")) == 1
        assert missing() == ["bob"]
        with pytest.raises(InvalidArgument, match="per user"):
            of_nobody.clear()
        assert missing() == []


class Ending(IntEnum):
    """Gemini's, as its protocol buffers number them."""

    STOP = 1
    MAX_TOKENS = 2


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        *((None, True), ("stop", True), ("FinishReason.STOP", True), (1, True), ("1", True), (Ending.STOP, True)),
        *((2, False), (3, False), (2.0, False), ("2", False), (Ending.MAX_TOKENS, False), ({"reason": "x"}, False)),
        *(("MAX_TOKENS", False), ("whatever_is_new", True)),
    ],
)
def test_an_end_that_is_no_normal_one_is_told_in_whatever_form(said: object, whole: bool) -> None:
    assert (finish_reason(said) == "stop") is whole


def test_a_number_of_http_is_no_reason_for_an_end() -> None:
    assert reason_in({"status": 200}) is None
    assert reason_in({"status": "incomplete"}) == "incomplete"
    assert reason_in({"finish_reason": 2, "status": 200}) == 2
