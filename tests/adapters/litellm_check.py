"""What the LiteLLM cache has to do, run by the interpreter of an environment that has litellm (it pins openai<3).

Prints one line a check and ends with status 1 when one fails.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import uvicorn

from semcache import SemanticCache
from semcache.errors import StoreError
from semcache.upstream.backends.echo import echo_app
from semcache_litellm import LiteLLMCache

ASK = "How do I reset my password?"
PATIENCE = 240.0  # seconds; a busy machine is no fault of the cache
AGAIN = "How do I reset my password, please?"
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]


class Bench:
    """One cache, one upstream."""

    def __init__(self, url: str, cache: SemanticCache) -> None:
        self.url, self.cache = url, cache
        self.adapter = litellm.cache = LiteLLMCache(cache)

    def call(self, text: str = ASK, history: tuple[dict[str, Any], ...] = (), **fields: Any) -> Any:
        return litellm.completion(**self._call(text, history, fields))

    async def acall(self, text: str = ASK, history: tuple[dict[str, Any], ...] = (), **fields: Any) -> Any:
        return await litellm.acompletion(**self._call(text, history, fields))

    async def kept(self, entries: int) -> None:
        """Wait until so many answers are kept; LiteLLM keeps them in a task or a thread of its own."""
        deadline = time.monotonic() + PATIENCE
        while self.cache.stats()["total"]["entries"] < entries:
            assert time.monotonic() < deadline, "the answer is not kept"
            await asyncio.sleep(0.02)

    def _call(self, text: str, history: tuple[dict[str, Any], ...], fields: dict[str, Any]) -> dict[str, Any]:
        messages = [*history, {"role": "user", "content": text}]
        fixed = {"api_base": f"{self.url}/v1", "api_key": "sk-x", "num_retries": 0, "model": "openai/echo"}
        return {**fixed, "messages": messages, **fields}

    @property
    def asked(self) -> int:
        with urllib.request.urlopen(f"{self.url}/echo/stats") as reply:
            return int(json.load(reply)["paths"].get("/v1/chat/completions", 0))


def said(reply: Any) -> str:
    return str(reply.choices[0].message.content)


def streamed(chunks: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def a_paraphrase_is_answered_without_asking(bench: Bench) -> None:
    replies = [bench.call(), bench.call(), bench.call(AGAIN)]
    assert len({said(reply) for reply in replies}) == 1
    assert replies[2].usage.total_tokens == replies[0].usage.total_tokens > 0
    assert bench.asked == 1


def another_request_is_asked(bench: Bench) -> None:
    bench.call()
    for number, other in enumerate(
        (
            {"history": ({"role": "system", "content": "Answer in French."},)},
            {"model": "openai/echo-large"},
            {"temperature": 0.5},
            {"tools": TOOLS},
            {"metadata": {"user_api_key": "another"}},
            {"cache": {"namespace": "elsewhere"}},
            {"cache": {"no-cache": True}},
            {"extra_body": {"top_k": 3}},
        ),
        start=2,
    ):
        bench.call(**other)
        assert bench.asked == number, other
    bench.call(user="ann")
    assert bench.asked == 9, "a user is no reason to ask again, unless the policy says so"


def streams_are_kept_and_replayed(bench: Bench) -> None:
    fresh = streamed(bench.call(stream=True))
    asyncio.run(bench.kept(1))
    assert streamed(bench.call(AGAIN, stream=True)) == fresh == said(bench.call())
    assert bench.asked == 1


def tool_calls_survive(bench: Bench) -> None:
    replies = [bench.call("How does a weather front form?", tools=TOOLS) for _ in range(2)]
    calls = [reply.choices[0].message.tool_calls[0] for reply in replies]
    assert calls[0].function.name == calls[1].function.name == "weather"
    assert calls[0].function.arguments == calls[1].function.arguments
    assert bench.asked == 1


def long_conversations_are_cached(bench: Bench) -> None:
    turns = tuple({"role": role, "content": f"{role} {n}"} for n in range(4) for role in ("user", "assistant"))
    assert said(bench.call(history=turns)) == said(bench.call(history=turns))
    assert bench.asked == 1


def async_calls_hit(bench: Bench) -> None:
    async def main() -> None:
        fresh = said(await bench.acall())
        await bench.kept(1)
        assert said(await bench.acall(AGAIN)) == fresh
        stream = await bench.acall(AGAIN, stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == fresh
        stream = await bench.acall("Why is the sky blue?", stream=True)
        fresh = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        await bench.kept(2)
        assert said(await bench.acall("Why is the sky blue?")) == fresh

    asyncio.run(main())
    assert bench.asked == 2


def a_failing_cache_changes_nothing(bench: Bench) -> None:
    async def broken(*_: object, **__: object) -> Any:
        raise StoreError("the disk is gone")

    logging.getLogger("semcache.adapters").setLevel(logging.ERROR)
    fresh = said(bench.call())
    bench.cache.inner.consult = broken  # type: ignore[method-assign]
    assert said(bench.call()) == fresh
    assert bench.adapter.faults >= 1
    assert said(bench.call(cache={"ttll": 1})) == fresh
    assert said(bench.call(cache={"category": "nosuch"})) == fresh
    bench.cache.close()
    assert said(bench.call()) == fresh
    assert bench.asked == 5


CHECKS: tuple[Callable[[Bench], None], ...] = (
    a_paraphrase_is_answered_without_asking,
    another_request_is_asked,
    streams_are_kept_and_replayed,
    tool_calls_survive,
    long_conversations_are_cached,
    async_calls_hit,
    a_failing_cache_changes_nothing,
)


@contextmanager
def served() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(echo_app(), "127.0.0.1", 0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(5)


def opened(folder: Path) -> SemanticCache:
    pack = folder / "pack.yaml"
    pack.write_text(
        "{name: adapters, defaults: {strategy: static, threshold: 0.8, guards: [numbers, negation], audit: 0}}"
    )
    return SemanticCache.open(str(folder / "data"), policies=str(pack), embedder="hashing", timeout=PATIENCE)


def main() -> int:
    failed = 0
    for check in CHECKS:
        with (
            tempfile.TemporaryDirectory() as folder,
            served() as url,
            opened(Path(folder)) as cache,
        ):
            try:
                check(Bench(url, cache))
                print(f"ok     {check.__name__}")
            except Exception:
                failed += 1
                print(f"FAILED {check.__name__}\n{traceback.format_exc()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
