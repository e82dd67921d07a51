"""What goes wrong upstream or at the client, as the official client sees it through real sockets."""

from __future__ import annotations

import hashlib
import json
import socket
from contextlib import closing
from typing import Any

import httpx2
import openai
import pytest

from tests.contract.services import Service
from tests.proxy.driver import cache_status
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process

JSON = {"content-type": "application/json"}


def ask(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "What is a fjord?"}], **fields}


def entries(proxy: Service, model: str) -> list[Any]:
    found: list[Any] = proxy.get("/semcache/entries", params={"model": model}).json()["entries"]
    return found


def disconnects(upstream: Service) -> int:
    return int(upstream.get("/echo/stats").json()["disconnects"])


@pytest.mark.parametrize("stream", [False, True])
def test_rate_limits_are_relayed(client: openai.OpenAI, stream: bool) -> None:
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(**ask("fail-429"), stream=stream)
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.response.headers["retry-after-ms"] == "7000"
    assert caught.value.request_id
    assert cache_status(caught.value.response.headers["cache-status"])["fwd-status"] == 429


@pytest.mark.parametrize("stream", [False, True])
def test_server_errors_are_relayed(client: openai.OpenAI, stream: bool) -> None:
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(**ask("fail-500"), stream=stream)
    assert caught.value.response.json() == {
        "error": {"message": "asked to fail with 500", "type": "api_error", "param": None, "code": "500"}
    }


def test_a_stream_that_breaks_off_is_seen_to_break_off(client: openai.OpenAI, proxy: Service) -> None:
    stream = client.chat.completions.create(**ask("die-midstream"), stream=True)
    assert next(stream).choices
    with pytest.raises(openai.APIError, match="broke off"):
        list(stream)
    assert entries(proxy, "die-midstream") == []
    with pytest.raises(openai.InternalServerError) as whole:
        client.chat.completions.create(**ask("die-midstream"))
    assert whole.value.status_code == 502


def test_what_cannot_be_read_is_relayed_and_not_kept(proxy: Service) -> None:
    got = proxy.post("/v1/chat/completions", ask("malformed"))
    assert got.status_code == 200
    assert len(got.content) > 50
    assert entries(proxy, "malformed") == []


def test_a_stream_that_lacks_its_last_event_alone_is_relayed_as_it_is_and_kept(proxy: Service) -> None:
    got = proxy.post("/v1/chat/completions", ask("no-end", stream=True))
    assert got.status_code == 200
    assert "[DONE]" not in got.text
    assert len(entries(proxy, "no-end")) == 1
    again = proxy.post("/v1/chat/completions", ask("no-end", stream=True))
    assert cache_status(again.headers["cache-status"])["hit"] is True


def test_an_impatient_client_ends_the_call(client: openai.OpenAI, proxy: Service, upstream: Service) -> None:
    before = disconnects(upstream)
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.3).chat.completions.create(**ask("hang"))
    eventually(lambda: disconnects(upstream) == before + 1)
    assert entries(proxy, "hang") == []


def test_leaving_in_the_middle_ends_the_call_and_keeps_nothing(
    client: openai.OpenAI, proxy: Service, upstream: Service
) -> None:
    before = disconnects(upstream)
    stream = client.chat.completions.create(**ask("hang-midstream"), stream=True)
    assert next(iter(stream)).choices
    stream.close()
    eventually(lambda: disconnects(upstream) == before + 1)
    assert entries(proxy, "hang-midstream") == []


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b'{"model": "m", "messages": [', "JSON"),
        (b'{"model": "m", "messages": [{"role": "user", "content": NaN}]}', "JSON"),
        (b"\xff\xfe", "JSON"),
        (b'{"model": "m", "messages": []}', "messages"),
        (b'{"model": "m", "messages": "hello"}', "messages"),
        (b'{"model": null, "messages": [{"role": "user", "content": "x"}]}', "model"),
        (b'{"model": "m", "messages": [{"role": "user", "content": 7}]}', "content"),
        (b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "n": "two"', "JSON"),
        (b"[" * 100_000, ""),
    ],
)
def test_requests_that_cannot_be_read(proxy: Service, body: bytes, word: str) -> None:
    got = httpx2.post(f"{proxy.url}/v1/chat/completions", content=body, headers=JSON, timeout=PATIENCE)
    assert got.status_code == 400
    assert word in got.json()["error"]["message"]
    assert got.json()["error"]["type"] == "invalid_request_error"
    cache_status(got.headers["cache-status"])


