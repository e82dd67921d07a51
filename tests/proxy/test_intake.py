"""Bodies are read for known callers alone, within what may be held, and large ones take turns."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest

from semcache.errors import RequestRejected
from semcache.proxy.auth import Authenticator, new_key
from semcache.proxy.intake import BytesInFlight, Hold, Intake, Turns
from semcache.proxy.origin import TrustedHosts, check_json
from tests.proxy.driver import CHAT, Call, ask, numbered_upstream, running

SALT = b"s" * 32
HOST = (b"host", b"localhost:8080")


def scope(*headers: tuple[bytes, bytes], path: str = CHAT) -> dict[str, object]:
    return {"headers": [HOST, *headers], "path": path, "method": "POST"}


async def unread() -> dict[str, object]:
    raise AssertionError("the body was read")


async def test_nothing_of_a_body_is_read_for_who_has_no_key(tmp_path: Path) -> None:
    upstream = numbered_upstream()
    async with running(upstream, tmp_path, auth__required=True) as proxy:
        for path in (CHAT, "/v1/embeddings", "/v1/messages", "/v1/files", "/semcache/feedback"):
            sent: list[dict[str, object]] = []

            async def send(message: dict[str, object], kept: list[dict[str, object]] = sent) -> None:
                kept.append(message)

            asked = {"type": "http", "query_string": b"", "raw_path": path.encode(), **scope(path=path)}
            await proxy(asked, unread, send)
            assert sent[0]["status"] == 401, path


async def test_the_bytes_of_all_tenants_and_of_one_have_an_end() -> None:
    budget = BytesInFlight(100, 60, patience=0.01)
    one, two = Hold(budget, "a"), Hold(budget, "b")
    await one.grow(60)
    with pytest.raises(RequestRejected, match="in flight"):
        await Hold(budget, "a").grow(1)
    await two.grow(40)
    with pytest.raises(RequestRejected):
        await Hold(budget, "c").grow(1)
    one.release()
    await Hold(budget, "c").grow(60)
    assert budget.held == 100


async def test_what_does_not_fit_waits_until_it_does() -> None:
    budget = BytesInFlight(100, 60, patience=60)
    first, second = Hold(budget, "a"), Hold(budget, "a")
    await first.grow(50)
    waiting = asyncio.create_task(second.grow(50))
    await asyncio.sleep(0)
    assert not waiting.done()
    first.release()
    await waiting
    assert budget.held == 50


async def test_an_inflated_body_counts_as_much_as_it_is() -> None:
    keys = Authenticator([], SALT)
    budget = BytesInFlight(10 << 20, 3 << 20, patience=0.01)
    intake = Intake(keys, TrustedHosts(), budget, 20 << 20)
    packed = gzip.compress(b" " * (5 << 20))

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": packed, "more_body": False}

    hold = intake.hold("a")
    await hold.grow(1)
    with pytest.raises(RequestRejected, match="in flight"):
        await intake.body(scope((b"content-encoding", b"gzip")), receive, hold)
    hold.release()
    assert budget.held == 0


async def test_tenants_take_turns_however_many_requests_one_of_them_has() -> None:
    turns, order = Turns(), list[str]()

    async def work(tenant: str) -> None:
        async with turns.turn(tenant):
            order.append(tenant)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(work(name)) for name in ["a"] * 5 + ["b", "c"]]
    await asyncio.gather(*tasks)
    assert order.index("b") <= 2
    assert order.index("c") <= 3
    assert len(order) == 7


async def test_who_gives_up_waiting_gives_up_the_turn() -> None:
    turns = Turns()
    async with turns.turn("a"):
        waiting = asyncio.create_task(turns.turn("b").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with turns.turn("c"):
        pass


@pytest.mark.parametrize("path", [CHAT, "/v1/models", "/metrics", "/semcache/stats", "/openapi.json"])
@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example"}, {"host": "evil.example:8080"}, {"origin": "http://evil.example"}, {"origin": "null"}],
)
async def test_without_keys_a_web_page_of_elsewhere_is_refused(
    tmp_path: Path, path: str, headers: dict[str, str]
) -> None:
    upstream = numbered_upstream()
    async with running(upstream, tmp_path) as proxy:
        method = "POST" if path == CHAT else "GET"
        refused = await Call(proxy, ask("hello"), path, method=method, **headers).reply()
        health = await Call(proxy, b"", "/livez", method="GET", **headers).reply()
    assert refused.status == 403
    assert refused.json["error"]["code"] == "forbidden"
    assert health.status == 200
    assert upstream.calls == []


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/files", "/metrics", "/semcache/usage"])
async def test_a_web_page_of_elsewhere_needs_a_key_where_others_of_this_machine_do_not(
    tmp_path: Path, path: str
) -> None:
    """`auth.required: false` lets who has no key in beside those who have one."""
    upstream = numbered_upstream()
    async with running(upstream, tmp_path, auth__required=False) as proxy:
        plain, key = new_key(lambda size: b"k" * size, 0.0, "acme", "", proxy.cache.salt, admin=True)
        proxy._process.auth.replace([key])
        call = {"method": "POST" if path.startswith("/v1/") else "GET"}
        for page in ({"host": "evil.example"}, {"host": "localhost", "origin": "https://evil.example"}):
            assert (await Call(proxy, ask("hello"), path, **call, **page).reply()).status == 403, page
        assert upstream.calls == []
        known = await Call(proxy, ask("hello"), path, **call, host="cache.lan", x_semcache_key=plain).reply()
        local = await Call(proxy, ask("hello"), path, **call, host="localhost:8080").reply()
        assert (known.status, local.status) == (200, 200)


@pytest.mark.parametrize(
    "headers",
    [{"host": "127.0.0.1:9"}, {"host": "[::1]:8080"}, {"host": "LOCALHOST"}, {"origin": "http://localhost:3000"}],
)
async def test_this_machine_is_itself_by_any_of_its_names(tmp_path: Path, headers: dict[str, str]) -> None:
    async with running(numbered_upstream(), tmp_path) as proxy:
        assert (await Call(proxy, ask("hello"), **headers).reply()).status == 200


def test_allowed_hosts_are_the_only_ones_where_they_are_named() -> None:
    hosts = TrustedHosts(["cache.internal"])
    hosts.check([(b"host", b"cache.internal:8080")], keyless=False)
    hosts.check([HOST], keyless=True)
    for bad in ([(b"host", b"other")], [], [(b"host", b"cache.internal"), (b"host", b"other")]):
        with pytest.raises(RequestRejected):
            hosts.check(bad, keyless=False)
    TrustedHosts(["*"]).check([(b"host", b"any")], keyless=True)
    TrustedHosts().check([(b"host", b"any")], keyless=False)


@pytest.mark.parametrize("kind", [b"text/plain", b"application/x-www-form-urlencoded", b"", b"application/jsonp"])
def test_a_form_of_a_web_page_is_no_json(kind: bytes) -> None:
    with pytest.raises(RequestRejected, match="application/json"):
        check_json([(b"content-type", kind)] if kind else [])


@pytest.mark.parametrize("kind", [b"application/json", b"Application/JSON; charset=utf-8", b"application/vnd.x+json"])
def test_json_is_json(kind: bytes) -> None:
    check_json([(b"content-type", kind)])


async def test_metrics_and_the_description_are_for_administrators_once_there_are_keys(tmp_path: Path) -> None:
    data = f"sqlite:///{tmp_path / 'keys.db'}"
    async with running(numbered_upstream(), tmp_path, store__url=data) as proxy:
        assert (await Call(proxy, b"", "/metrics", method="GET").reply()).status == 200
        plain, key = new_key(lambda size: b"k" * size, 0.0, "acme", "", proxy.cache.salt)
        admin, other = new_key(lambda size: b"a" * size, 0.0, "acme", "", proxy.cache.salt, admin=True)
        proxy._process.auth.replace([key, other])
        for path in ("/metrics", "/openapi.json"):
            none = await Call(proxy, b"", path, method="GET").reply()
            known = await Call(proxy, b"", path, method="GET", authorization=f"Bearer {plain}").reply()
            chief = await Call(proxy, b"", path, method="GET", authorization=f"Bearer {admin}").reply()
            assert (none.status, known.status, chief.status) == (401, 403, 200), path


@pytest.mark.parametrize("path", ["/semcache/feedback", "/semcache/invalidate"])
async def test_half_a_surrogate_pair_is_a_mistake_of_the_client(tmp_path: Path, path: str) -> None:
    async with running(numbered_upstream(), tmp_path) as proxy:
        body = b'{"id": "\\ud800", "tags": ["\\ud800"], "correct": true}'
        assert (await Call(proxy, body, path).reply()).status in (400, 422)
