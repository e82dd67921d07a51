"""Tenants that share the server's own key see nothing that others keep upstream under it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from semcache.errors import RequestRejected
from semcache.proxy.application import Proxy
from semcache.proxy.auth import Authenticator, Caller, new_key
from semcache.proxy.shared_account import SharedAccount
from semcache.storage.stores import open_store
from semcache.types import ApiKey
from tests.proxy.driver import Answer, Call, Upstream, running

TENANT = Caller("acme", key_id="a", consumed=frozenset((b"authorization",)))
KEPT = [
    ("GET", "/v1/files"),
    ("DELETE", "/v1/files/file-1"),
    ("GET", "/v1/batches"),
    ("GET", "/v1/chat/completions"),
    ("POST", "/v1/messages/batches"),
    ("GET", "/v1/models/../files"),
    ("GET", "/v1/models/x/.."),
    ("POST", "/v1/audio/../files"),
    ("POST", "/v1/vector_stores"),
    ("DELETE", "/v1/models/ft:mine"),
    ("POST", "/v1/whatever-is-new"),
]
NOTHING_KEPT = [
    ("GET", "/v1/models"),
    ("GET", "/v1/models/meta/llama-3:8b"),
    ("POST", "/v1/audio/speech"),
    ("POST", "/v1/images/generations"),
    ("POST", "/v1/moderations"),
    ("POST", "/v1/messages/count_tokens"),
]


def keys(*tenants: str) -> Authenticator:
    made = [ApiKey(f"k{n}", bytes([n]) * 32, tenant, "", 0.0, False, False) for n, tenant in enumerate(tenants)]
    return Authenticator(made, b"salt")


def allowed(account: SharedAccount, method: str, path: str, caller: Caller = TENANT, *shown: bytes) -> bool:
    headers = [(name, b"key") for name in (b"authorization", *shown)]
    try:
        account.check({"method": method, "path": path, "headers": headers}, caller)
    except RequestRejected:
        return False
    return True


SHARED = SharedAccount(keys("acme", "globex"), own_key=True)


@pytest.mark.parametrize(("method", "path"), KEPT)
def test_what_is_kept_upstream_is_not_shown(method: str, path: str) -> None:
    assert not allowed(SHARED, method, path)


@pytest.mark.parametrize(("method", "path"), NOTHING_KEPT)
def test_what_keeps_nothing_is_passed_on(method: str, path: str) -> None:
    assert allowed(SHARED, method, path)


def test_who_alone_has_the_account_may_use_all_of_it() -> None:
    assert allowed(SharedAccount(keys("acme", "acme"), own_key=True), "GET", "/v1/files")
    assert allowed(SharedAccount(keys("acme", "globex")), "GET", "/v1/files"), "each sends a key of its own"
    assert allowed(SHARED, "GET", "/v1/files", Caller("ops", admin=True))
    assert allowed(SharedAccount(keys("acme", "globex"), "all", own_key=True), "GET", "/v1/files")


def test_a_key_that_fills_in_is_shared_by_those_who_show_none() -> None:
    account = SharedAccount(keys("acme", "globex"), fallback=True)
    assert not allowed(account, "GET", "/v1/files")
    assert allowed(account, "GET", "/v1/files", TENANT, b"x-api-key")


@pytest.mark.parametrize("listed", ["api-key", "keep-alive, API-Key", "x-api-key ,api-key"])
def test_a_credential_that_goes_no_further_is_none(listed: str) -> None:
    account = SharedAccount(keys("acme", "globex"), fallback=True)
    scope = {"method": "GET", "path": "/v1/files", "headers": [(b"api-key", b"x"), (b"connection", listed.encode())]}
    with pytest.raises(RequestRejected):
        account.check(scope, TENANT)
    if "x-api-key" not in listed:
        account.check({**scope, "headers": [*scope["headers"], (b"x-api-key", b"x")]}, TENANT)


def test_one_tenant_may_be_confined_too() -> None:
    account = SharedAccount(keys("acme"), "stateless")
    assert not allowed(account, "GET", "/v1/files")
    assert allowed(account, "GET", "/v1/models")


@asynccontextmanager
async def two_tenants(folder: Path, upstream: Upstream, **settings: Any) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy whose key two tenants share, and the key of one of them."""
    url = f"sqlite:///{folder}/semcache.db"
    store = open_store(url)
    await store.open()
    shown = {}
    for tenant in ("a", "b"):
        shown[tenant], kept = new_key(lambda n: tenant.encode() * n, 0.0, tenant, "", store.salt)  # noqa: B023
        await store.add_key(kept)
    await store.close()
    async with running(upstream, folder, store__url=url, upstream__api_key="sk-shared", **settings) as proxy:
        yield proxy, shown["a"]


