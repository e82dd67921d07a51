"""Clients that call us by other names, from browsers, or with old protocols get what they came for."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.proxy import stream_usage
from semcache.proxy.stream_usage import UsageRemover
from tests.proxy.driver import STREAM, Answer, Call, Upstream, ask, completion, events, running

ORIGIN = "https://app.example.com"


@pytest.fixture
def upstream() -> Upstream:
    return Upstream(lambda _: Answer([completion()]))


@pytest.mark.parametrize(
    "path",
    [
        "/chat/completions",
        "/v1/chat/completions/",
        "/v1/v1/chat/completions",
        "/openai/v1/chat/completions",
        # Of a base URL that ends with a slash: else nothing is cached, and nobody is told why.
        "//v1/chat/completions",
        "/v1//chat/completions",
        "/v1/chat//completions/",
        "//chat/completions",
        "/openai//v1/chat/completions",
    ],
)
async def test_other_spellings_of_a_path_are_cached_under_its_one_name(
    tmp_path: Path, upstream: Upstream, path: str
) -> None:
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask("hello")).reply()
        assert (await Call(proxy, ask("hello"), path=path).reply()).cache["hit"] is True
    assert [call.path for call in upstream.calls] == ["/v1/chat/completions"]


async def test_an_azure_deployment_is_the_model_of_that_name(tmp_path: Path, upstream: Upstream) -> None:
    body = {"messages": [{"role": "user", "content": "hello"}]}
    path, key = "/openai/deployments/m/chat/completions", "azure-key"
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, body, path=path, query="api-version=2024-10-21", api_key=key).reply()
        again = await Call(proxy, ask("hello")).reply()
    assert first.status == 200
    assert again.cache["hit"] is True
    [sent] = upstream.calls
    assert (sent.path, sent.query, msgspec.json.decode(sent.body)["model"]) == ("/v1/chat/completions", "", "m")
    assert ("api-key", key) in list(sent.headers)


async def test_azures_path_of_a_response_is_cached_under_its_one_name(tmp_path: Path) -> None:
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    output = [{**said, "content": [{"type": "output_text", "text": "Hello.", "annotations": []}]}]
    whole = {"id": "resp_1", "object": "response", "status": "completed", "error": None, "output": output}
    upstream = Upstream(lambda _: Answer([msgspec.json.encode(whole)]))
    body, version = {"model": "m", "input": "hello", "store": False}, "api-version=2025-04-01-preview"
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, body, path="//openai/responses", query=version).reply()
        again = await Call(proxy, body, path="/v1/responses").reply()
    assert (first.status, again.cache["hit"]) == (200, True)
    assert [(call.path, call.query) for call in upstream.calls] == [("/v1/responses", "")]


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("GET", "/openai/models", "/v1/models"),
        ("GET", "/openai/responses/resp_1/input_items", "/v1/responses/resp_1/input_items"),
        ("GET", "/openai/files/a%2Fb/content", "/v1/files/a%2Fb/content"),
        ("POST", "/openai/deployments/m/audio/speech", "/v1/audio/speech"),
        ("POST", "/openai/deployments/m/images/generations", "/v1/images/generations"),
    ],
)
async def test_azures_other_paths_are_passed_on_under_openais(
    tmp_path: Path, upstream: Upstream, method: str, path: str, sent: str
) -> None:
    body = {"model": "m", "input": "hello"} if method == "POST" else None
    query = "limit=2&api-version=2025-04-01-preview" if method == "GET" else "api-version=2025-04-01-preview"
    async with running(upstream, tmp_path) as proxy:
        assert (await Call(proxy, body, path=path, method=method, query=query).reply()).status == 200
    assert [(call.path, call.query) for call in upstream.calls] == [(sent, "limit=2" if method == "GET" else "")]


async def test_bytes_sent_to_an_azure_deployment_are_in_flight_like_any_others(
    tmp_path: Path, upstream: Upstream
) -> None:
    # More would be held in memory than the operator allows the process, or a tenant.
    path, piece = "/openai/deployments/m/chat/completions", b" " * (1 << 20)
    limits = {"server__max_body": 2 << 20, "server__max_in_flight": 4 << 20, "server__max_tenant_in_flight": 3 << 20}
    async with running(upstream, tmp_path, **limits) as proxy:
        budget = proxy.context.intake.hold("default")._budget
        held: list[int] = []
        pieces = [piece, piece[:1000], b'{"messages": [{"role": "user", "content": "hello"}]}']

        async def receive() -> dict[str, Any]:
            held.append(budget.held)
            if not pieces:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost:8080"), (b"content-type", b"application/json")]
        asked = {"type": "http", "http_version": "1.1", "method": "POST", "query_string": b"", "headers": headers}
        await proxy({**asked, "path": path, "raw_path": path.encode()}, receive, send)
        assert budget.held == 0
    assert sent[0]["status"] == 200
    assert held[1:3] == [len(piece), len(piece) + 1000]


async def test_a_compressed_body_to_an_azure_deployment_is_given_its_model(tmp_path: Path, upstream: Upstream) -> None:
    body = gzip.compress(b'{"messages": [{"role": "user", "content": "hello"}]}')
    path = "/openai/deployments/m/chat/completions"
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, body, path=path, content_encoding="gzip").reply()
    assert reply.status == 200
    assert msgspec.json.decode(upstream.calls[0].body)["model"] == "m"


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/v1beta/models/gemini-2.5-pro:generateContent", ("error", "message")),
        ("/api/chat", ("error",)),
        ("/nowhere", ("error", "message")),
    ],
)
async def test_an_unknown_path_says_what_is_served_in_the_shape_of_its_api(
    tmp_path: Path, upstream: Upstream, path: str, where: tuple[str, ...]
) -> None:
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, {}, path=path).reply()
    said: Any = reply.json
    for name in where:
        said = said[name]
    assert reply.status == 404
    assert "http://HOST:PORT/v1" in said


async def test_a_page_of_an_allowed_origin_can_read_hits_misses_and_errors(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, server__cors_origins=ORIGIN, auth__required=True) as proxy:
        preflight = await Call(
            proxy,
            method="OPTIONS",
            origin=ORIGIN,
            access_control_request_method="POST",
            access_control_request_headers="authorization,content-type",
        ).reply()
        refused = await Call(proxy, ask("hello"), origin=ORIGIN).reply()
        stranger = await Call(proxy, ask("hello"), origin="https://evil.example").reply()
        admin = await Call(proxy, path="/semcache/stats", method="GET", origin=ORIGIN).reply()
    assert preflight.status == 204
    assert preflight.header("access-control-allow-origin") == ORIGIN
    assert preflight.header("access-control-allow-headers") == "authorization,content-type"
    assert (refused.status, refused.header("access-control-allow-origin")) == (401, ORIGIN)
    assert "cache-status" in (refused.header("access-control-expose-headers") or "")
    assert stranger.header("access-control-allow-origin") is None
    assert admin.header("access-control-allow-origin") is None, "administration is not for pages of others"


async def test_the_upstreams_own_cors_headers_do_not_stand_beside_ours(tmp_path: Path) -> None:
    headers = (("content-type", "application/json"), ("access-control-allow-origin", "https://chat.vendor.example"))
    backend = Upstream(lambda _: Answer([completion()], headers=headers))
    async with running(backend, tmp_path, server__cors_origins="*") as proxy:
        for _ in range(2):
            reply = await Call(proxy, ask("hello"), origin=ORIGIN).reply()
            assert reply.header("access-control-allow-origin") == "*"


async def test_a_stream_without_usage_leaves_an_entry_with_usage(tmp_path: Path) -> None:
    told = b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'

    def stream(outbound: Any) -> Answer:
        wanted = msgspec.json.decode(outbound.body)["stream_options"]
        assert wanted == {"include_usage": True}
        *spoken, done = events("An ", "answer.")
        spoken = [event.replace(b"}\n", b',"usage":null}\n') for event in spoken]
        return Answer([*spoken, told[:30], told[30:] + done], headers=STREAM)

    backend = Upstream(stream)
    async with running(backend, tmp_path) as proxy:
        first = await Call(proxy, ask("hello", stream=True)).reply()
        later = await Call(proxy, ask("hello")).reply()
        stats = (await Call(proxy, path="/semcache/stats", method="GET").reply()).json
    assert first.body == b"".join(events("An ", "answer."))
    assert later.json["usage"] == {"prompt_tokens": 5, "completion_tokens": 7}
    assert stats["outcomes"]["miss"]["prompt_tokens"] == 5


async def test_a_client_that_asks_for_usage_gets_the_stream_as_it_came(tmp_path: Path) -> None:
    told = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'
    *spoken, done = events("An answer.")
    backend = Upstream(lambda _: Answer([*spoken, told, done], headers=STREAM))
    body = ask("hello", stream=True, stream_options={"include_usage": True})
    async with running(backend, tmp_path) as proxy:
        reply = await Call(proxy, body).reply()
    assert reply.body == b"".join([*spoken, told, done])
    assert msgspec.json.decode(backend.calls[0].body) == body


async def test_a_backend_that_refuses_to_tell_usage_is_asked_without_it_from_then_on(tmp_path: Path) -> None:
    def stream(outbound: Any) -> Answer:
        if b"stream_options" in outbound.body:
            return Answer([b'{"error":{"message":"unknown field stream_options"}}'], status=400)
        return Answer(events("An answer."), headers=STREAM)

    backend = Upstream(stream)
    async with running(backend, tmp_path) as proxy:
        for prompt in ("hello", "and another thing"):
            reply = await Call(proxy, ask(prompt, stream=True)).reply()
            assert (reply.status, reply.body) == (200, b"".join(events("An answer.")))
    assert len(backend.calls) == 3


def test_usage_is_found_however_the_stream_is_cut() -> None:
    told = b'data: {"choices":[],"usage":{"prompt_tokens":5}}\r\n\r\n'
    tricky = b'data: {"choices":[{"delta":{"content":"say ,\\"usage\\":null"}}],"usage":null}\n\n'
    whole = b"".join([events("a")[0], told, tricky, b"data: [DONE]\n\ncut off"])
    expected = whole.replace(told, b"").replace(b'}}],"usage":null', b"}}]")
    for size in range(1, 40):
        remover = UsageRemover()
        parts = [remover.feed(whole[start : start + size]) for start in range(0, len(whole), size)]
        assert b"".join(parts) + remover.close() == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_are_passed_on_as_they_come_whatever_ends_their_lines(end: bytes) -> None:
    remover = UsageRemover()
    first, second = (b'data: {"choices":[%d]}' % number + end * 2 for number in range(2))
    assert remover.feed(first) == first
    assert remover.feed(b'data: {"choices":[],"usage":{"total_tokens":3}}' + end * 2).strip() == b""
    assert remover.feed(second).strip() == second.strip()


def test_a_long_event_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event of a megabyte, as of a picture, in the pieces of a network took the whole worker for four seconds."""
    searched = 0

    class Counting:
        def finditer(self, held: bytes, start: int = 0) -> Iterator[re.Match[bytes]]:
            nonlocal searched
            searched += len(held) - start
            return blank.finditer(held, start)

    blank = stream_usage._BLANK
    monkeypatch.setattr(stream_usage, "_BLANK", Counting())
    remover = UsageRemover()
    event = b"data: " + b"x" * 100_000 + b"\n\n"
    assert b"".join(remover.feed(event[start : start + 100]) for start in range(0, len(event), 100)) == event
    assert searched < 2 * len(event)


