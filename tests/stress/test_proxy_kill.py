"""kill -9 under load: what a reply promised is true after a restart.

What was said to be stored, and was received whole, is served; what was invalidated or reported as wrong is not. One
worker or two, SQLite or PostgreSQL, by the seed of the slice, which is new in `make test-slow` and shown on failure.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import string
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.services import Service, echo, serving
from tests.fixtures_pg import schema
from tests.proxy.driver import PACK, ask, cache_status, spoken
from tests.waiting import PATIENCE, soon

ROUNDS = int(os.environ.get("KILLS", "3"))
# A machine under load takes most of a minute for a kill.
pytestmark = [pytest.mark.process, pytest.mark.timeout(1200 + 60 * ROUNDS)]
SEED = int(os.environ.get("KILLS_SEED", "0"))
COUNTER = Path(os.environ["KILLS_COUNTER"]) if "KILLS_COUNTER" in os.environ else None
SLICE = 60  # promises that are asked for after a kill; all of them are at the end
CLIENTS = 12
CHAT = "/v1/chat/completions"
ONLY = {"cache-control": "only-if-cached"}
WITHDRAWN = 0.1  # of the answers that were kept: half are invalidated by tag, half reported as wrong


@dataclass
class Promises:
    """Answers by prompt that are to be served, and prompts whose answers are not to be served again."""

    kept: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.kept) + len(self.gone)


def text_of(reply: httpx2.Response) -> str:
    if reply.headers["content-type"].startswith("text/event-stream"):
        return spoken(reply.content)
    return str(reply.json()["choices"][0]["message"]["content"])


async def withdraw(proxy: Service, http: httpx2.AsyncClient, tag: str, entry: str, source: random.Random) -> bool:
    """Take an answer back, and return True once that is promised."""
    if source.random() < 0.5:
        said = await http.post(proxy.url + "/semcache/invalidate", json={"tag": tag})
        return said.status_code == 200 and said.json()["count"] == 1
    said = await http.post(proxy.url + "/semcache/feedback", json={"id": entry, "correct": False})
    return said.status_code == 200 and said.json() == {"ok": True}


async def load(proxy: Service, promises: Promises, enough: int, seed: str) -> None:
    """Have promises made until the proxy is killed."""
    source, full, before = random.Random(seed), asyncio.Event(), len(promises)

    async def client(http: httpx2.AsyncClient, stream: bool) -> None:
        while True:
            words = ["".join(source.choices(string.ascii_lowercase, k=7)) for _ in range(3)]
            prompt = "Explain " + " ".join(words)
            try:
                reply = await http.post(
                    proxy.url + CHAT, json=ask(prompt, stream=stream), headers={"x-semcache-tags": words[0]}
                )
                assert reply.status_code == 200
                # A reply without a length ends by its last chunk, or else httpx2 raises: this one is whole.
                if not cache_status(reply.headers["cache-status"]).get("stored"):
                    continue
                if source.random() < WITHDRAWN:
                    again = await http.post(proxy.url + CHAT, json=ask(prompt), headers=ONLY)
                    # Another worker may not know of it yet.
                    if again.status_code == 200 and await withdraw(
                        proxy, http, words[0], again.headers["x-semcache-id"], source
                    ):
                        promises.gone.add(prompt)
                else:
                    promises.kept[prompt] = text_of(reply)
            except httpx2.HTTPError:
                return
            if len(promises) - before >= enough:
                full.set()

    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        clients = [asyncio.create_task(client(http, stream=number % 2 == 0)) for number in range(CLIENTS)]
        await soon(full.wait())
        proxy.kill_all()
        await asyncio.gather(*clients)


async def broken(proxy: Service, promises: Promises, some: list[str]) -> list[Any]:
    found = []
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        for prompt in some:
            reply = await http.post(proxy.url + CHAT, json=ask(prompt), headers=ONLY)
            if prompt in promises.gone:
                if reply.status_code != 504:
                    found.append((prompt, "is served again", reply.headers["cache-status"]))
            elif reply.status_code != 200 or text_of(reply) != promises.kept[prompt]:
                found.append((prompt, reply.status_code))
            elif cache_status(reply.headers["cache-status"])["detail"] != "exact":
                found.append((prompt, reply.headers["cache-status"]))
    return found


@contextmanager
def database(kind: str) -> Iterator[dict[str, str]]:
    """The environment for a store of this kind."""
    if kind == "sqlite":
        yield {}
        return
    with schema() as url:
        yield {"SEMCACHE_STORE__URL": url}


async def test_nothing_that_was_promised_is_lost(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK)
    slice_ = random.Random(SEED)
    workers, kind = slice_.choice((1, 2)), slice_.choice(("sqlite", "postgresql"))
    told = f"slice of seed {SEED}: {workers} workers, {kind}"
    print(told)
    promises, lost = Promises(), []
    with echo("--token-seconds", "0.002") as upstream, database(kind) as store:
        options = ("--policies", str(pack), "--embedder", "hashing", "--workers", str(workers))
        for number in range(ROUNDS):
            with serving(upstream.url, tmp_path / "data", *options, **store) as proxy:
                known = sorted([*promises.kept, *promises.gone])
                lost += await broken(proxy, promises, slice_.sample(known, min(SLICE, len(known))))
                await load(proxy, promises, slice_.randint(1, 8) * CLIENTS, f"{SEED}/{number}")
        with serving(upstream.url, tmp_path / "data", *options, **store) as proxy:
            lost += await broken(proxy, promises, sorted([*promises.kept, *promises.gone]))
            ready = proxy.get("/readyz").json()["status"]
    count(workers, kind, len(promises), len({prompt for prompt, *_ in lost}))
    assert lost == [], told
    assert ready == "ok", told


def count(workers: int, kind: str, promises: int, lost: int) -> None:
    """Add this slice to those that were run, if they are kept."""
    if COUNTER is None:
        return
    known = json.loads(COUNTER.read_text()) if COUNTER.exists() else {}
    new = {"kills": ROUNDS, "promises": promises, "lost": lost}
    totals = {name: known.get(name, 0) + number for name, number in new.items()}
    slices = [*known.get("slices", []), {"seed": SEED, "workers": workers, "store": kind, **new}]
    rows = ",\n  ".join(map(json.dumps, slices))
    COUNTER.write_text(json.dumps(totals)[:-1] + f', "slices": [\n  {rows}\n]}}\n')
