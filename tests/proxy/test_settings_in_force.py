"""Settings that open or close something reach the running proxy, and open or close no more than they say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.proxy.application import Proxy
from semcache.proxy.auth import new_key
from semcache.proxy.http_connection import HttpConnection
from tests.proxy.driver import PACK, Answer, Call, Upstream, ask, completion, numbered_upstream, running
from tests.proxy.test_grey_zone import PARAPHRASE, PROMPT, Judge
from tests.proxy.test_http_connection import HEAD, served
from tests.proxy.test_judged_modes import asking, held_back
from tests.proxy.test_shared_account import two_tenants

PRIVATE = PACK.replace("name: test", "name: test\nshare: user")


@pytest.mark.parametrize("opened", [None, True])
async def test_public_metrics_open_the_metrics_and_no_other_route(tmp_path: Path, opened: bool | None) -> None:
    async with running(numbered_upstream(), tmp_path, auth__public_metrics=opened) as proxy:
        _, key = new_key(lambda size: b"k" * size, 0.0, "acme", "", proxy.cache.salt)
        proxy._process.auth.replace([key])

        async def asked(path: str) -> int:
            return (await Call(proxy, b"", path, method="GET").reply()).status

        described = {path: await asked(path) for path in ("/metrics", "/openapi.json")}
        others = {path: await asked(path) for path in ("/semcache/stats", "/semcache/entries", "/v1/models")}
    assert set(described.values()) == {200 if opened else 401}, described
    assert set(others.values()) == {401}, others


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_caller_names_the_user_by_a_header_only_where_a_setting_says_so(tmp_path: Path, trusted: bool) -> None:
    async with running(numbered_upstream(), tmp_path, pack=PRIVATE, auth__trust_user_header=trusted) as proxy:
        proxy._process.auth._loopback = False
        proxy._process.auth.replace([])
        replies = [await Call(proxy, ask(PROMPT), x_semcache_user=name).reply() for name in ("ann", "ann", "bob")]
    assert ["hit" in reply.cache for reply in replies] == [False, trusted, False]


async def test_all_of_a_shared_account_is_open_where_a_setting_says_so(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([b"{}"]))
    async with two_tenants(tmp_path, upstream, upstream__passthrough="all") as (proxy, key):
        listed = await Call(proxy, path="/v1/files", method="GET", x_semcache_key=key).reply()
    assert (listed.status, [call.path for call in upstream.calls]) == (200, ["/v1/files"])


async def test_one_tenant_gets_no_more_than_what_stores_nothing_where_a_setting_says_so(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([b"{}"]))
    async with running(upstream, tmp_path, upstream__passthrough="stateless") as proxy:
        proxy._process.auth._loopback = False
        proxy._process.auth.replace([])
        files = await Call(proxy, path="/v1/files", method="GET").reply()
        models = await Call(proxy, path="/v1/models", method="GET").reply()
    assert (files.status, files.json["error"]["code"]) == (403, "shared_account")
    assert (models.status, [call.path for call in upstream.calls]) == (200, ["/v1/models"])


async def test_a_client_has_the_seconds_that_the_settings_give_it(tmp_path: Path) -> None:
    seconds: dict[str, Any] = {"header_timeout": 300, "body_timeout": 500, "write_timeout": 700}
    named = {f"server__{name}": value for name, value in seconds.items()}
    async with running(numbered_upstream(), tmp_path, **named) as proxy, served(proxy) as (port, server):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        while not server.server_state.connections:
            await asyncio.sleep(0.01)
        [one] = list(server.server_state.connections)
        assert isinstance(one, HttpConnection)
        now = asyncio.get_running_loop().time()
        assert [one.overdue(now + late) for late in (200, 301)] == [False, True]
        writer.write(HEAD + b"content-length: 4000\r\n\r\n")
        while not one._in_body:
            await asyncio.sleep(0.01)
        now = asyncio.get_running_loop().time()
        assert [one.overdue(now + late) for late in (400, 502)] == [False, True]
        assert one.limits.reply_seconds == 700
        writer.close()


async def test_a_caller_may_forbid_that_a_language_model_is_asked(tmp_path: Path) -> None:
    for headers, asked in (({}, 1), ({"x_semcache_verdicts": "off"}, 0)):
        judge = Judge(1.0)
        async with asking(held_back({}), judge, tmp_path, "first") as proxy:
            for prompt in (PROMPT, PARAPHRASE):
                await Call(proxy, ask(prompt), **headers).reply()
            await proxy.cache.settle()
        assert len(judge.asked) == asked, headers


async def test_a_caller_may_not_have_a_language_model_asked_where_the_pack_says_never(tmp_path: Path) -> None:
    judge = Judge(1.0)
    async with asking(held_back({}), judge, tmp_path, '"off"') as proxy:
        for prompt in (PROMPT, PARAPHRASE):
            await Call(proxy, ask(prompt), x_semcache_verdicts="first").reply()
        await proxy.cache.settle()
    assert judge.asked == []


@asynccontextmanager
async def _priced(folder: Path) -> AsyncIterator[Proxy]:
    prices = folder / "prices.yaml"
    prices.write_text("m: [100, 1000]\n")
    async with running(numbered_upstream(), folder, prices=str(prices)) as proxy:
        yield proxy


async def test_the_metrics_tell_what_was_spent_and_what_a_hit_saved(tmp_path: Path) -> None:
    async with _priced(tmp_path) as proxy:
        for _ in range(3):
            await Call(proxy, ask(PROMPT)).reply()
        await proxy.cache.settle()
        lines = (await Call(proxy, b"", "/metrics", method="GET").reply()).body.decode().splitlines()
    told = dict(line.rsplit(" ", 1) for line in lines if line.startswith("semcache_s") and "_cost_usd_total" in line)
    # Five tokens at 100 dollars a million and seven at 1,000, bought once and spared twice.
    assert float(told["semcache_spent_cost_usd_total"]) == pytest.approx(0.0075)
    assert float(told["semcache_saved_cost_usd_total"]) == pytest.approx(0.015)


async def test_no_cache_on_the_way_keeps_a_hit(tmp_path: Path) -> None:
    item = {"object": "embedding", "index": 0, "embedding": [0.5]}
    vectors = {"object": "list", "data": [item], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def answer(outbound: Any) -> Answer:
        return Answer([msgspec.json.encode(vectors) if outbound.path == "/v1/embeddings" else completion()])

    asked: list[tuple[str, Any]] = [
        ("/v1/chat/completions", ask(PROMPT)),
        ("/v1/chat/completions", ask(PROMPT, stream=True)),
        ("/v1/embeddings", {"model": "m", "input": PROMPT}),
    ]
    async with running(Upstream(answer), tmp_path) as proxy:
        for path, body in asked:
            await Call(proxy, body, path).reply()
            for _ in range(2):  # made of the entry, and then of the bytes that were replayed a moment ago
                hit = await Call(proxy, body, path).reply()
                assert hit.cache["hit"] is True
                assert hit.header("cache-control") == "private, no-store", (path, body)
