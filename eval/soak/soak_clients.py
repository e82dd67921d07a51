"""The clients of the soak: what they ask, what they were promised, and what went wrong.

Invariant: a reply counts as promised if it said `stored` and was received whole; it stands in the book until the end.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx2
import msgspec

from semcache.cli.timing.timing_prompts import Prompt, Prompts

CHAT, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"
_SAID = re.compile(r"you said “(.*)”", re.DOTALL)


@dataclass(slots=True)
class Asked:
    """One request: when it began since the start, how long it took, and what became of it ("ok" or a failure)."""

    at: float
    seconds: float
    fate: str
    outcome: str


@dataclass
class Book:
    """Everything that was seen. `promised` is the answer by prompt."""

    asked: list[Asked] = field(default_factory=list)
    promised: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    checked: int = 0


class Clients:
    """Clients of a proxy that together ask `rate` requests a second of `pool` questions, popular ones more often."""

    def __init__(self, url: str, *, rate: float, pool: int, rng: random.Random, start: float) -> None:
        prompts = Prompts(rng)
        self.book = Book()
        self._pool = [prompts.draw() for _ in range(pool)]
        self._of = {text: number for number, one in enumerate(self._pool) for text in (one.text, one.reworded)}
        self._weights = [1.0 / (number + 5) for number in range(pool)]
        self._rng, self._rate, self._start = rng, rate, start
        self._http = httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, until: float) -> None:
        """Ask until then; requests come at random, whatever became of those before."""
        while time.monotonic() < until:
            await asyncio.sleep(self._rng.expovariate(self._rate))
            task = asyncio.create_task(self._one())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await asyncio.gather(*self._tasks)

    async def check(self, count: int | None) -> None:
        """Ask for some of what was promised, or with None for all; what is not there as it was is lost."""
        known = list(self.book.promised)
        for prompt in known if count is None else self._rng.sample(known, min(count, len(known))):
            self.book.checked += 1
            try:
                reply = await self._http.post(CHAT, json=_chat(prompt), headers={"cache-control": "only-if-cached"})
                if reply.status_code != 200:
                    self.book.lost.append(f"{prompt}: {reply.status_code} {reply.headers.get('cache-status', '')}")
                elif _text(reply) != self.book.promised[prompt]:
                    self.book.lost.append(f"{prompt}: another answer")
            except httpx2.HTTPError as error:
                self.book.lost.append(f"{prompt}: {type(error).__name__}")

    async def close(self) -> None:
        """Close connections."""
        await self._http.aclose()

    async def _one(self) -> None:
        prompt = self._rng.choices(self._pool, self._weights)[0]
        draw = self._rng.random()
        began = time.monotonic()
        try:
            outcome = await (self._embed(prompt) if draw < 0.05 else self._chat(prompt, draw))
            fate = "ok"
        except httpx2.HTTPStatusError as error:
            fate, outcome = str(error.response.status_code), ""
        except httpx2.HTTPError as error:
            fate, outcome = type(error).__name__, ""
        now = time.monotonic()
        self.book.asked.append(Asked(began - self._start, now - began, fate, outcome))
        self.book.outcomes[outcome or fate] += 1

    async def _embed(self, prompt: Prompt) -> str:
        reply = await self._http.post(EMBEDDINGS, json={"model": "text-embedding-echo", "input": prompt.text})
        reply.raise_for_status()
        return "embedding"

    async def _chat(self, prompt: Prompt, draw: float) -> str:
        text = prompt.reworded if draw < 0.25 else prompt.text
        stream = draw > 0.85
        reply = await self._http.post(CHAT, json=_chat(text) | ({"stream": True} if stream else {}))
        reply.raise_for_status()
        said, status = _text(reply), reply.headers.get("cache-status", "")
        if "stored" in status:
            self.book.promised[text] = said
        found = _SAID.search(said)
        if found is None or self._of.get(found[1]) != self._of[text]:
            self.book.wrong.append(f"{text}: {said[:200]}")
        detail = re.search(r"detail=([\w-]+)", status)
        return f"hit {detail[1] if detail else ''}" if "; hit" in status else "forwarded"


def _chat(text: str) -> dict[str, Any]:
    return {"model": "echo", "messages": [{"role": "user", "content": text}]}


def _text(reply: httpx2.Response) -> str:
    if not reply.headers["content-type"].startswith("text/event-stream"):
        return str(reply.json()["choices"][0]["message"]["content"])
    said = ""
    for line in reply.text.splitlines():
        if line.startswith("data: {"):
            for choice in msgspec.json.decode(line[6:])["choices"]:
                said += choice["delta"].get("content") or ""
    return said