@pytest.mark.parametrize(
    ("path", "name", "body", "status"),
    [
        ("/v1/chat/completions", "x-request-id", b"{", 400),
        ("/v1/messages", "request-id", b"{", 400),
        ("/v1/embeddings", "x-request-id", b"{", 400),
        ("/v1/embeddings", "x-request-id", b'{"model": "m", "input": ["never asked", "nor this"]}', 504),
    ],
)
def test_a_refusal_has_an_id_by_which_it_is_found(
    proxy: Service, path: str, name: str, body: bytes, status: int
) -> None:
    headers = {**JSON, "cache-control": "only-if-cached"}
    got = httpx2.post(proxy.url + path, content=body, headers=headers, timeout=PATIENCE)
    assert got.status_code == status
    assert proxy.get(f"/semcache/requests/{got.headers[name]}").json()["status"] == status


def test_embeddings_are_found_by_the_id_that_the_reply_shows(proxy: Service) -> None:
    """Also where the first input is remembered, and where the upstream named the call."""
    for inputs in (["a fjord"], ["a fjord"], ["a fjord", "a sound"]):
        got = proxy.post("/v1/embeddings", {"model": "embedding-ids", "input": inputs})
        found = proxy.get(f"/semcache/requests/{got.headers['x-request-id']}")
        assert found.json().get("model") == "embedding-ids", (inputs, found.json())


def test_the_client_calls_them_bad_requests(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as empty:
        client.chat.completions.create(model="m", messages=[])
    with pytest.raises(openai.BadRequestError) as category:
        client.chat.completions.create(**ask("m"), extra_headers={"x-semcache-category": "suport"})
    assert empty.value.param == "messages"
    assert "support" in category.value.message, "the nearest name is a help"


def test_unknown_fields_reach_the_upstream_byte_for_byte(proxy: Service, upstream: Service) -> None:
    raw = (
        '{"model":"gpt-y", "messages":[{"role":"user","content":"Caf\\u00e9 \\ud83d\\ude42?"}], "temperature":0.10,'
        ' "x_new":{"b":[1.0,1e3,null],"a":"\\/"}}'
    )
    httpx2.post(
        f"{proxy.url}/v1/chat/completions", content=raw.encode(), headers=JSON, timeout=PATIENCE
    ).raise_for_status()
    newest = upstream.get("/echo/stats").json()["newest"]
    assert raw in [seen["body"] for seen in newest]


def test_the_unknown_passes_through(proxy: Service) -> None:
    binary = bytes(range(256)) * 50
    got = httpx2.post(f"{proxy.url}/v1/audio/transcriptions?x=%20y&z=1", content=binary, timeout=PATIENCE)
    assert got.json()["sha256"] == hashlib.sha256(binary).hexdigest()
    assert got.json()["query"] == "x=%20y&z=1"
    assert cache_status(got.headers["cache-status"]) == {"fwd": "bypass"}
    assert proxy.get("/v1/nosuch/thing").json()["method"] == "GET"


def test_no_header_is_said_twice(proxy: Service) -> None:
    for _ in range(2):
        got = proxy.post("/v1/chat/completions", ask("gpt-twice"))
        names = [name for name, _ in got.headers.raw]
        assert len(names) == len({name.lower() for name in names}), names
        assert b"date" in {name.lower() for name in names}


def test_a_client_that_leaves_before_its_request_is_whole(proxy: Service) -> None:
    for _ in range(3):
        with closing(socket.create_connection(("127.0.0.1", proxy.port))) as raw:
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{")
    assert proxy.get("/readyz").json()["status"] == "ok"
    assert b"Traceback" not in proxy.log.read_bytes()


def test_only_if_cached(client: openai.OpenAI) -> None:
    only = {"extra_headers": {"cache-control": "only-if-cached"}}
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(**ask("gpt-only"), **only)
    client.chat.completions.create(**ask("gpt-only"))
    assert caught.value.status_code == 504
    assert json.loads(caught.value.response.text)["error"]["code"] == "not_cached"
    assert client.chat.completions.create(**ask("gpt-only"), **only).choices
