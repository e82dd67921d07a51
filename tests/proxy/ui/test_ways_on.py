"""A refused form, an ended session and an address that is no page leave the visitor a way on."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache.errors import InvalidArgument
from semcache.runtime.moments import later
from tests.proxy.ui.browsing import PAGE, Browser, kept, logged_in

PACK = "name: test\ndefaults:\n  strategy: static\n  threshold: 0.5\n"


async def test_a_form_sent_after_the_session_has_ended_asks_for_the_key_and_leads_back(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, _):
        browser = Browser(proxy)
        reply = await browser.post("/access/keys", {"tenant": "late"}, referer=f"http://127.0.0.1{PAGE}/access")
        page = reply.body.decode()
        assert reply.status == 401
        assert "Your session has ended, and nothing was changed." in page
        assert f'<input type="hidden" name="next" value="{PAGE}/access">' in page
        elsewhere = await browser.post("/forget", {"entry": "0"}, referer="https://evil.example/login")
        assert f'name="next" value="{PAGE}">' in elsewhere.body.decode()


async def test_a_wrong_key_does_not_lose_the_page_that_was_wanted(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, _):
        reply = await Browser(proxy).post("/login", {"key": "sk-sc-wrong", "next": f"{PAGE}/requests"})
        assert f'name="next" value="{PAGE}/requests">' in reply.body.decode()


async def test_the_address_of_a_form_leads_to_the_page_above_it_and_an_unknown_one_says_so(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        for path, above in (("/access/keys", "/access"), ("/entries/forget", "/entries"), ("/report", "")):
            reply = await browser.get(path)
            assert (reply.status, reply.header("location")) == (303, PAGE + above), path
        unknown = await browser.get("/nowhere")
        assert unknown.status == 404
        assert "There is no such page." in unknown.body.decode()
        assert 'aria-label="Pages"' in unknown.body.decode()
        assert (await Browser(proxy).get("/nowhere")).status == 303


async def test_a_refused_key_keeps_what_was_typed(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        typed = {"tenant": "shop", "rights": "trusted", "name": "for the till", "read_only": "yes"}
        for end in ("tomorrow", "0d"):
            reply = await browser.change("/access/keys", expires=end, **typed)
            page = reply.body.decode()
            assert reply.status == 400
            assert "No key was created:" in page
            for kept_as in (f'value="{end}"', 'value="shop"', 'value="for the till"', '"trusted" selected', " checked"):
                assert kept_as in page, kept_as
        assert [key.tenant for key in await proxy.cache.api_keys()].count("shop") == 0
        fresh = (await browser.get("/access?tenant=x")).body.decode()
        assert 'value="x"' not in fresh


async def test_a_refused_end_is_asked_for_again(tmp_path: Path) -> None:
    async with kept(tmp_path) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        key = (await proxy.cache.api_keys())[-1].id
        reply = await browser.change("/access/end", key=key, expires="someday")
        assert reply.status == 400
        assert f"When does {key} end?" in reply.body.decode()
        assert 'value="someday"' in reply.body.decode()


def test_an_end_in_no_time_is_over() -> None:
    with pytest.raises(InvalidArgument, match="'0d' is over"):
        later("0d", 1000.0)


async def test_no_target_is_shown_for_a_fixed_score(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK)
    async with kept(tmp_path, policies=str(tmp_path / "pack.yaml")) as (proxy, keys):
        browser = await logged_in(proxy, keys["admin"])
        assert "No target changes what this category serves" in (await browser.get("/explorer")).body.decode()
        page = (await browser.get("/certificates/default")).body.decode()
        assert "none is kept" in page
        assert "% confidence" not in page