async def test_a_hit_on_embeddings_tells_the_tokens(tmp_path: Path) -> None:
    body = {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}]}
    backend = Upstream(
        lambda _: Answer([msgspec.json.encode(body | {"usage": {"prompt_tokens": 9, "total_tokens": 9}})])
    )
    async with running(backend, tmp_path) as proxy:
        replies = [await Call(proxy, {"model": "m", "input": "hello"}, path="/v1/embeddings").reply() for _ in range(2)]
    assert [reply.json["usage"] for reply in replies] == [{"prompt_tokens": 9, "total_tokens": 9}] * 2
    assert replies[1].cache["hit"] is True


@pytest.mark.parametrize("stream", [False, True])
async def test_a_replayed_response_repeats_this_request_and_not_the_one_before(tmp_path: Path, stream: bool) -> None:
    def answer(outbound: Any) -> Answer:
        asked = msgspec.json.decode(outbound.body)
        message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
        return Answer(
            [
                msgspec.json.encode(
                    {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [message]}
                    | {
                        "store": asked.get("store", True),
                        "user": asked.get("user"),
                        "metadata": asked.get("metadata", {}),
                    }
                    | {"usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
                )
            ]
        )

    mine = {"model": "m", "input": "hello", "store": True, "user": "ann", "metadata": {"case": "17"}}
    async with running(Upstream(answer), tmp_path) as proxy:
        await Call(proxy, mine, path="/v1/responses").reply()
        theirs = {"model": "m", "input": "hello", "store": False, "stream": stream}
        reply = await Call(proxy, theirs, path="/v1/responses").reply()
    assert reply.cache["hit"] is True
    assert b'"ann"' not in reply.body
    assert b'"store":false' in reply.body
    assert b'"17"' not in reply.body


async def test_a_client_of_http_1_1_needs_a_host(tmp_path: Path, upstream: Upstream) -> None:
    sent: list[dict[str, Any]] = []

    came: list[bool] = []

    async def receive() -> dict[str, Any]:
        if came:
            await asyncio.Event().wait()
        came.append(True)
        return {"type": "http.request", "body": msgspec.json.encode(ask("hello")), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"",
        "query_string": b"",
        "headers": [],
    }
    async with running(upstream, tmp_path) as proxy:
        await proxy({**scope, "http_version": "1.1"}, receive, send)
        assert sent[0]["status"] == 400


async def test_health_can_be_asked_with_head(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path) as proxy:
        for path in ("/livez", "/readyz", "/metrics"):
            assert (await Call(proxy, path=path, method="HEAD").reply()).status == 200


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/v1/files/a%2Fb%3Fc", "/v1/files/a%2Fb%3Fc"),
        ("//v1//files//a%20b", "/v1/files//a%20b"),
        ("/v1/files/%ff", "/v1/files/%ff"),
    ],
)
async def test_what_is_passed_on_under_another_prefix_keeps_its_escapes(
    tmp_path: Path, upstream: Upstream, path: str, sent: str
) -> None:
    # A decoded slash or question mark would name another file, or be a query.
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, {}, path=path).reply()
    assert [(call.path, call.query) for call in upstream.calls] == [(sent, "")]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/../x", 400, "bad_path"),
        ("/v1/models/%2e%2E/files", 400, "bad_path"),
        ("/v1/..%2fx", 400, "bad_path"),
        ("/v1/x;..;/y", 400, "bad_path"),
        ("/api/v1/../x", 400, "bad_path"),
        ("/v1/files/a%00b", 400, "bad_path"),
        ("/v1/files/a%0d%0ax-evil:1", 400, "bad_path"),
        ("/v1/" + "a" * 40_000, 414, "path_too_long"),
        ("/semcache/../v1/models", 404, "not_found"),
        ("/semcache/nothing", 404, "not_found"),
        ("/../etc/passwd", 404, "not_found"),
    ],
)
async def test_a_path_that_cannot_be_passed_on_is_the_clients_mistake_and_not_the_upstreams(
    tmp_path: Path, upstream: Upstream, path: str, status: int, code: str
) -> None:
    # A 502 would page whoever is on call for the upstream, and have SDKs try again.
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, {}, path=path).reply()
    said: Any = reply.json
    assert (reply.status, said["error"]["code"]) == (status, code)
    assert status == 404 or reply.cache["detail"] == code
    assert upstream.calls == []


@pytest.mark.parametrize("path", ["/semcache/entries/", "//semcache//entries", "/readyz/"])
async def test_a_slash_too_many_leads_to_no_redirect_that_names_a_host(
    tmp_path: Path, upstream: Upstream, path: str
) -> None:
    # Behind TLS it would name http://, and a client send its key there.
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, path=path, method="GET").reply()
    assert reply.status == 200


async def test_a_method_that_an_endpoint_does_not_take_is_refused_in_the_shape_of_every_error(
    tmp_path: Path, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, path="/semcache/stats", method="DELETE").reply()
    said: Any = reply.json
    assert (reply.status, said["error"]["code"]) == (405, "invalid_request_error")
    assert reply.header("allow") == "GET"
