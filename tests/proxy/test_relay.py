"""What upstreams really send, and that clients get exactly that, now and from the cache."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from semcache.dialects.chat import DIALECT as CHAT_DIALECT
from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound
from semcache.upstream.backends.http import HttpBackend
from tests.proxy.driver import (
    CHAT,
    STREAM,
    Answer,
    Call,
    Upstream,
    ask,
    completion,
    events,
    numbered_upstream,
    running,
    spoken,
)
from tests.waiting import settled

PROMPT = "How do I reset the password of the router?"


async def test_an_upstream_that_answers_a_stream_request_with_json(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion("Off.")]))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT, stream=True)).reply()
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
        body = await Call(proxy, ask(PROMPT)).reply()
    assert first.body == completion("Off.")
    assert first.header("content-type") == "application/json"
    assert "stored" in first.cache
    assert (again.header("content-type") or "").startswith("text/event-stream")
    assert spoken(again.body) == "Off."
    assert again.body.endswith(b"data: [DONE]\n\n")
    assert body.json["choices"][0]["message"]["content"] == "Off."


@pytest.mark.parametrize("fields", [{"echo": True}, {"prompt_logprobs": 0}, {"return_token_ids": True}])
async def test_an_answer_that_tells_of_its_prompt_is_no_answer_to_a_paraphrase(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    async with running(numbered_upstream(), tmp_path) as proxy:
        for plain in ({}, fields):
            await Call(proxy, ask(PROMPT, **plain)).reply()
        assert "hit" in (await Call(proxy, ask(f"{PROMPT} Please.")).reply()).cache
        assert "hit" not in (await Call(proxy, ask(f"{PROMPT} Please.", **fields)).reply()).cache
        assert "hit" in (await Call(proxy, ask(PROMPT, **fields)).reply()).cache


async def test_a_completion_that_repeats_its_prompt_is_no_answer_to_a_paraphrase(tmp_path: Path) -> None:
    def answer(outbound: Outbound) -> Answer:
        said = msgspec.json.decode(outbound.body)["prompt"] + " Hold the button."
        choice = {"index": 0, "text": said, "finish_reason": "stop"}
        return Answer([msgspec.json.encode({"id": "c1", "object": "text_completion", "choices": [choice]})])

    async with running(Upstream(answer), tmp_path) as proxy:
        for prompt in (PROMPT, f"{PROMPT} Please."):
            call = Call(proxy, {"model": "m", "prompt": prompt, "echo": True}, "/v1/completions")
            assert (await call.reply()).json["choices"][0]["text"].startswith(f"{prompt} Hold")


async def test_an_upstream_that_streams_though_nobody_asked(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer(events("Off."), headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT)).reply()
        again = await Call(proxy, ask(PROMPT)).reply()
    assert first.body == b"".join(events("Off."))
    assert again.json["choices"][0]["message"]["content"] == "Off."


@pytest.mark.parametrize("size", [1, 3, 7, 64, 10_000])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
async def test_streams_cut_anywhere(tmp_path: Path, newline: str, size: int) -> None:
    text = "Ausschalten: Größe 10 µm, 日本語, 🙂."
    whole = b": ping" + newline.encode() * 2 + b"".join(events(text[:9], text[9:20], text[20:], newline=newline))
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    upstream = Upstream(lambda _: Answer(pieces, headers=(("content-type", "Text/Event-Stream; charset=utf-8"),)))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT, stream=True)).reply()
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
    assert first.body == whole
    assert first.whole
    assert spoken(again.body) == text
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("end", [b"", b"\n", b"\r"])
async def test_a_stream_that_ends_without_its_last_blank_line(tmp_path: Path, end: bytes) -> None:
    *pieces, done = events("Off.")
    upstream = Upstream(lambda _: Answer([*pieces, done.rstrip() + end], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT, stream=True)).reply()
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
    assert first.body == b"".join(pieces) + done.rstrip() + end
    assert first.cache["stored"] is True
    assert again.cache["hit"] is True
    assert spoken(again.body) == "Off."


@pytest.mark.parametrize("first_stream", [False, True])
async def test_parallel_tool_calls_survive_in_both_directions(tmp_path: Path, first_stream: bool) -> None:
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate([("get_time", '{"zone": "UTC"}'), ("get_time", '{"zone": "CET"}')])
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    body = completion(choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])

    def chunk(finish: str | None = None, **delta: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return b"data: " + msgspec.json.encode({**head, "choices": [choice]}) + b"\n\n"

    pieces = [chunk(role="assistant", content=None)]
    for index, call in enumerate(calls):
        function: Any = call["function"]
        start = {"index": index, "id": call["id"], "type": "function"}
        pieces.append(chunk(tool_calls=[{**start, "function": {"name": function["name"], "arguments": ""}}]))
    for at in range(0, 15, 5):
        for index, call in enumerate(calls):
            function = call["function"]
            pieces.append(
                chunk(tool_calls=[{"index": index, "function": {"arguments": function["arguments"][at : at + 5]}}])
            )
    pieces += [chunk("tool_calls"), b"data: [DONE]\n\n"]
    tools = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]

    def assembled(stream: bytes) -> Any:
        assembler = CHAT_DIALECT.assembler()
        assembler.feed(stream)
        return msgspec.json.decode(assembler.finish().body)["choices"][0]["message"]["tool_calls"]

    upstream = Upstream(lambda _: Answer(pieces, headers=STREAM) if first_stream else Answer([body]))
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask("Compare the zones", tools=tools, stream=first_stream)).reply()
        stream = await Call(proxy, ask("Compare the zones", tools=tools, stream=True)).reply()
        whole = await Call(proxy, ask("Compare the zones", tools=tools)).reply()
    assert stream.cache["detail"] == whole.cache["detail"] == "exact"
    assert assembled(stream.body) == whole.json["choices"][0]["message"]["tool_calls"] == calls
    assert whole.json["choices"][0]["finish_reason"] == "tool_calls"


async def test_compressed_replies_are_read_and_kept_plain(tmp_path: Path) -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        packed = gzip.compress(completion("Off."))
        return httpx2.Response(
            200, headers={"content-encoding": "gzip", "content-type": "application/json"}, content=packed
        )

    backend = HttpBackend("http://upstream", transport=httpx2.MockTransport(handler))
    async with running(backend, tmp_path) as proxy:
        replies = [await Call(proxy, ask(PROMPT)).reply() for _ in range(2)]
        other = await Call(proxy, path="/v1/files", method="GET").reply()
    for reply in (*replies, other):
        assert reply.body == completion("Off.")
        assert reply.header("content-encoding") is None
        assert reply.header("content-length") in (None, str(len(reply.body)))


@pytest.mark.parametrize(
    ("path", "status", "kind", "body", "sized"),
    [
        (CHAT, 200, "application/json", completion("Off."), True),
        (CHAT, 429, "application/json", b'{"error": {"message": "Slow down."}}', True),
        (CHAT, 200, "text/event-stream", b"data: [DONE]\n\n", False),
        ("/v1/files/file-1/content", 200, "application/octet-stream", b"x" * 5000, True),
    ],
    ids=["answer", "error", "events", "download"],
)
async def test_what_is_passed_whole_has_the_length_that_the_upstream_told(
    tmp_path: Path, path: str, status: int, kind: str, body: bytes, sized: bool
) -> None:
    """A download without its length shows no progress, and one that broke off looks whole to a client of HTTP/1.0."""

    def handler(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": kind}, content=body)

    backend = HttpBackend("http://upstream", transport=httpx2.MockTransport(handler))
    async with running(backend, tmp_path) as proxy:
        reply = await Call(proxy, ask(PROMPT, stream=not sized), path).reply()
    assert reply.body == body
    assert reply.header("content-length") == (str(len(body)) if sized else None)


async def test_a_compressed_request_is_forwarded_plain(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion("Off.")]))
    plain = msgspec.json.encode(ask(PROMPT))
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, gzip.compress(plain), **{"content-encoding": "gzip"}).reply()
        hit = await Call(proxy, plain).reply()
    assert upstream.calls[0].body == plain
    assert "content-encoding" not in dict(upstream.calls[0].headers)
    assert hit.cache["hit"] is True


async def test_the_end_of_a_stream_is_told_only_when_it_is_kept(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer(events("Off."), headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        keeper = proxy.cache._writer
        kept, keep = asyncio.Event(), keeper.keep

        async def slow(entries: Any) -> None:
            await kept.wait()
            await keep(entries)

        keeper.keep = slow  # type: ignore[method-assign]
        call = Call(proxy, ask(PROMPT, stream=True))
        for _ in range(4):
            message = await call.message()
            assert message is not None
            assert b"[DONE]" not in message.get("body", b"")
        await settled()
        assert call._sent.empty()
        kept.set()
        assert (await call.reply()).body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        (events("Turn it ", end=False)[:-1], "incomplete"),
        (
            [*events("Turn it ")[:2], b'data: {"error": {"message": "overloaded"}}\n\n', b"data: [DONE]\n\n"],
            "incomplete",
        ),
        ([*events("Turn it ")[:2], b"data: {brok\n\n", *events("off.")[2:]], "incomplete"),
    ],
    ids=["no-end", "error-event", "broken-event"],
)
async def test_what_is_not_a_whole_answer_is_relayed_and_not_kept(
    tmp_path: Path, pieces: list[bytes], why: str
) -> None:
    upstream = Upstream(lambda _: Answer(pieces, headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask(PROMPT, stream=True)).reply()
        assert len(proxy.cache.registry) == 0
        await proxy.cache.event_log.flush()
        metrics = await Call(proxy, path="/metrics", method="GET").reply()
    assert reply.body == b"".join(pieces)
    assert f'semcache_stores_total{{category="default",result="{why}"}} 1.0' in metrics.body.decode()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
async def test_failures_of_the_upstream_are_relayed(tmp_path: Path, status: int, stream: bool) -> None:
    headers = (("content-type", "application/json"), ("retry-after", "7"), ("x-should-retry", "true"))
    upstream = Upstream(lambda _: Answer([b'{"error": ', b'"e"}'], status=status, headers=headers))
    async with running(upstream, tmp_path) as proxy:
        replies = [await Call(proxy, ask(PROMPT, stream=stream)).reply() for _ in range(2)]
    assert len(upstream.calls) == 2
    for reply in replies:
        assert (reply.status, reply.body) == (status, b'{"error": "e"}')
        assert (reply.header("retry-after"), reply.header("x-should-retry")) == ("7", "true")
        assert reply.cache == {"fwd": "miss", "fwd-status": status, "detail": "cold"}


@pytest.mark.parametrize("path", [CHAT, "/v1/embeddings", "/v1/messages", "/v1/messages/count_tokens", "/v1/files"])
@pytest.mark.parametrize("error", [UpstreamError("cannot connect"), UpstreamTimeout("silent")], ids=["down", "slow"])
async def test_an_upstream_that_cannot_be_reached(tmp_path: Path, path: str, error: Exception) -> None:
    upstream = Upstream(lambda _: error)
    body = {"model": "m", "input": "x"} if "embed" in path else ask(PROMPT, max_tokens=5)
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, body, path).reply()
    assert reply.status == (504 if isinstance(error, UpstreamTimeout) else 502)
    assert str(error) in str(reply.json["error"])
    assert reply.json.get("type") == ("error" if "messages" in path else None)
    assert "fwd" in reply.cache
    assert "fwd-status" not in reply.cache


async def test_a_body_that_breaks_off_is_an_error_and_not_half_an_answer(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion()[:40], UpstreamError("reset")]))
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask(PROMPT)).reply()
        passed = await Call(proxy, path="/v1/files", method="GET").reply()
        assert len(proxy.cache.registry) == 0
    assert reply.status == 502
    assert (passed.status, passed.body, passed.whole) == (200, completion()[:40], False)


async def test_the_unknown_passes_through_untouched(tmp_path: Path) -> None:
    binary = bytes(range(256)) * 10
    upstream = Upstream(
        lambda _: Answer([binary[:100], binary[100:]], status=201, headers=(("content-type", "audio/mpeg"),))
    )
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, binary, "/v1/audio/speech", query="a=%20b&c", **{"content-type": "x/y"}).reply()
        listing = await Call(proxy, path=CHAT, method="GET").reply()
        head = await Call(proxy, path="/v1/models", method="HEAD").reply()
        deleted = await Call(proxy, path="/v1/files/a%2Fb", method="DELETE").reply()
    sent = upstream.calls[0]
    assert (sent.method, sent.path, sent.query, sent.body) == ("POST", "/v1/audio/speech", "a=%20b&c", binary)
    assert dict(sent.headers)["content-type"] == "x/y"
    assert (reply.status, reply.body, reply.header("content-type")) == (201, binary, "audio/mpeg")
    assert [call.method for call in upstream.calls] == ["POST", "GET", "HEAD", "DELETE"]
    assert upstream.calls[3].path == "/v1/files/a%2Fb"
    assert all(got.cache == {"fwd": "bypass", "fwd-status": 201} for got in (reply, listing, head, deleted))


async def test_a_stored_answer_that_cannot_be_replayed_is_asked_for_again(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion("Off.")]))
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        for entry in proxy.cache.components.live.hot._entries.values():
            object.__setattr__(entry, "body", b"damaged")
        reply = await Call(proxy, ask(PROMPT, stream=True)).reply()
        metrics = await Call(proxy, path="/metrics", method="GET").reply()
    assert reply.status == 200
    assert reply.body == completion("Off.")
    assert reply.cache["detail"] == "cache-fault"
    assert b'semcache_faults_total{component="replay"} 1.0' in metrics.body


async def test_disconnecting_on_a_pass_through_ends_the_call(tmp_path: Path) -> None:
    never = asyncio.Event()
    upstream = Upstream(lambda _: Answer([b"one", never], headers=(("content-type", "text/plain"),)))
    async with running(upstream, tmp_path) as proxy:
        call = Call(proxy, path="/v1/events", method="GET")
        await call.message()
        await call.leave()
    assert upstream.replies[0].closed


@pytest.mark.parametrize("stream", [False, True])
async def test_a_defect_in_keeping_answers_costs_nobody_the_answer(tmp_path: Path, stream: bool) -> None:
    async def defect(*_: Any, **__: Any) -> None:
        raise KeyError("a defect of ours")

    pieces = events("Off.") if stream else [completion("Off.")]
    upstream = Upstream(lambda _: Answer(pieces, headers=STREAM if stream else Answer([]).headers))
    async with running(upstream, tmp_path) as proxy:
        proxy.cache.admit = proxy.cache.admit_all = defect  # type: ignore[assignment]
        reply = await Call(proxy, ask(PROMPT, stream=stream)).reply()
        vectors = Answer([b'{"data":[{"index":0,"embedding":[1.0]}],"usage":{}}'])
        upstream.answer = lambda _: vectors
        embedded = await Call(proxy, {"model": "m", "input": "x"}, "/v1/embeddings").reply()
        metrics = await Call(proxy, path="/metrics", method="GET").reply()
    assert (reply.status, reply.body, reply.whole) == (200, b"".join(pieces), True)
    assert (embedded.status, embedded.json["data"][0]["embedding"]) == (200, [1.0])
    assert "stored" not in embedded.cache
    assert b'semcache_faults_total{component="cache"} 2.0' in metrics.body


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_that_is_only_approximate_is_relayed_and_never_kept(tmp_path: Path, stream: bool) -> None:
    marked = [("x-semcache-approximate", "chunks")]
    pieces, headers = (events("About so."), STREAM) if stream else ([completion("About so.")], Answer([]).headers)
    upstream = Upstream(lambda _: Answer(pieces, headers=[*headers, *marked]))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT, stream=stream)).reply()
        again = await Call(proxy, ask(PROMPT, stream=stream)).reply()
    assert first.body == again.body == b"".join(pieces)
    assert first.header("x-semcache-approximate") == "chunks"
    assert "stored" not in first.cache
    assert len(upstream.calls) == 2


@pytest.mark.parametrize(
    "header",
    [
        {"x-portkey-config": "cfg-1"},
        {"openai-organization": "org-2"},
        {"openai-project": "p"},
        {"x-litellm-tags": "cheap"},
        {"helicone-fallbacks": "x"},
        {"cookie": "session=1"},
        {"cookie": "AWSALB=a; session=1"},
        {"x-anything-new": "1"},
    ],
)
async def test_what_is_relayed_is_keyed(tmp_path: Path, header: dict[str, str]) -> None:
    """An answer that somebody's header brought about is none for those who did not send it."""
    upstream = numbered_upstream()
    async with running(upstream, tmp_path) as proxy:
        planted = await Call(proxy, ask("What is the capital of France?"), **header).reply()
        honest = await Call(proxy, ask("What is the capital of France?")).reply()
        again = await Call(proxy, ask("What is the capital of France?"), **header).reply()
    assert [next(iter(header)) in dict(call.headers) for call in upstream.calls] == [True, False]
    assert ["hit" in reply.cache for reply in (planted, honest, again)] == [False, False, True]


