"""A cheaper model behind a real proxy, for the official client: certified, served, counted, kept over a restart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.contract.services import Service, semcache, serving
from tests.contract.test_plans import behind
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process
PACK = """
name: near
defaults: {strategy: static, threshold: 0.999}
models:
  large: {prompt: 20, completion: 20, quality: 0.95}
  small: {prompt: 1, completion: 1}
near: {model: small, instead_of: large, target: 0.3, rate: 0.9}
"""
TEXT = "Which colour has the flag of island number {}?"


@dataclass
class Model:
    """An ASGI application that says the last word of what it is asked; `seen` are bodies and credentials."""

    seen: list[tuple[dict[str, Any], str]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        raw = b""
        while (event := await receive())["type"] == "http.request":
            raw += event.get("body", b"")
            if not event.get("more_body"):
                break
        asked = json.loads(raw)
        self.seen.append((asked, dict(scope["headers"]).get(b"authorization", b"").decode()))
        message = {"role": "assistant", "content": asked["messages"][-1]["content"].split()[-1]}
        body = {
            "id": "c", "object": "chat.completion", "created": 1, "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
        }  # fmt: skip
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@contextmanager
def proxied(folder: Path, large: str, small: str) -> Iterator[tuple[Service, openai.OpenAI]]:
    (folder / "pack.yaml").write_text(PACK)
    options = ("--embedder", "hashing", "--policies", str(folder / "pack.yaml"))
    environment = {"SEMCACHE_CACHE__JUDGE": "exact", "SEMCACHE_NEAR__URL": small, "SEMCACHE_CACHE__SEED": "1"}
    with (
        serving(large, folder / "data", *options, **environment) as service,
        openai.OpenAI(base_url=f"{service.url}/v1", api_key="sk-client", max_retries=0, timeout=PATIENCE) as client,
    ):
        yield service, client


def ask(client: openai.OpenAI, number: int) -> tuple[str, str]:
    """What is said, and by whom."""
    message = {"role": "user", "content": TEXT.format(number)}
    done = client.chat.completions.create(model="large", messages=[message])  # type: ignore[list-item]
    return done.choices[0].message.content or "", done.model


def test_a_cheaper_model_takes_over_and_is_remembered(tmp_path: Path) -> None:
    large, small = Model(), Model()
    with behind(large) as dear, behind(small) as cheap:  # type: ignore[arg-type]
        with proxied(tmp_path, dear, cheap) as (service, client):
            numbers = iter(range(10**6))
            eventually(lambda: ask(client, next(numbers))[1] == "small")
            stats = service.get("/semcache/stats").json()
            assert stats["near"]["categories"]["default"]["state"] == "open"
            assert stats["outcomes"]["near"]["requests"] == 1

            def streamed() -> list[Any]:
                message = {"role": "user", "content": TEXT.format(next(numbers))}
                with client.chat.completions.create(model="large", messages=[message], stream=True) as stream:  # type: ignore[list-item]
                    return list(stream)

            # Whom a request goes to is drawn; the large model of this test answers without a stream.
            chunks = eventually(streamed)
            assert {chunk.model for chunk in chunks} == {"small"}
            said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            assert said == f"{next(numbers) - 1}?"
        assert {key for _, key in large.seen} == {"Bearer sk-client"}
        assert {key for _, key in small.seen} == {""}, "the client's key is none of the other server's business"
        shown = semcache("stats", "--data", str(tmp_path / "data"), "--policies", str(tmp_path / "pack.yaml"))
        assert "always usd" in shown
        [row] = [line.split() for line in shown.splitlines() if line.startswith("near ")]
        assert row[1] == "2"
        with proxied(tmp_path, dear, cheap) as (service, client):
            eventually(lambda: service.get("/semcache/stats").json()["near"]["examples"] > 0)
            assert ask(client, next(numbers)) == (f"{next(numbers) - 1}?", "small")
            assert len(small.seen[-1][0]["messages"]) > 1, "examples were shown"
            semcache("purge", "--all", "--yes", "--data", str(tmp_path / "data"))
            older = {TEXT.format(number) for number in range(next(numbers))}
            eventually(lambda: _shown_none(client, small, next(numbers), older))


def _shown_none(client: openai.OpenAI, small: Model, number: int, older: set[str]) -> bool:
    """Whether the small model was asked, without a question of those."""
    before = len(small.seen)
    ask(client, number)
    asked = [one["content"] for body, _ in small.seen[before:] for one in body["messages"]]
    return bool(asked) and older.isdisjoint(asked)
