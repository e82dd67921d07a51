"""Several workers on one store: what one learns, all know soon; and a scrape of one counts for all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.services import Service, echo, serving
from tests.proxy.driver import PACK, ask, cache_status
from tests.waiting import eventually

pytestmark = pytest.mark.process

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"
ONLY = {"cache-control": "only-if-cached"}


class Workers:
    """A proxy of two workers. Every request has a connection of its own, so that either may get it."""

    def __init__(self, proxy: Service) -> None:
        self.proxy = proxy
        self.sent = 0

    def ask(self, prompt: str, **headers: str) -> httpx2.Response:
        self.sent += 1
        return self.proxy.post("/v1/chat/completions", ask(prompt), headers=headers)

    def hit_by(self, prompt: str) -> str | None:
        """The worker that served this prompt from the cache, which the request's id begins with."""
        reply = self.ask(prompt, **ONLY)
        return reply.headers["x-request-id"][4:10] if reply.status_code == 200 else None

    def all_hit(self, prompt: str) -> set[str]:
        """Ask until both workers have served it."""
        seen: set[str] = set()

        def both() -> bool:
            worker = self.hit_by(prompt)
            if worker:
                seen.add(worker)
            return len(seen) == 2

        eventually(both)
        return seen

    def none_hits(self, prompt: str) -> bool:
        return not any(self.hit_by(prompt) for _ in range(16))


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    folder: Path = tmp_path_factory.mktemp("workers")
    pack = folder / "pack.yaml"
    pack.write_text(PACK)
    options = ("--workers", "2", "--policies", str(pack), "--embedder", "hashing")
    with echo() as upstream, serving(upstream.url, folder / "data", *options) as proxy:
        yield Workers(proxy)


def test_what_one_worker_records_all_serve(workers: Workers) -> None:
    assert "stored" in cache_status(workers.ask(PROMPT).headers["cache-status"])
    assert workers.all_hit(PROMPT) == workers.all_hit(PARAPHRASE)
    assert len({workers.ask(PROMPT).json()["id"] for _ in range(10)}) == 1


def test_an_invalidation_reaches_all(workers: Workers) -> None:
    workers.ask("What is a fjord?", **{"x-semcache-tags": "fjords"})
    workers.all_hit("What is a fjord?")
    assert workers.proxy.post("/semcache/invalidate", {"tag": "fjords"}).json()["count"] == 1
    eventually(lambda: workers.none_hits("What is a fjord?"))


def test_a_wrong_answer_is_wrong_everywhere(workers: Workers) -> None:
    prompt, paraphrase = "Who wrote the play about the doctor?", "Who wrote the play about the doctor please?"
    workers.ask(prompt)
    workers.all_hit(paraphrase)
    shown: Any = workers.ask(paraphrase).headers["x-semcache-id"]
    assert workers.proxy.post("/semcache/feedback", {"id": shown, "correct": False}).json() == {"ok": True}
    eventually(lambda: workers.none_hits(paraphrase))
    assert workers.hit_by(prompt)


def test_metrics_are_those_of_all_workers(workers: Workers) -> None:
    def counted() -> float:
        text = workers.proxy.get("/metrics").text
        return sum(map(float, re.findall(r"^semcache_requests_total\{.*\} (\S+)$", text, re.MULTILINE)))

    for _ in range(10):
        workers.ask("What is a glacier?")
    eventually(lambda: counted() == workers.sent)
    text = workers.proxy.get("/metrics").text
    assert re.search(r"^semcache_build_info\{.*\} 1.0$", text, re.MULTILINE)
    assert len(re.findall(r"^semcache_configuration_info\{.*\} 1.0$", text, re.MULTILINE)) == 1, "workers agree"
    assert re.search(r'^semcache_entries\{category="default"\} [1-9]', text, re.MULTILINE)


def test_a_worker_that_starts_slowly_is_left_to_start(tmp_path: Path) -> None:
    """On a machine with other things to do; killed for it, none would ever serve."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\nif any('spawn_main' in word for word in sys.orig_argv):\n    time.sleep(8)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = ("--workers", "2", "--embedder", "hashing")
    with echo() as upstream, serving(upstream.url, tmp_path / "data", *options, PYTHONPATH=path) as proxy:
        assert proxy.get("/readyz").json()["status"] == "ok"
        assert "died" not in proxy.log.read_text()
