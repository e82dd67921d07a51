"""A single server is divided by tenant where it can be, and otherwise gets what the client sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound, Reply
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.http import HttpBackend
from semcache.upstream.routing.kinds import KINDS
from semcache.upstream.routing.salted import SaltedBackend

CHAT = "/v1/chat/completions"
BODY = b'{"model": "m",  "messages": [{"role": "user", "content": "hi"}]}'


class Answered:
    headers: Sequence[tuple[str, str]] = ()

    def __init__(self, status: int, body: bytes) -> None:
        self.status, self._body = status, body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    async def close(self) -> None:
        return


class Server:
    """Says that it is `owner`, with `status`, and keeps what it was sent."""

    def __init__(self, owner: str, status: int = 200) -> None:
        self._card, self._status = json.dumps({"data": [{"id": "m", "owned_by": owner}]}).encode(), status
        self.sent: list[Outbound] = []

    async def send(self, outbound: Outbound) -> Reply:
        self.sent.append(outbound)
        return Answered(self._status, self._card) if outbound.method == "GET" else Answered(200, b"{}")

    async def close(self) -> None:
        return

    @property
    def bodies(self) -> list[bytes]:
        return [one.body for one in self.sent if one.method == "POST"]

    @property
    def salts(self) -> list[Any]:
        return [json.loads(body).get("cache_salt") for body in self.bodies]


async def sent(server: Server, *asked: tuple[str, str, bytes], secret: bytes = b"s") -> Server:
    backend = SaltedBackend(server, "host", kind=None, secret=lambda: secret)
    for tenant, path, body in asked:
        reply = await backend.send(Outbound("POST", path, [("authorization", "Bearer k")], body, "", tenant))
        assert reply.status == 200
    await backend.close()
    return server


@pytest.mark.parametrize("owner", ["vllm", "sglang", "semcache"])
async def test_tenants_get_salts_of_their_own_that_a_client_can_only_divide_further(owner: str) -> None:
    own = BODY[:-1] + b', "cache_salt": "mine"}'
    server = await sent(Server(owner), ("a", CHAT, BODY), ("b", CHAT, BODY), ("a", CHAT, BODY), ("a", CHAT, own))
    one, other, again, divided = server.salts
    assert one == again
    assert len({one, other, divided, "mine"}) == 4
    assert "a" not in (one, other)
    assert [call.method for call in server.sent].count("GET") == 1
    assert (await sent(Server(owner), ("a", CHAT, BODY), secret=b"other")).salts != [one]


@pytest.mark.parametrize(("owner", "status", "asked"), [("llamacpp", 200, 1), ("somebody", 200, 1), ("vllm", 500, 1)])
async def test_a_server_that_takes_no_salts_gets_the_very_bytes(owner: str, status: int, asked: int) -> None:
    server = await sent(Server(owner, status), ("a", CHAT, BODY), ("b", CHAT, BODY))
    assert server.bodies == [BODY, BODY]
    assert [call.method for call in server.sent].count("GET") == asked


@pytest.mark.parametrize(("path", "body"), [("/v1/embeddings", b'{"input": "x"}'), (CHAT, b"no json"), (CHAT, b"{}")])
async def test_what_is_no_prompt_is_left_alone(path: str, body: bytes) -> None:
    assert (await sent(Server("vllm"), ("a", path, body))).bodies == [body]


@pytest.mark.parametrize(("owner", "drafts"), [("semcache", ["a guess"]), ("vllm", []), ("somebody", [])])
async def test_only_a_server_that_takes_guesses_costs_one(owner: str, drafts: list[str]) -> None:
    made: list[str] = []

    async def guess() -> str:
        made.append("a guess")
        return made[-1]

    server = Server(owner)
    backend = SaltedBackend(server, "host", kind=None, secret=lambda: b"s")
    await backend.send(Outbound("POST", CHAT, [], BODY, "", "a", draft=guess))
    await backend.close()
    (body,) = server.bodies
    assert made == drafts
    assert json.loads(body).get("prediction") == ({"type": "content", "content": "a guess"} if drafts else None)


async def test_a_server_that_is_away_says_so() -> None:
    class Away(Server):
        async def send(self, outbound: Outbound) -> Reply:
            raise UpstreamError("refused")

    with pytest.raises(UpstreamError, match="refused"):
        await sent(Away("vllm"), ("a", CHAT, BODY))


async def test_which_upstreams_are_divided() -> None:
    def secret() -> bytes:
        return b"s"

    for upstream, salt, kind in [
        ("http://gpu:8000/v1", True, SaltedBackend),
        ("http://gpu:8000/v1", False, HttpBackend),
        ("https://api.openai.com/v1", True, SaltedBackend),
    ]:
        backend = open_backend(upstream, secret=secret, salt=salt)
        assert isinstance(backend, kind)
        await backend.close()
    plain = open_backend("http://gpu:8000/v1")
    assert isinstance(plain, HttpBackend)
    await plain.close()
    assert not KINDS["openai"].salted
