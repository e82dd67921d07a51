"""Hedged requests between real processes: what the official client gets, and what the upstream sees of it."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.contract.services import semcache, started
from tests.proxy.driver import cache_status, completion
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"


class Slow:
    """An upstream that answers paraphrases only when it is let, and the model `judge` when that is let."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.answers, self.words = threading.Event(), threading.Event()
        self.words.set()
        self.asked: list[str] = []
        self.left = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lengths = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                if not lengths:
                    # Somebody wants to know what kind of server this is.
                    writer.write(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                    return
                body = json.loads(await reader.readexactly(int(lengths[0])))
                gate = self.words if body["model"] == "judge" else self.answers
                kind = "word" if body["model"] == "judge" else "answer"
                self.asked.append(kind)
                held = body["model"] == "judge" or "please" in body["messages"][-1]["content"]
                gone = asyncio.create_task(reader.read(1))
                while held and not gate.is_set() and not gone.done():
                    await asyncio.sleep(0.005)
                if gone.done():
                    self.left += 1
                    return
                gone.cancel()
                said = self.word if kind == "word" else f"Answer {self.asked.count('answer')}."
                writer.write(self._reply(said, stream=bool(body.get("stream"))))
                await writer.drain()
                return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    @staticmethod
    def _reply(said: str, *, stream: bool) -> bytes:
        if not stream:
            body, kind = completion(said), b"application/json"
        else:
            piece = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            events = [
                {
                    **piece,
                    "choices": [{"index": 0, "delta": {"role": "assistant", "content": said}, "finish_reason": None}],
                },
                {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            ]
            body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events) + b"data: [DONE]\n\n"
            kind = b"text/event-stream"
        head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: " + kind
        return head + b"\r\ncontent-length: %d\r\n\r\n" % len(body) + body


@contextmanager
def listening(upstream: Slow) -> Iterator[str]:
    loop, ready, port = asyncio.new_event_loop(), threading.Event(), [0]

    async def run() -> None:
        server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
        port[0] = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    def work() -> None:
        asyncio.set_event_loop(loop)
        task = loop.create_task(run())
        stopping.append(task)
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            loop.close()

    stopping: list[asyncio.Task[None]] = []
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield f"http://127.0.0.1:{port[0]}/v1"
    finally:
        loop.call_soon_threadsafe(stopping[0].cancel)
        thread.join(PATIENCE)


@contextmanager
def hedging(upstream: Slow, folder: Path, *, audit: float = 0.0) -> Iterator[Any]:
    (folder / "pack.yaml").write_text(
        json.dumps(
            {"name": "test", "defaults": {"wording": [], "threshold": 0.9999, "verdicts": "hedged", "audit": audit}}
        )
    )
    with listening(upstream) as url:
        options = ("--upstream", url, "--port", "0", "--data", str(folder / "data"))
        command = ("tests.contract.scripted", "serve", *options, "--policies", str(folder / "pack.yaml"))
        environment = {
            "SEMCACHE_CACHE__JUDGE": "exact",
            "SEMCACHE_VERDICTS__MODEL": "judge",
            "SEMCACHE_UPSTREAM__API_KEY": "its-own",
            "SEMCACHE_VERIFIER__TIMEOUT": "60",
        }
        with started(*command, "--embedder", "hashing", ready=r"ready on (http://\S+)/v1", **environment) as proxy:
            yield proxy


def ask(proxy: Any, prompt: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    client = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="theirs", max_retries=0, timeout=PATIENCE)
    messages: Any = [{"role": "user", "content": prompt}]
    if not fields.pop("stream", False):
        reply = client.chat.completions.with_raw_response.create(model="m", messages=messages, **fields)
        return reply.parse().choices[0].message.content or "", cache_status(reply.headers["cache-status"])
    with client.chat.completions.with_streaming_response.create(
        model="m", messages=messages, stream=True, **fields
    ) as raw:
        pieces = [chunk.choices[0].delta.content or "" for chunk in raw.parse() if chunk.choices]
        return "".join(pieces), cache_status(raw.headers["cache-status"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_yes_answers_while_the_upstream_is_still_silent_and_it_sees_the_client_leave(
    tmp_path: Path, stream: bool
) -> None:
    upstream = Slow("yes")
    with hedging(upstream, tmp_path) as proxy:
        ask(proxy, PROMPT)
        got, status = ask(proxy, PARAPHRASE, stream=stream)
        assert (got, status["hit"], status["detail"]) == ("Answer 1.", True, "judged")
        eventually(lambda: upstream.left == 1)
        stats = proxy.get("/semcache/stats").json()
    assert sorted(upstream.asked) == ["answer", "answer", "word"]
    assert stats["asking"]["called_off"] == 1
    assert stats["total"]["overhead_usd"] >= 0.0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_upstream_that_is_sooner_is_not_kept_waiting(tmp_path: Path, stream: bool) -> None:
    upstream = Slow("yes")
    upstream.answers.set()
    with hedging(upstream, tmp_path) as proxy:
        ask(proxy, PROMPT)
        upstream.words.clear()
        got, status = ask(proxy, PARAPHRASE, stream=stream)
        assert (got, status.get("hit")) == ("Answer 2.", None)
        upstream.words.set()
        assert upstream.left == 0
    assert upstream.asked.count("answer") == 2


def test_a_call_that_was_drawn_for_an_audit_goes_on_and_judges_what_was_served(tmp_path: Path) -> None:
    upstream = Slow("yes")
    with hedging(upstream, tmp_path, audit=1.0) as proxy:
        ask(proxy, PROMPT)
        assert ask(proxy, PARAPHRASE)[0] == "Answer 1."
        assert upstream.left == 0
        upstream.answers.set()
        eventually(lambda: proxy.get("/semcache/stats").json()["judged"]["default"]["wrong"] == 1)
        printed = semcache("stats", "--url", proxy.url)
        assert re.search(r"judged\s+1\s+1\s+100\.00%", printed), "errors are told by tier"
        assert "a language model's verdict (" in printed
        assert ask(proxy, PARAPHRASE)[0] == "Answer 2.", "it was found wrong, and its own answer was kept"
    assert upstream.asked.count("answer") == 2, "the call that was made is the audit"


def test_a_request_with_tools_waits_for_its_own_answer(tmp_path: Path) -> None:
    upstream = Slow("yes")
    upstream.answers.set()
    tools = [{"type": "function", "function": {"name": "send", "parameters": {"type": "object", "properties": {}}}}]
    with hedging(upstream, tmp_path) as proxy:
        ask(proxy, PROMPT, tools=tools)
        assert ask(proxy, PARAPHRASE, tools=tools)[0] == "Answer 2."
        assert upstream.left == 0
