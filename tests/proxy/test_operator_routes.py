"""Operators ask a running proxy why, and take mistakes back; each tenant within its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache.errors import StoreError
from semcache.proxy.auth import new_key
from semcache.storage.stores import open_store
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running
from tests.proxy.ui.browsing import kept


async def get(proxy: Any, path: str, query: str = "", **headers: str) -> Any:
    return await Call(proxy, path=path, method="GET", query=query, **headers).reply()


async def post(proxy: Any, path: str, body: Any, **headers: str) -> Any:
    return await Call(proxy, body, path=path, content_type="application/json", **headers).reply()


@pytest.fixture
def upstream() -> Upstream:
    return Upstream(lambda _: Answer([completion()]))


async def test_the_reason_of_a_miss_is_found_by_the_id_that_the_client_saw(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        missed = await Call(proxy, ask("How do I add 2 users?")).reply()
        assert missed.header("x-request-id") == "req_upstream"
        found = (await get(proxy, "/semcache/requests/req_upstream")).json
        assert (found["outcome"], found["why"], found["prompt"]) == ("miss", "cold", "How do I add 2 users?")
        listed = (await get(proxy, "/semcache/requests", "outcome=miss")).json
        assert [one["id"] for one in listed["requests"]] == [found["id"]]
        assert (await get(proxy, f"/semcache/requests/{found['id']}")).json == found
        assert (await get(proxy, "/semcache/requests/req_none")).status == 404


async def test_only_if_cached_says_why_not(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask("Unheard of?"), cache_control="only-if-cached").reply()
    assert reply.status == 504
    assert "cold: No entry is near" in reply.json["error"]["message"]


async def test_a_purge_and_a_report_are_taken_back_over_http(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask("hello")).reply()
        entry = (await Call(proxy, ask("hello")).reply()).header("x-semcache-id")
        reply = await post(proxy, "/semcache/invalidate", {"everything": True})
        assert reply.json["count"] == 1
        undo = reply.header("x-semcache-undo")
        assert (await get(proxy, "/semcache/deleted")).json["deleted"][0]["undo"] == undo
        assert (await post(proxy, "/semcache/undo", {"undo": undo})).json["ids"] == [entry]
        assert (await Call(proxy, ask("hello")).reply()).cache["hit"] is True
        assert (await post(proxy, "/semcache/feedback", {"id": entry, "correct": False})).status == 200
        assert (await post(proxy, "/semcache/feedback", {"id": entry, "withdraw": True})).json == {"ok": True}
        assert (await Call(proxy, ask("hello")).reply()).cache["hit"] is True
        assert (await post(proxy, "/semcache/feedback", {"id": entry, "withdraw": True})).status == 404
        assert (await post(proxy, "/semcache/feedback", {"id": entry})).status == 400
        done = [one["action"] for one in (await get(proxy, "/semcache/actions")).json["actions"]]
        assert done == ["withdraw", "report", "undo", "purge"]


async def test_a_tenant_sees_and_undoes_its_own_alone(tmp_path: Path, upstream: Upstream) -> None:
    url = f"sqlite:///{tmp_path}/semcache.db"
    store = open_store(url)
    await store.open()
    keys = {}
    for tenant in ("a", "b"):
        keys[tenant], kept = new_key(lambda n: tenant.encode() * n, 0.0, tenant, "", store.salt, trusted=True)  # noqa: B023
        await store.add_key(kept)
    keys["plain"], kept = new_key(lambda n: b"p" * n, 0.0, "a", "", store.salt)
    await store.add_key(kept)
    await store.close()
    async with running(upstream, tmp_path, store__url=url) as proxy:
        await Call(proxy, ask("hello"), x_semcache_key=keys["a"]).reply()
        [found] = (await get(proxy, "/semcache/requests", x_semcache_key=keys["a"])).json["requests"]
        assert (await get(proxy, "/semcache/requests", x_semcache_key=keys["b"])).json["requests"] == []
        assert (await get(proxy, f"/semcache/requests/{found['id']}", x_semcache_key=keys["b"])).status == 404
        assert (await get(proxy, "/semcache/requests", "tenant=a", x_semcache_key=keys["b"])).status == 403
        assert (await get(proxy, "/semcache/requests", x_semcache_key=keys["plain"])).status == 403
        assert (await get(proxy, "/semcache/actions", x_semcache_key=keys["a"])).status == 403
        purged = (await post(proxy, "/semcache/invalidate", {"tenant": "a"}, x_semcache_key=keys["a"])).status
        assert purged == 400, "a tenant's own selector has to say what"
        reply = await post(proxy, "/semcache/invalidate", {"older_than": "0s"}, x_semcache_key=keys["a"])
        assert (await get(proxy, "/semcache/deleted", x_semcache_key=keys["b"])).json == {"deleted": []}
        undo = {"undo": reply.header("x-semcache-undo")}
        assert (await post(proxy, "/semcache/undo", undo, x_semcache_key=keys["b"])).json["count"] == 0
        assert (await post(proxy, "/semcache/undo", undo, x_semcache_key=keys["a"])).json["count"] == 1
        rows = (await get(proxy, "/semcache/usage", x_semcache_key=keys["b"])).json["rows"]
        assert [row["tenant"] for row in rows] == ["total"]


async def test_explaining_over_http_asks_no_upstream(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        found = (await post(proxy, "/semcache/explain", {"prompt": "hello", "model": "m"})).json
        assert (found["outcome"], found["why"]) == ("miss", "cold")
        assert (await post(proxy, "/semcache/explain", {})).status == 400
        assert (await post(proxy, "/semcache/explain", {"prompt": "x", "category": "nowhere"})).status == 400
        assert (await get(proxy, "/semcache/usage", "since=soon")).status == 400
    assert upstream.calls == []


DATED = "Be kind. Current date: 2026-11-{}"


async def _ask_with_dates(proxy, **headers: str) -> str:
    """Ask the same with system prompts of several days; return the id of the last request."""
    for day in range(10, 14):
        system = {"role": "system", "content": DATED.format(day)}
        asked = {"model": "m", "messages": [system, {"role": "user", "content": "What is a monad?"}]}
        reply = await Call(proxy, asked, **headers).reply()
    return str(reply.header("x-request-id"))


async def test_system_prompts_that_vary_are_told_where_nothing_was_found(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        last = await _ask_with_dates(proxy)
        why = (await get(proxy, f"/semcache/requests/{last}")).json
        now = (await post(proxy, "/semcache/explain", {"prompt": "What is a monad?", "model": "m"})).json
        for found in (why, now):
            assert found["why"] == "cold"
            assert "ignore_in_system: [date]" in " ".join(found["varying_prompts"])


async def test_system_prompts_of_another_tenant_are_told_to_nobody(tmp_path: Path, upstream: Upstream) -> None:
    async with kept(tmp_path, upstream) as (proxy, keys):
        await _ask_with_dates(proxy, x_semcache_key=keys["a"])
        asked = {"prompt": "What is a monad?", "model": "m"}
        own = (await post(proxy, "/semcache/explain", asked, x_semcache_key=keys["a"])).json
        other = (await post(proxy, "/semcache/explain", asked, x_semcache_key=keys["b"])).json
        assert len(own["varying_prompts"]) == 1
        assert other["varying_prompts"] == []


async def test_a_model_without_a_price_is_named_after_a_restart_too(tmp_path: Path, upstream: Upstream) -> None:
    url = f"sqlite:///{tmp_path}/semcache.db"
    async with running(upstream, tmp_path, store__url=url) as proxy:
        await Call(proxy, ask("Unheard of?", model="a-model-of-my-own")).reply()
    async with running(upstream, tmp_path, store__url=url) as proxy:
        assert "a-model-of-my-own" in (await get(proxy, "/readyz")).json["unpriced_models"]


async def test_what_holds_a_secret_stands_in_no_record(tmp_path: Path, upstream: Upstream) -> None:
    url = f"sqlite:///{tmp_path / 'cache.db'}"
    async with running(upstream, tmp_path, store__url=url) as proxy:
        asked = {
            "model": "m",
            "messages": [{"role": "user", "content": "My password is Hunter2-Trombone, is it good?"}],
        }
        assert (await Call(proxy, asked).reply()).status == 200
        # Refused for another reason before anything is searched.
        assert (await Call(proxy, {**asked, "temperature": 1.9}).reply()).status == 200
        await proxy.cache.event_log.flush()
        for why in ("secret", "temperature"):
            listed = (await get(proxy, "/semcache/requests", f"why={why}")).json["requests"]
            assert [one["prompt"] for one in listed] == [""], why
        kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Trombone" not in kept


async def test_numbers_that_json_has_not_are_refused_in_words(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        for body in (b'{"id": "x", "correct": NaN}', b'{"id": 1e999, "correct": true}'):
            reply = await post(proxy, "/semcache/feedback", body)
            assert reply.status == 400
            assert "NaN" in reply.json["error"]["message"]


async def test_strangers_are_not_told_what_tenants_ask_for(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, auth__required=True) as proxy:
        told = (await get(proxy, "/readyz")).json
    assert told["status"] == "ok"
    assert not {"entries", "unpriced_models"} & told.keys()


async def test_readiness_names_a_store_that_takes_a_ping_and_no_outcome_and_heals_without_traffic(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A full disk often has room for one row that is there already.
    async with running(upstream, tmp_path) as proxy:
        with monkeypatch.context() as patched:

            async def full(_: object) -> None:
                raise StoreError("the disk is full")

            patched.setattr(proxy.cache.components.store, "record", full)
            assert (await Call(proxy, ask("hello")).reply()).status == 200
            await proxy.cache.event_log.flush()
            for _ in range(2):
                told = (await get(proxy, "/readyz")).json
                assert told["status"] == "degraded"
                assert "the disk is full" in told["faults"]["store"]
        assert (await get(proxy, "/readyz")).json["faults"] == {}
