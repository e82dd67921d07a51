"""What a server is asked about itself costs its clients at most one question, and no client another's salt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound, Reply
from semcache.upstream.routing import server_kind_inquiry
from semcache.upstream.routing.kinds import KINDS
from semcache.upstream.routing.prompts import read
from semcache.upstream.routing.server_kind_inquiry import ServerKindInquiry
from semcache.upstream.routing.tokens import ServerTokens
from tests.waiting import settled, until

VLLM = b'{"data": [{"id": "m", "owned_by": "vllm"}]}'


class Answered:
    headers: Sequence[tuple[str, str]] = ()

    def __init__(self, status: int, pieces: Sequence[bytes]) -> None:
        self.status, self._pieces, self.read, self.closed = status, pieces, 0, False

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.read += 1
            yield piece

    async def close(self) -> None:
        self.closed = True


class Server:
    """Answers by a script of the credentials, when `open` is set."""

    def __init__(self, script: Callable[[str], Answered]) -> None:
        self.script = script
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def send(self, outbound: Outbound) -> Reply:
        key = dict(outbound.headers).get("authorization", "")
        self.asked.append(key)
        await self.open.wait()
        return self.script(key)

    async def close(self) -> None:
        return


def showing(status: int, body: bytes = b"{}") -> Server:
    return Server(lambda _: Answered(status, [body]))


def key(name: str) -> list[tuple[str, str]]:
    return [("authorization", name), ("x-other", "1")]


async def test_clients_with_keys_of_their_own_do_not_wait_for_one_another() -> None:
    """Forty keys that may not list models had waited for forty questions in a row."""
    server = showing(403)
    server.open.clear()
    inquiry = ServerKindInquiry("host", server)
    asking = [asyncio.create_task(inquiry.kind(key(f"key {number}"))) for number in range(40)]
    await settled()
    assert len(server.asked) == 40
    server.open.set()
    assert await asyncio.gather(*asking) == [KINDS["other"]] * 40


@pytest.mark.parametrize("status", [301, 400, 401, 403, 422, 429])
async def test_a_refusal_is_remembered_for_each_key(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    server = showing(status)
    inquiry = ServerKindInquiry("host", server)
    for name in ["one", "other", "one", "other", "one"]:
        assert await inquiry.kind(key(name)) is KINDS["other"]
        inquiry.meet(key(name))
    await settled()
    assert server.asked == ["one", "other"]
    monkeypatch.setattr(server_kind_inquiry, "_MOST_REFUSED", 2)
    await inquiry.kind(key("third"))
    await inquiry.kind(key("one"))
    assert server.asked == ["one", "other", "third", "one"], "the one that was refused longest ago was forgotten"


async def test_a_refusal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_kind_inquiry, "_REFUSED_SECONDS", 0.0)
    server = showing(403)
    inquiry = ServerKindInquiry("host", server)
    assert await inquiry.kind(key("one")) is KINDS["other"]
    server.script = lambda _: Answered(200, [VLLM])
    assert await inquiry.kind(key("one")) is KINDS["vllm"]


async def test_a_strangers_refused_key_takes_nobodys_salt_away() -> None:
    """Whoever knocks with a wrong key must not make the prompts of others share a cache without their salts."""
    server = Server(lambda name: Answered(200, [VLLM]) if name == "good" else Answered(401, [b"{}"]))
    inquiry = ServerKindInquiry("host", server)
    assert await inquiry.kind(key("wrong")) is KINDS["other"]
    assert await inquiry.kind(key("good")) is KINDS["vllm"]
    assert await inquiry.kind(key("wrong")) is KINDS["vllm"]
    assert server.asked == ["wrong", "good"]


@pytest.mark.parametrize("status", [200, 404, 405, 410, 501])
async def test_a_server_without_a_list_of_models_is_asked_once_for_everybody(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    server = showing(status)
    inquiry = ServerKindInquiry("host", server)
    for name in ["one", "other", "third"]:
        assert await inquiry.kind(key(name)) is KINDS["other"]
    assert server.asked == ["one"]
    assert not inquiry.silent


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_server_that_fails_is_asked_again_after_a_pause(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    server = showing(status)
    inquiry = ServerKindInquiry("host", server)
    for name in ["one", "other", "one"]:
        with pytest.raises(UpstreamError, match=f"host answered /v1/models with {status}; .* upstream.replicas"):
            await inquiry.kind(key(name))
        inquiry.meet(key(name))
    assert inquiry.silent
    assert server.asked == ["one"]
    monkeypatch.setattr(inquiry, "_again", 0.0)
    server.script = lambda _: Answered(200, [VLLM])
    assert await inquiry.kind(key("other")) is KINDS["vllm"], "the prompt after the pause waits for the answer"
    assert not inquiry.silent


async def test_a_later_answer_of_another_key_does_not_take_the_kind_back() -> None:
    gates = {name: asyncio.Event() for name in ("good", "lost", "fails")}
    said = {"good": (200, VLLM), "lost": (404, b"{}"), "fails": (500, b"")}

    class Slow(Server):
        async def send(self, outbound: Outbound) -> Reply:
            name = dict(outbound.headers)["authorization"]
            await gates[name].wait()
            return Answered(said[name][0], [said[name][1]])

    inquiry = ServerKindInquiry("host", Slow(lambda _: Answered(200, [])))
    asking = [asyncio.create_task(inquiry.kind(key(name))) for name in gates]
    for gate in gates.values():
        await settled()
        gate.set()
    assert await asyncio.gather(*asking) == [KINDS["vllm"]] * 3
    assert not inquiry.silent


async def test_closing_ends_the_questions() -> None:
    server = showing(200)
    server.open.clear()
    inquiry = ServerKindInquiry("host", server)
    inquiry.meet(key("one"))
    inquiry.meet(key("other"))
    await until(lambda: len(server.asked) == 2)
    await inquiry.close()
    assert not inquiry._asking


async def test_a_list_of_models_without_an_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy had held whatever a server sent in memory, before the first prompt."""
    monkeypatch.setattr(server_kind_inquiry, "_MOST_BYTES", 4000)
    endless = Answered(200, [b" " * 1000] * 1000)
    assert await ServerKindInquiry("host", Server(lambda _: endless)).kind([]) is KINDS["other"]
    assert (endless.read, endless.closed) == (5, True)


@pytest.mark.parametrize(("padding", "ids"), [(0, [7] * 40), (4000, None)])
async def test_token_ids_are_no_more_than_a_prompt_can_have(padding: int, ids: list[int] | None) -> None:
    said = json.dumps({"tokens": [7] * 40}).encode()
    reply = Answered(200, [said, *[b" " * 1000] * padding])
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 40}]}).encode()
    outbound = Outbound("POST", "/v1/chat/completions", [], body)
    prompt = read(outbound.path, [], body)
    assert await ServerTokens(Server(lambda _: reply)).ids(prompt, outbound) == ids
    assert reply.closed
    assert reply.read < 1200
