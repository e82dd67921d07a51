"""The page of the API has the rights of whoever opens it, and loads nothing from elsewhere; no reply is kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from semcache.proxy.api_page import api_page
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running


@pytest.fixture
def upstream() -> Upstream:
    return Upstream(lambda _: Answer([completion()]))


async def get(proxy: Any, path: str) -> Any:
    return await Call(proxy, path=path, method="GET").reply()


async def test_the_page_of_the_api_runs_nothing_and_loads_nothing(tmp_path: Path, upstream: Upstream) -> None:
    """It ran what a content network sent, on the origin at which every prompt can be read."""
    async with running(upstream, tmp_path) as proxy:
        page = await get(proxy, "/docs")
        text = page.body.decode()
        assert page.status == 200
        assert not re.search(r"<script|<link|<img|<style|style=|https?://", text)
        assert page.header("content-security-policy").startswith("default-src 'none'")
        assert page.header("x-frame-options") == "DENY"
        for told in ("POST /v1/chat/completions", "GET /semcache/entries", "x-semcache-min-score"):
            assert told in text
        assert (await get(proxy, "/redoc")).status == 404


async def test_what_operators_are_shown_is_kept_by_no_browser_and_no_gateway(
    tmp_path: Path, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask("How do I add 2 users?")).reply()
        for path in ("/semcache/entries", "/semcache/requests", "/semcache/stats", "/metrics", "/docs"):
            reply = await get(proxy, path)
            assert (reply.status, reply.header("cache-control")) == (200, "no-store"), path
            assert reply.header("x-content-type-options") == "nosniff"


def test_the_page_escapes_the_document() -> None:
    evil = "<script>alert(1)</script>"
    told = {"summary": evil, "parameters": [{"name": evil, "in": "query"}], "responses": {"200": {"description": evil}}}
    page = api_page({"info": {"title": evil, "version": "1"}, "paths": {f"/{evil}": {"get": told}}})
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 6
