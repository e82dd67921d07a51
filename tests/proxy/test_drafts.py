"""What was answered before, and may not be served, is a guess at the answer: verified, never believed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from semcache.protocols import Outbound, Reply
from tests.proxy.driver import Answer, Call, Clock, Upstream, ask, completion, running

PROMPT = "How do I reset the password of the router?"
NEAR = "How do I reset the language of the printer and the router?"
CAREFUL = {"x-semcache-category": "careful"}


class Guessing(Upstream):
    """An upstream that asks for the guess of every call, as the local engine does."""

    guesses: list[str]

    async def send(self, outbound: Outbound) -> Reply:
        assert outbound.draft is not None
        self.guesses.append(await outbound.draft())
        return await super().send(outbound)


@pytest.fixture
def upstream() -> Guessing:
    made = Guessing(lambda _: Answer([completion(f"Answer {len(made.calls)}.")]))
    made.guesses = []
    return made


async def test_what_was_asked_before_and_what_is_like_it_are_guesses(upstream: Guessing, tmp_path: Path) -> None:
    clock = Clock()
    async with running(upstream, tmp_path, clock=clock) as proxy:
        for prompt in (PROMPT, NEAR):
            await Call(proxy, ask(prompt), **CAREFUL).reply()
        await Call(proxy, ask(PROMPT), **CAREFUL, **{"cache-control": "no-cache"}).reply()
        clock.now += 8 * 86400
        await Call(proxy, ask(PROMPT), **CAREFUL).reply()
    assert upstream.guesses == ["", "Answer 1.", "Answer 1.", "Answer 3."]


async def test_another_tenants_answers_are_no_guesses(upstream: Guessing, tmp_path: Path) -> None:
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT), **CAREFUL, **{"x-semcache-namespace": "one"}).reply()
        for prompt in (PROMPT, NEAR):
            await Call(proxy, ask(prompt), **CAREFUL, **{"x-semcache-namespace": "other"}).reply()
    assert upstream.guesses == ["", "", "Answer 2."]


async def test_a_store_that_is_down_costs_the_guess_alone(
    upstream: Guessing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT), **CAREFUL).reply()

        async def broken(*_: Any) -> None:
            raise OSError("no disk")

        monkeypatch.setattr(proxy.cache.components.store, "get", broken)
        monkeypatch.setattr(proxy.cache.components.live.hot, "get", lambda _: None)
        reply = await Call(proxy, ask(NEAR), **CAREFUL).reply()
    assert reply.status == 200
    assert upstream.guesses == ["", ""]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Any]:
    pytest.importorskip("torch", reason="needs the extra `engine`")
    pytest.importorskip("transformers", reason="needs the extra `engine`")
    from eval.engine_models import make
    from semcache.upstream.backends import open_backend

    made = open_backend(f"engine:{make(tmp_path / 'model')}", secret=lambda: b"s")
    await (await made.send(Outbound("GET", "/v1/models", [], b""))).close()  # the model is loaded now
    yield made
    await made.close()


async def test_the_engine_says_the_same_again_and_was_told_it(engine: Any, tmp_path: Path) -> None:
    async with running(engine, tmp_path) as proxy:
        asked = ask(PROMPT, temperature=0, max_tokens=60)
        whole = await Call(proxy, asked, **{"cache-control": "no-store"}).reply()
        asked["stop"] = [whole.json["choices"][0]["message"]["content"][30:33]]
        first = (await Call(proxy, asked).reply()).json
        again = await Call(proxy, asked, **{"cache-control": "no-cache"}).reply()
    assert again.cache["detail"] == "no-cache"
    assert again.json["choices"] == first["choices"]
    details = again.json["usage"]["completion_tokens_details"]
    assert details["accepted_prediction_tokens"] > 0
    assert first["usage"]["completion_tokens_details"]["accepted_prediction_tokens"] == 0