@pytest.mark.parametrize(
    "header",
    [
        {"traceparent": "00-1-2-01"},
        {"x-request-id": "r1"},
        {"user-agent": "x"},
        {"x-stainless-lang": "python"},
        {"x-forwarded-for": "10.0.0.1"},
        {"cf-ray": "1"},
        {"cookie": "__cf_bm=abc; _cfuvid=def"},
        {"cookie": "AWSALB=a; BIGipServerpool=b; SERVERID=c"},
        {"authorization": "Bearer sk-theirs"},
        {"idempotency-key": "k"},
        {"x-datadog-trace-id": "1"},
    ],
)
async def test_what_no_answer_depends_on_keeps_nobody_apart(tmp_path: Path, header: dict[str, str]) -> None:
    async with running(numbered_upstream(), tmp_path) as proxy:
        await Call(proxy, ask("What is the capital of France?"), **header).reply()
        assert "hit" in (await Call(proxy, ask("What is the capital of France?")).reply()).cache


async def test_a_client_that_leaves_with_the_last_event_of_a_stream_has_had_its_answer(tmp_path: Path) -> None:
    """The upstream keeps its connection open for a while, which no client waits for."""
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    told = b"data: " + msgspec.json.encode({"id": "c1", "choices": [], "usage": usage})
    *said, done = events("Off.")
    upstream = Upstream(lambda _: Answer([*said, told + b"\n\n", done, asyncio.Event()], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        call = Call(proxy, ask(PROMPT, stream=True))
        while b"[DONE]" not in ((await call.message()) or {}).get("body", b""):
            pass
        await call.leave()
        stats = (await Call(proxy, path="/semcache/stats", method="GET").reply()).json
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
    assert upstream.replies[0].closed
    assert stats["outcomes"]["total"]["calls"] == 1
    assert stats["outcomes"]["total"]["completion_tokens"] == 7
    assert again.cache["hit"]