async def test_the_proxy_asks_before_it_passes_on(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([b"{}"]))
    async with two_tenants(tmp_path, upstream) as (proxy, key):
        refused = await Call(proxy, path="/v1/files", method="GET", x_semcache_key=key).reply()
        listed = await Call(proxy, path="/v1/models", method="GET", x_semcache_key=key).reply()
    assert (refused.status, refused.json["error"]["code"]) == (403, "shared_account")
    assert listed.status == 200
    assert [call.path for call in upstream.calls] == ["/v1/models"]


@pytest.mark.parametrize(
    "named",
    [
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"prompt": {"id": "pmpt_1"}},
        {"input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "And then?"}]},
        {"input": [{"id": "msg_1"}, {"role": "user", "content": "And then?"}]},
        {"input": [{"type": "item_reference", "role": "user", "id": "msg_1"}]},
        {"tools": [{"type": "code_interpreter", "container": "cntr_1"}]},
        {"tools": [{"type": "shell", "environment": {"type": "container_reference", "container_id": "cntr_1"}}]},
    ],
    ids=str,
)
async def test_a_response_is_not_made_of_what_others_keep(tmp_path: Path, named: dict[str, Any]) -> None:
    upstream = Upstream(lambda _: Answer([b"{}"]))
    async with two_tenants(tmp_path, upstream) as (proxy, key):
        body = {"model": "m", "input": "What did I say?", **named}
        refused = await Call(proxy, body, path="/v1/responses", x_semcache_key=key).reply()
        new = [
            {"type": "code_interpreter", "container": {"type": "auto"}},
            {"type": "shell", "environment": {"a": 1}},
            {"type": "computer_use_preview", "environment": "browser"},
        ]
        plain = {"model": "m", "input": [{"role": "user", "content": "What did I say?"}], "tools": new}
        asked = await Call(proxy, plain, path="/v1/responses", x_semcache_key=key).reply()
    assert (refused.status, refused.json["error"]["code"]) == (403, "shared_account")
    assert refused.json["error"]["param"] == next(iter(named))
    assert (asked.status, len(upstream.calls)) == (200, 1)


@pytest.mark.parametrize(
    ("field", "kept", "new"),
    [
        ("thread", {"type": "continue", "previous_message_id": "msg_1"}, {"type": "create"}),
        ("container", "container_1", {"skills": []}),
        ("container", {"id": "container_1"}, {"id": None}),
    ],
    ids=["thread", "container-named", "container-with-id"],
)
async def test_a_message_is_not_made_of_what_others_keep(tmp_path: Path, field: str, kept: Any, new: Any) -> None:
    upstream = Upstream(lambda _: Answer([b"{}"]))
    async with two_tenants(tmp_path, upstream) as (proxy, key):
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "And then?"}]}
        refused = await Call(proxy, {**body, field: kept}, path="/v1/messages", x_semcache_key=key).reply()
        asked = await Call(proxy, {**body, field: new}, path="/v1/messages", x_semcache_key=key).reply()
    assert (refused.status, refused.json["error"]["type"]) == (403, "permission_error")
    assert field in refused.json["error"]["message"]
    assert (asked.status, len(upstream.calls)) == (200, 1)


async def test_no_web_socket_is_opened_with_the_key_that_all_share(tmp_path: Path) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async with two_tenants(tmp_path, Upstream(lambda _: Answer([b"{}"]))) as (proxy, key):
        headers = [(b"host", b"localhost"), (b"x-semcache-key", key.encode())]
        scope = {"type": "websocket", "path": "/v1/realtime", "raw_path": b"/v1/realtime", "query_string": b""}
        extensions = {"websocket.http.response": {}}
        await proxy({**scope, "headers": headers, "subprotocols": [], "extensions": extensions}, receive, send)
    assert sent[0]["status"] == 403
    assert b"shared_account" in sent[1]["body"]
