"""Two local engines behind the proxy: their KV events tell it where a prompt is cached, also when it was not there.

Real processes throughout. The same questions are asked of two proxies in turn, as behind a load balancer, so that each
sees half of what the engines are sent, while the engines' caches are too small for everything.
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import openai
import pytest

from eval.engine_models import make
from tests.contract.services import Service, serving, started
from tests.waiting import PATIENCE, eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]
BLOCK = 32
FAMILIES, QUESTIONS = 10, 80


@dataclass(frozen=True)
class Engine:
    """An engine that publishes, and where."""

    service: Service
    events: str
    replay: str

    @property
    def address(self) -> dict[str, str]:
        return {"url": f"{self.service.url}/v1", "events": self.events, "replay": self.replay}


def free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="needs the extra `engine`")
    pytest.importorskip("zmq", reason="needs pyzmq, the extra `routing`")
    return make(tmp_path_factory.mktemp("model"), context=2048)


@contextmanager
def publishing(model: Path, events: int | None = None, replay: int | None = None, port: int = 0) -> Iterator[Engine]:
    """An engine whose cache holds some 4,000 tokens: six of the ten families at most."""
    ends = [f"tcp://127.0.0.1:{given or free()}" for given in (events, replay)]
    command = ["semcache", "engine", "serve", "--model", str(model), "--name", "tiny", "--port", str(port)]
    command += [
        "--block",
        str(BLOCK),
        "--cache-mib",
        "2",
        "--threads",
        "1",
        "--kv-events",
        ends[0],
        "--kv-replay",
        ends[1],
    ]
    with started(*command, ready=r"ready on (http://\S+)/v1", HF_HUB_OFFLINE="1") as service:
        yield Engine(service, *ends)


@contextmanager
def proxies(
    engines: list[Engine], folder: Path, count: int, *, told: bool
) -> Iterator[list[tuple[openai.OpenAI, Service]]]:
    """Proxies of the engines with a client each, `told` of KV events or not."""
    replicas = [one.address if told else {"url": one.address["url"]} for one in engines]
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            settings = {"SEMCACHE_UPSTREAM__REPLICAS": json.dumps(replicas)}
            # Of one store, so that a tenant has one salt.
            proxy = stack.enter_context(serving("echo", folder / str(told), **settings))
            client = stack.enter_context(openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="k", timeout=PATIENCE))
            made.append((client, proxy))
        yield made


def ask(client: openai.OpenAI, family: int, number: int) -> tuple[int, int]:
    """Tokens of a prompt, and how many of them were cached."""
    reply = client.chat.completions.create(
        model="tiny",
        messages=[
            {"role": "system", "content": f"family {family} has rules of its own {family} " * 40},
            {"role": "user", "content": f"matter {number}"},
        ],
        max_tokens=2,
        temperature=0,
        extra_headers={"cache-control": "no-store"},
    )
    assert reply.usage
    assert reply.usage.prompt_tokens_details
    return reply.usage.prompt_tokens, reply.usage.prompt_tokens_details.cached_tokens or 0


def share(clients: list[openai.OpenAI]) -> float:
    """The share of prompt tokens that were cached, of questions that each client asks in turn."""
    rng = random.Random(3)
    asked = [ask(clients[at % len(clients)], rng.randrange(FAMILIES), at) for at in range(QUESTIONS)]
    return sum(cached for _, cached in asked) / sum(prompt for prompt, _ in asked)


def test_proxies_that_read_events_find_more_than_those_that_guess(model: Path, tmp_path: Path) -> None:
    found = {}
    for told in (False, True):
        with (
            publishing(model) as first,
            publishing(model) as second,
            proxies([first, second], tmp_path, 2, told=told) as made,
        ):
            found[told] = share([client for client, _ in made])
    print({"share of prompt tokens cached": {"without events": found[False], "with events": found[True]}})
    assert found[True] > found[False] + 0.03


def test_a_proxy_that_comes_late_and_an_engine_that_starts_anew(model: Path, tmp_path: Path) -> None:
    """What another proxy sent is known at once, and what ended with a process is believed in no longer."""
    with ExitStack() as stack:
        engines = [stack.enter_context(publishing(model)) for _ in range(2)]
        with proxies(engines, tmp_path, 1, told=True) as (early,):
            for family in range(4):
                ask(early[0], family, 0)
        ((late, proxy),) = stack.enter_context(proxies(engines, tmp_path, 1, told=True))
        ask(late, 9, 0)  # with the first request it begins to follow
        eventually(lambda: all(cached > prompt / 2 for prompt, cached in (ask(late, at, 1) for at in range(4))))
        assert max(believed(proxy, one) for one in engines) > 0
        for one in engines:
            one.service.kill()
            ends = [int(end.rpartition(":")[2]) for end in (one.events, one.replay)]
            stack.enter_context(publishing(model, *ends, port=one.service.port))
        before = [believed(proxy, one) for one in engines]
        eventually(lambda: ask(late, 8, 0)[0])
        for at in range(4):
            ask(late, at, 2)
        assert [believed(proxy, one) for one in engines] == before, "a cache that ended with its process is believed in"
        for at in range(4):
            prompt, cached = ask(late, at, 3)
            assert cached > prompt / 2
        assert [believed(proxy, one) for one in engines] > before


def believed(proxy: Service, engine: Engine) -> float:
    """Tokens that a proxy has believed to be cached by an engine."""
    for line in proxy.get("/metrics").text.splitlines():
        of_engine = line.startswith("semcache_routed_prompt_tokens_total") and f":{engine.service.port}" in line
        if of_engine and 'kind="predicted"' in line:
            return float(line.split()[-1])
    return 0.0
