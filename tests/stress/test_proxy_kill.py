"""kill -9 under load: whatever a reply said is stored, and was received whole, is there after a restart."""

from __future__ import annotations

import asyncio
import json
import os
import random
import string
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.services import Service, echo, serving
from tests.proxy.driver import PACK, ask, cache_status, spoken
from tests.waiting import PATIENCE, soon

pytestmark = pytest.mark.process

ROUNDS = int(os.environ.get("KILLS", "3"))
COUNTER = Path(os.environ["KILLS_COUNTER"]) if "KILLS_COUNTER" in os.environ else None
SLICE = 200  # promises that are asked for after a kill; all of them are at the end
CLIENTS = 12
CHAT = "/v1/chat/completions"


def text_of(reply: httpx2.Response) -> str:
    if reply.headers["content-type"].startswith("text/event-stream"):
        return spoken(reply.content)
    return str(reply.json()["choices"][0]["message"]["content"])


async def load(proxy: Service, enough: int, seed: int) -> dict[str, str]:
    """Answers by prompt that were said to be stored and received whole before the proxy was killed."""
    kept: dict[str, str] = {}
    source, full = random.Random(seed), asyncio.Event()

    async def client(http: httpx2.AsyncClient, stream: bool) -> None:
        while True:
            words = ["".join(source.choices(string.ascii_lowercase, k=7)) for _ in range(3)]
            prompt = "Explain " + " ".join(words)
            try:
                reply = await http.post(proxy.url + CHAT, json=ask(prompt, stream=stream))
            except httpx2.HTTPError:
                return
            assert reply.status_code == 200
            # A reply without a length ends by its last chunk, or else httpx2 raises: this one is whole.
            if cache_status(reply.headers["cache-status"]).get("stored"):
                kept[prompt] = text_of(reply)
            if len(kept) >= enough:
                full.set()

    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        clients = [asyncio.create_task(client(http, stream=number % 2 == 0)) for number in range(CLIENTS)]
        await soon(full.wait())
        proxy.kill()
        await asyncio.gather(*clients)
    return kept


async def lost(proxy: Service, kept: dict[str, str]) -> list[Any]:
    only = {"cache-control": "only-if-cached"}
    missing = []
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        for prompt, answer in kept.items():
            reply = await http.post(proxy.url + CHAT, json=ask(prompt), headers=only)
            if reply.status_code != 200 or text_of(reply) != answer:
                missing.append((prompt, reply.status_code))
            elif cache_status(reply.headers["cache-status"])["detail"] != "exact":
                missing.append((prompt, reply.headers["cache-status"]))
    return missing


async def test_nothing_that_was_promised_is_lost(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK)
    options = ("--policies", str(pack), "--embedder", "hashing")
    kept: dict[str, str] = {}
    with echo("--token-seconds", "0.002") as upstream:
        for number in range(ROUNDS):
            with serving(upstream.url, tmp_path / "data", *options) as proxy:
                some = random.Random(number).sample(sorted(kept), min(SLICE, len(kept)))
                assert await lost(proxy, {prompt: kept[prompt] for prompt in some}) == []
                kept |= await load(proxy, (5 + 3 * (number % 5)) * CLIENTS, number)
        with serving(upstream.url, tmp_path / "data", *options) as proxy:
            assert await lost(proxy, kept) == []
            assert proxy.get("/readyz").json()["status"] == "ok"
    count(ROUNDS, len(kept))


def count(kills: int, promises: int) -> None:
    """Add to the counter of all slices, if there is one."""
    if COUNTER is not None:
        before = json.loads(COUNTER.read_text()) if COUNTER.exists() else {"kills": 0, "promises": 0}
        told = {"kills": before["kills"] + kills, "promises": before["promises"] + promises, "lost": 0}
        COUNTER.write_text(json.dumps(told) + "\n")
