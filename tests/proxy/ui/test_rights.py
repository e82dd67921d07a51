"""A tenant sees and changes its own alone, a plain key sees no prompt, and who only reads changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache.types import Selector
from tests.proxy.driver import Call, ask
from tests.proxy.ui.browsing import PAGE, asked, kept, logged_in, newest, sign_of

ADMINS = ("/certificates", "/certificates/default", "/explorer", "/access", "/settings")
TENANTS = ("/requests", "/ask", "/entries", "/review", "/plans", "/undo")
ANYBODY = ("", "/live")
CHANGES = (
    "/report",
    "/withdraw",
    "/forget",
    "/never-by-meaning",
    "/entries/forget",
    "/review",
    "/undo",
    "/plans/forget",
)
ADMINS_CHANGES = ("/access/keys", "/access/end", "/access/revoke", "/access/erase")


async def test_each_right_opens_its_pages_and_no_others(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        for name, opened in (
            ("admin", (*ADMINS, *TENANTS, *ANYBODY)),
            ("viewer", (*ADMINS, *TENANTS, *ANYBODY)),
            ("a", (*TENANTS, *ANYBODY)),
            ("plain", ANYBODY),
        ):
            browser = await logged_in(proxy, keys[name])
            for path in (*ADMINS, *TENANTS, *ANYBODY):
                reply = await browser.get(path)
                assert reply.status == (200 if path in opened else 403), (name, path)
                menu = reply.body.decode()
                assert (f'href="{PAGE}/settings"' in menu) == (name in ("admin", "viewer"))


@pytest.mark.parametrize("name", ["viewer", "a-viewer", "plain"])
async def test_who_only_reads_changes_nothing(tmp_path: Path, name: str) -> None:
    async with kept(tmp_path) as (proxy, keys):
        entry = await asked(proxy, "hello", keys["a"])
        entry = entry or await asked(proxy, "hello", keys["a"])
        browser = await logged_in(proxy, keys[name])
        page = (await browser.get("/entries")).body.decode() + (await browser.get()).body.decode()
        assert "Forget" not in page
        sign = sign_of((await browser.get()).body.decode())
        for path in (*CHANGES, *ADMINS_CHANGES):
            form = {"sign": sign, "entry": entry, "ids": entry, "sure": "yes", "meant": "1", "tenant": "a"}
            assert (await browser.post(path, form)).status == 403, path
        assert len(await proxy.cache.select(Selector(everything=True), limit=5)) == 1


async def test_a_read_only_key_asks_no_upstream_and_changes_nothing_over_the_api(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        reply = await Call(proxy, ask("hello"), x_semcache_key=keys["viewer"]).reply()
        assert reply.status == 403
        assert "read-only" in reply.json["error"]["message"]
        purge = await Call(
            proxy, {"everything": True}, path="/semcache/invalidate", x_semcache_key=keys["viewer"]
        ).reply()
        assert purge.status == 403
        asked_why = await Call(proxy, {"prompt": "hi"}, path="/semcache/explain", x_semcache_key=keys["viewer"]).reply()
        assert asked_why.status == 200
        seen = await Call(proxy, path="/semcache/stats", method="GET", x_semcache_key=keys["viewer"]).reply()
        assert seen.status == 200


async def test_a_tenant_sees_and_touches_nothing_of_another(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        await asked(proxy, "The secret recipe of a?", keys["a"], model="model-of-a")
        entry = await asked(proxy, "The secret recipe of a?", keys["a"], model="model-of-a")
        decision = await newest(proxy, tenant="a")
        b = await logged_in(proxy, keys["b"])
        for path in (
            "", "?tenant=a", "?by=tenant", "?by=model", "/requests", "/requests?tenant=a", "/entries",
            "/entries?tenant=a", "/entries?q=recipe", "/entries?q=recipe&how=meaning", "/review", "/undo",
            "/ask?prompt=secret+recipe&tenant=a&model=model-of-a", f"/requests/{decision['id']}", "/plans",
        ):  # fmt: skip
            page = (await b.get(path)).body.decode()
            assert "secret recipe of a" not in page.lower(), path
            if "prompt=" not in path:
                assert "model-of-a" not in page, path
        assert (await b.get(f"/requests/{decision['id']}")).status == 404
        sign = sign_of((await b.get()).body.decode())
        for path in ("/report", "/forget"):
            assert (await b.post(path, {"sign": sign, "entry": entry, "request": decision["id"]})).status == 404, path
        bulk = {"sign": sign, "ids": entry, "tenant": "a", "sure": "yes", "meant": "1"}
        assert (await b.post("/entries/forget", bulk)).status == 400
        await b.post("/never-by-meaning", {"sign": sign, "entry": entry})
        own = await logged_in(proxy, keys["a"])
        undo = (await proxy.cache.operating.delete(Selector(tenant="a"), who="test"))[1] or ""
        assert undo not in (await b.get("/undo")).body.decode()
        await b.post("/undo", {"sign": sign, "undo": undo})
        assert await proxy.cache.select(Selector(tenant="a"), limit=5) == []
        await own.change("/undo", undo=undo)
        [back] = await proxy.cache.select(Selector(tenant="a"), limit=5)
        assert back.partition, "the other tenant's buttons changed nothing"
        assert "secret recipe" in (await own.get("/entries")).body.decode()


async def test_live_events_are_those_of_the_visitors_tenant(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        await asked(proxy, "one", keys["a"], model="model-of-a")
        await asked(proxy, "two", keys["b"], model="model-of-b")
        await proxy.cache.event_log.flush()
        b = await logged_in(proxy, keys["b"])
        call = Call(proxy, path=PAGE + "/live/events", method="GET", query="tenant=a", cookie=b._sent()["cookie"])
        text = b""
        while b"event: seen" not in text:
            message = await call.message()
            assert message is not None
            text += message.get("body", b"")
        await call.leave()
        assert b"model-of-b" in text
        assert b"model-of-a" not in text
