"""Who gets in: the page is there or not, logins are limited, sessions end, forms of elsewhere are refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from semcache.config.settings import Settings
from semcache.proxy.application import Proxy
from semcache.proxy.ui.visitors import IDLE, LIFE, NOTICE, SESSION
from tests.proxy.driver import Answer, Call, Clock, Upstream, completion, running
from tests.proxy.ui.browsing import PAGE, Browser, kept, logged_in, sign_of


@pytest.fixture
def upstream() -> Upstream:
    return Upstream(lambda _: Answer([completion()]))


async def test_on_this_machine_without_keys_the_page_needs_no_login(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        browser = Browser(proxy)
        reply = await browser.get()
        assert reply.status == 200
        assert b"Net saved" in reply.body
        assert SESSION in browser.cookies, "a form's sign needs a session"
        sign = sign_of(reply.body.decode())
        assert sign == sign_of((await browser.get()).body.decode()), "the session is kept"
        assert (await browser.post("/undo", {"sign": sign, "undo": "none"})).status == 303


async def test_the_page_is_off_where_a_setting_says_so(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, server__ui="off") as proxy:
        reply = await Browser(proxy).get()
    assert reply.status == 404
    assert "server.ui" in reply.json["error"]["message"]


async def test_without_an_admin_key_the_page_is_not_shown_to_other_machines(tmp_path: Path, upstream: Upstream) -> None:
    public = {"server__host": "0.0.0.0", "auth__required": True}
    async with running(upstream, tmp_path, **public) as proxy:
        assert (await Browser(proxy).get("/login")).status == 404
    async with running(upstream, tmp_path, **public, server__admin_token="sesame-open-sesame-open") as proxy:
        assert (await Browser(proxy).get("/login")).status == 200
        assert (await Browser(proxy).log_in("sesame-open-sesame-open")).status == 303


async def test_another_name_of_this_machine_is_refused(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        assert (await Browser(proxy).get(host="evil.example")).status == 403, "DNS rebinding"


async def test_nobody_sees_a_page_before_logging_in_and_is_led_back_after(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = Browser(proxy)
        for path in ("", "/requests", "/entries", "/live", "/settings", "/requests/x?y=1"):
            reply = await browser.get(path)
            assert (reply.status, reply.body) == (303, b"")
            assert (reply.header("location") or "").startswith(PAGE + "/login?next=")
        assert (await browser.get("/live/events", accept="text/event-stream")).status == 401
        assert (await browser.post("/forget", {"entry": "0" * 16})).status == 401
        wanted = await browser.post("/login", {"key": keys["admin"], "next": PAGE + "/requests?why=cold"})
        assert wanted.header("location") == PAGE + "/requests?why=cold"
        for elsewhere in ("https://evil.example/", "//evil.example", PAGE + "x", PAGE + "/\\evil", "/v1/models"):
            reply = await browser.post("/login", {"key": keys["admin"], "next": elsewhere})
            assert reply.header("location") == PAGE, elsewhere


async def test_a_wrong_key_is_refused_and_tries_are_limited(tmp_path: Path) -> None:
    clock = Clock()
    async with kept(tmp_path, clock=clock) as (proxy, keys):
        browser = Browser(proxy)
        for wrong in ("", "sk-sc-wrong", "wörng ✗", "\x00", *(f"sk-sc-{n}" for n in range(5))):
            reply = await browser.log_in(wrong)
            assert reply.status == 401, wrong
            assert SESSION not in browser.cookies
        assert (await browser.log_in("sk-sc-wrong")).status == 401
        refused = await browser.log_in("sk-sc-wrong")
        assert (refused.status, refused.header("retry-after")) == (429, "60")
        assert (await browser.log_in(keys["admin"])).status == 303, "others of this address do not shut anybody out"
        clock.now += 60.0
        assert (await Browser(proxy).log_in("sk-sc-wrong")).status == 401


async def test_the_cookie_is_closed_to_scripts_and_other_sites_and_does_not_show_the_key(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = Browser(proxy)
        reply = await browser.log_in(keys["a"])
        said = (reply.header("set-cookie") or "").lower()
        assert "httponly" in said
        assert "samesite=strict" in said
        assert f"path={PAGE}" in said
        assert "max-age=28800" in said
        assert keys["a"] not in said
        assert "secure" not in said
        secure = await browser.post("/login", {"key": keys["a"]}, x_forwarded_proto="https")
        assert "secure" in (secure.header("set-cookie") or "").lower()


async def test_a_session_ends_in_time_with_its_key_and_when_it_logs_out(tmp_path: Path) -> None:
    clock = Clock()
    async with kept(tmp_path, clock=clock) as (proxy, keys):
        browser, begun = await logged_in(proxy, keys["admin"]), clock.now
        first = dict(browser.cookies)
        while clock.now + IDLE < begun + LIFE:
            clock.now += IDLE - 1
            page = await browser.get()
            assert page.status == 200
        assert (await Browser(proxy, first).get()).status == 303, "nobody has used this cookie for an hour"
        copy = Browser(proxy, dict(browser.cookies))
        assert (await copy.get()).status == 200
        assert (await browser.post("/logout", {"sign": sign_of(page.body.decode())})).status == 303
        assert SESSION not in browser.cookies
        assert (await copy.get()).status == 303, "a copy of its cookie is worth nothing"
        again, begun = await logged_in(proxy, keys["admin"]), clock.now
        while clock.now + IDLE < begun + LIFE:
            clock.now += IDLE - 1
            assert (await again.get()).status == 200
        clock.now = begun + LIFE
        assert (await again.get()).status == 303, "however busy it was"
        left = await logged_in(proxy, keys["admin"])
        clock.now += IDLE
        assert (await left.get()).status == 303, "nobody looked for an hour"
        tenant = await logged_in(proxy, keys["a"])
        [key] = [one for one in await proxy.cache.api_keys() if one.name == "a"]
        await proxy.cache.components.store.revoke_key(key.id, now=clock())
        proxy._process.auth.replace(await proxy.cache.api_keys())
        assert (await tenant.get()).status == 303


async def test_every_worker_knows_who_has_logged_out_and_so_does_the_next_start(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        stays = await logged_in(proxy, keys["admin"])
        settings = {"data": tmp_path / "other", "store.url": f"sqlite:///{tmp_path}/semcache.db", "embedder": "hashing"}
        worker = Proxy(Settings.load(settings, {}, None), backend=Upstream(lambda _: Answer([completion()])))
        await worker.start()
        copy, other = Browser(worker, dict(browser.cookies)), Browser(worker, dict(stays.cookies))
        assert (await copy.get()).status == 200
        page = await browser.get()
        assert (await browser.post("/logout", {"sign": sign_of(page.body.decode())})).status == 303
        while (await copy.get()).status == 200:
            await asyncio.sleep(0.05)
        # Both leave at once: neither is forgotten, whoever writes first.
        again, also = await logged_in(proxy, keys["admin"]), await logged_in(worker, keys["admin"])
        copies = [Browser(worker, dict(again.cookies)), Browser(proxy, dict(also.cookies))]
        signs = [sign_of((await one.get()).body.decode()) for one in (again, also)]
        await asyncio.gather(
            *(one.post("/logout", {"sign": sign}) for one, sign in zip((again, also), signs, strict=True))
        )
        while any([(await one.get()).status == 200 for one in copies]):
            await asyncio.sleep(0.05)
        assert (await other.get()).status == 200, "others stay"
        await worker.stop()
        await worker.start()
        assert (await copy.get()).status == 303, "nor does it come back with a restart"
        assert (await other.get()).status == 200
        await worker.stop()


async def test_a_login_that_another_site_has_sent_is_refused(tmp_path: Path) -> None:
    """Where a browser says no more than Origin: over plain HTTP, to another machine."""
    async with kept(tmp_path) as (proxy, keys):
        browser = Browser(proxy)
        for origin in (
            "http://evil.example",
            "https://evil.example:8080",
            "null",
            "http://127.0.0.1.evil.example",
            "[",
        ):
            reply = await browser.post("/login", {"key": keys["a"]}, host="10.0.0.5:8080", origin=origin)
            assert reply.status == 403, origin
            assert SESSION not in browser.cookies
        for name in ({"host": "10.0.0.5:8080"}, {"host": "inner", "x_forwarded_host": "10.0.0.5:8080, other"}):
            reply = await browser.post("/login", {"key": keys["a"]}, origin="http://10.0.0.5:8080", **name)
            assert reply.status == 303, name
        sign = sign_of((await browser.get()).body.decode())
        change = await browser.post("/undo", {"sign": sign, "undo": "x"}, host="10.0.0.5:8080", origin="http://evil")
        assert change.status == 403


async def test_a_cookie_that_was_tampered_with_or_made_for_something_else_is_none(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        cookie = browser.cookies[SESSION]
        other = "A" if cookie[40] != "A" else "B"
        for forged in (cookie[:40] + other + cookie[41:], cookie[:-3], "", "!!", "a" * 5000):
            assert (await Browser(proxy, {SESSION: forged}).get()).status == 303, forged[:20]
        sign = sign_of((await browser.get()).body.decode())
        reply = await browser.post("/undo", {"sign": sign, "undo": "x"})
        notice = dict(one.split(";")[0].split("=", 1) for name, one in reply.headers if name == "set-cookie")[NOTICE]
        assert (await Browser(proxy, {SESSION: notice}).get()).status == 303


async def test_a_change_needs_the_sign_of_its_own_session(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        await Call(
            proxy, {"model": "m", "messages": [{"role": "user", "content": "hello"}]}, x_semcache_key=keys["a"]
        ).reply()
        [entry] = await proxy.cache.select(_all(), limit=5)
        name = f"{entry.id:016x}"
        admin, other = await logged_in(proxy, keys["admin"]), await logged_in(proxy, keys["admin"])
        foreign = sign_of((await other.get()).body.decode())
        own = sign_of((await admin.get()).body.decode())
        assert foreign != own
        for form in ({}, {"sign": ""}, {"sign": foreign}, {"sign": own[:-1]}):
            assert (await admin.post("/forget", {**form, "entry": name})).status == 403
        cross = await admin.post("/forget", {"sign": own, "entry": name}, sec_fetch_site="cross-site")
        assert cross.status == 403
        assert len(await proxy.cache.select(_all(), limit=5)) == 1
        assert (await admin.post("/forget", {"sign": own, "entry": name}, sec_fetch_site="same-origin")).status == 303
        assert await proxy.cache.select(_all(), limit=5) == []


async def test_every_reply_forbids_what_is_not_from_here(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        for path in (
            "",
            "/login",
            "/requests",
            "/nowhere",
            "/static/page.css",
            "/static/../page_application.py",
            "/settings",
        ):
            reply = await browser.get(path)
            policy = reply.header("content-security-policy") or ""
            assert policy.startswith("default-src 'self';"), path
            assert "unsafe" not in policy
            assert reply.header("x-frame-options") == "DENY"
            assert reply.header("x-content-type-options") == "nosniff"
            if "static" not in path:
                assert reply.header("cache-control") == "no-store", path
        assert (await browser.get("/static/../page_application.py")).status == 404


async def test_other_methods_are_refused(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        assert (await browser.get("/forget")).status == 303
        assert (await Call(proxy, path=PAGE, method="DELETE", cookie=browser._sent()["cookie"]).reply()).status == 405


def _all():
    from semcache.types import Selector

    return Selector(everything=True)


async def test_who_logged_out_stays_out_after_a_reload(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser, other = await logged_in(proxy, keys["admin"]), await logged_in(proxy, keys["admin"])
        copy = Browser(proxy, dict(browser.cookies))
        await browser.post("/logout", {"sign": sign_of((await browser.get()).body.decode())})
        (tmp_path / "pack.yaml").write_text("name: other\ntarget: 0.03\n")
        await proxy.reload("test")
        assert (await copy.get()).status == 303
        page = await other.get("/settings")
        assert page.status == 200
        assert b"<dd>other</dd>" in page.body, "the page is that of the new pack"
