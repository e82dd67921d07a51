"""API keys: who shares answers, who is told what, and that a revoked key is worth nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.services import Service, semcache, serving
from tests.proxy.driver import cache_status
from tests.waiting import eventually

pytestmark = pytest.mark.process

PROMPT = "What is a fjord?"


@dataclass
class Key:
    id: str
    key: str


@dataclass
class Guarded:
    proxy: Service
    data: Path
    keys: dict[str, Key]

    def ask(self, who: str | None, prompt: str = PROMPT, **headers: str) -> httpx2.Response:
        if who is not None:
            headers["authorization"] = f"Bearer {self.keys[who].key}"
        body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
        return self.proxy.post("/v1/chat/completions", body, headers=headers)

    def call(self, who: str, path: str, body: Any = None) -> httpx2.Response:
        headers = {"x-semcache-key": self.keys[who].key}
        return self.proxy.get(path, headers=headers) if body is None else self.proxy.post(path, body, headers=headers)


def make_key(data: Path, tenant: str, *rights: str) -> Key:
    made = json.loads(semcache("keys", "create", "--tenant", tenant, *rights, "--data", str(data), "--json"))
    return Key(made["id"], made["key"])


@pytest.fixture(scope="module")
def guarded(upstream: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    data = tmp_path_factory.mktemp("guarded")
    keys = {
        "acme": make_key(data, "acme"),
        "globex": make_key(data, "globex"),
        "boss": make_key(data, "acme", "--trusted"),
        "rival": make_key(data, "globex", "--trusted"),
        "root": make_key(data, "ops", "--admin"),
    }
    limits = {"SEMCACHE_SERVER__MAX_BODY": "20 kB"}
    with serving(upstream.url, data, **limits) as proxy:
        yield Guarded(proxy, data, keys)


def test_tenants_share_nothing_and_see_nothing_of_each_other(guarded: Guarded, upstream: Service) -> None:
    before = upstream.get("/echo/stats").json()["paths"].get("/v1/chat/completions", 0)
    acme, globex = guarded.ask("acme"), guarded.ask("globex")
    assert acme.headers["cache-status"] == globex.headers["cache-status"]
    assert upstream.get("/echo/stats").json()["paths"]["/v1/chat/completions"] == before + 2
    acme, globex = guarded.ask("acme"), guarded.ask("globex")
    assert cache_status(acme.headers["cache-status"]).keys() == cache_status(globex.headers["cache-status"]).keys()
    assert acme.json()["id"] != globex.json()["id"]
    assert acme.json()["id"] == guarded.ask("boss").json()["id"]


def test_without_a_key_nothing_is_answered(guarded: Guarded) -> None:
    for got in (guarded.ask(None), guarded.ask(None, authorization="Bearer sk-openai-key")):
        assert got.status_code == 401
        assert got.json()["error"]["code"] == "invalid_api_key"
    assert guarded.proxy.get("/v1/models").status_code == 401
    assert guarded.proxy.get("/semcache/entries").status_code == 401
    assert guarded.proxy.post("/v1/embeddings", {"model": "m", "input": "x"}).status_code == 401
    assert guarded.proxy.post("/v1/messages", {}).json()["type"] == "error"
    assert guarded.proxy.get("/readyz").status_code == guarded.proxy.get("/livez").status_code == 200


def test_our_key_does_not_leave(guarded: Guarded, upstream: Service) -> None:
    guarded.ask("acme", "What is a moraine?")
    guarded.proxy.get("/v1/models", headers={"x-api-key": guarded.keys["acme"].key})
    seen = upstream.get("/echo/stats").text
    assert "What is a moraine?" in seen
    assert "sk-sc-" not in seen


def test_scores_are_for_the_trusted(guarded: Guarded) -> None:
    guarded.ask("acme", "What is a glacier?")
    plain, trusted = guarded.ask("acme", "What is a glacier?"), guarded.ask("boss", "What is a glacier?")
    assert cache_status(plain.headers["cache-status"])["hit"] is True
    assert not [name for name in plain.headers if name.startswith("x-semcache")]
    assert {"x-semcache-id", "x-semcache-score", "x-semcache-category"} <= set(trusted.headers)


def test_the_administration_is_confined_to_the_tenant(guarded: Guarded) -> None:
    guarded.ask("boss", "What is an esker?")
    mine = guarded.ask("boss", "What is an esker?").headers["x-semcache-id"]
    assert guarded.call("acme", "/semcache/entries").status_code == 403
    assert guarded.call("boss", "/semcache/stats").status_code == 403
    assert guarded.call("boss", f"/semcache/entries/{mine}").json()["prompt"] == "What is an esker?"
    assert guarded.call("rival", f"/semcache/entries/{mine}").status_code == 404
    assert guarded.call("rival", "/semcache/feedback", {"id": mine, "correct": False}).status_code == 404
    assert guarded.call("rival", "/semcache/feedback", {"id": "0" * 16, "correct": False}).status_code == 404
    assert guarded.call("rival", "/semcache/invalidate", {"ids": [mine]}).json()["count"] == 0
    assert guarded.call("rival", "/semcache/invalidate", {"tenant": "acme"}).status_code == 403
    tenants = {entry["tenant"] for entry in guarded.call("rival", "/semcache/entries").json()["entries"]}
    assert tenants <= {"globex"}
    everyone = {entry["tenant"] for entry in guarded.call("root", "/semcache/entries").json()["entries"]}
    assert everyone == {"acme", "globex"}
    assert guarded.ask("boss", "What is an esker?").json()["id"], "and the entry is still there"
    assert cache_status(guarded.ask("boss", "What is an esker?").headers["cache-status"])["hit"] is True


def test_a_revoked_key_is_refused_even_where_it_had_hits(guarded: Guarded) -> None:
    guarded.keys["leaver"] = make_key(guarded.data, "acme")
    eventually(lambda: guarded.ask("leaver").status_code == 200)
    for _ in range(3):
        assert cache_status(guarded.ask("leaver").headers["cache-status"])["hit"] is True
    semcache("keys", "revoke", guarded.keys["leaver"].id, "--data", str(guarded.data))
    refused = eventually(lambda: (got := guarded.ask("leaver")).status_code == 401 and got)
    assert "revoked" in refused.json()["error"]["message"]
    assert guarded.ask("acme").status_code == 200


def test_bodies_have_a_limit(guarded: Guarded) -> None:
    for path in ("/v1/chat/completions", "/v1/embeddings", "/v1/files"):
        got = guarded.call("acme", path, {"model": "m", "input": "x" * 30_000})
        assert got.status_code == 413
        assert "20000" in got.json()["error"]["message"]
    claude = guarded.call("acme", "/v1/messages", {"model": "m", "messages": "x" * 30_000})
    assert claude.json()["error"]["type"] == "request_too_large"
