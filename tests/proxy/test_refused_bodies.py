"""Refusals with the status and code that the page on the HTTP API names, of bodies that the upstream never sees."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.dialects import dialects
from semcache.dialects.controls import LONGEST_NAME, MOST_TAGS
from semcache.errors import RequestRejected, StoreError
from semcache.storage.stores.database import Database
from tests.proxy.driver import Call, ask, numbered_upstream, running

PROMPT = "How do I reset the password of the router?"
RAW = msgspec.json.encode(ask(PROMPT))
# What is sent, with which headers, and the status and code of the refusal.
REFUSED: list[tuple[bytes, dict[str, str], int, str]] = [
    (RAW, {"content_encoding": "br"}, 415, "unsupported_encoding"),
    (gzip.compress(RAW), {"content_encoding": "zstd, gzip"}, 415, "unsupported_encoding"),
    (gzip.compress(RAW)[:-9], {"content_encoding": "gzip"}, 400, "bad_encoding"),
    (RAW, {"content_encoding": "gzip"}, 400, "bad_encoding"),
    (RAW, {"content_type": "text/plain"}, 415, "unsupported_content_type"),
    (RAW, {"content_type": "application/x-www-form-urlencoded"}, 415, "unsupported_content_type"),
    (RAW, {"content_type": "application/json; charset=latin-1"}, 415, "unsupported_content_type"),
]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
async def test_a_body_that_cannot_be_read_is_refused_by_name_and_not_forwarded(tmp_path: Path, path: str) -> None:
    upstream = numbered_upstream()
    async with running(upstream, tmp_path) as proxy:
        for body, headers, status, code in REFUSED:
            reply = await Call(proxy, body, path, **headers).reply()
            assert (reply.status, reply.cache["detail"]) == (status, code), headers
            error = reply.json["error"]
            assert error["message"], headers
            assert error.get("code", code) == code, headers
    assert upstream.calls == []


@pytest.mark.parametrize("name", ["category", "namespace", "tags"])
def test_a_name_in_the_cache_object_has_a_longest_length(name: str) -> None:
    chat = dialects()["chat"]

    def read(value: str) -> object:
        return chat.read(msgspec.json.encode(ask(PROMPT, cache={name: [value] if name == "tags" else value})))

    assert (LONGEST_NAME, MOST_TAGS) == (1024, 256)
    read("x" * LONGEST_NAME)
    with pytest.raises(RequestRejected, match="1024 characters"):
        read("x" * (LONGEST_NAME + 1))


async def test_a_request_may_have_so_many_tags_and_no_more(tmp_path: Path) -> None:
    upstream = numbered_upstream()
    async with running(upstream, tmp_path) as proxy:
        for count, status in ((MOST_TAGS, 200), (MOST_TAGS + 1, 400)):
            tags = [f"t{number}" for number in range(count)]
            by_body = await Call(proxy, ask(PROMPT, cache={"tags": tags})).reply()
            by_header = await Call(proxy, ask(PROMPT), x_semcache_tags=", ".join(tags)).reply()
            half = tags[: count // 2]
            by_both = await Call(
                proxy, ask(PROMPT, cache={"tags": half}), x_semcache_tags=", ".join(tags[count // 2 :])
            ).reply()
            assert [one.status for one in (by_body, by_header, by_both)] == [status] * 3, count


async def _down(*_: object, **__: object) -> None:
    raise StoreError("connection lost")


async def test_without_its_store_the_server_answers_and_the_operators_routes_say_what_is_down(tmp_path: Path) -> None:
    routes: list[tuple[str, str, Any]] = [
        ("GET", "/semcache/entries", b""),
        ("GET", "/semcache/actions", b""),
        ("POST", "/semcache/invalidate", {"tag": "docs"}),
    ]
    async with running(numbered_upstream(), tmp_path, store__url=f"sqlite:///{tmp_path / 'semcache.db'}") as proxy:
        with pytest.MonkeyPatch.context() as patch:
            for statement in ("fetch", "write"):
                patch.setattr(Database, statement, _down)
            for method, path, body in routes:
                reply = await Call(proxy, body, path, method=method).reply()
                assert (reply.status, reply.json["error"]["code"]) == (503, "store_unavailable"), path
            served = await Call(proxy, ask(PROMPT)).reply()
        assert served.status == 200
        assert "stored" not in served.cache
