"""Vectors from a provider: the real litellm package against a real server, and what a bad provider does to a cache."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semcache.errors import ConfigError, EmbedError
from semcache.models.embedders import hosted, open_embedder
from tests.waiting import PATIENCE

PYTHON = Path(__file__).parents[3] / ".venvs" / "litellm" / "bin" / "python"
VECTORS = {"dimension": [1.0, 0.0], "one": [3.0, 4.0], "two": [0.0, 2.0]}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    """What the stand-in for litellm answers, last text first; a text that it lacks is refused."""
    known = dict(VECTORS)

    def embedding(*, input: list[str], **_: Any) -> Any:
        rows = [{"index": place, "embedding": known[text]} for place, text in enumerate(input)]
        return SimpleNamespace(data=rows[::-1])

    async def aembedding(**call: Any) -> Any:
        return embedding(**call)

    module = ModuleType("litellm")
    module.__spec__ = ModuleSpec("litellm", None)
    module.embedding, module.aembedding = embedding, aembedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "litellm", module)
    return known


async def test_rows_are_unit_vectors_in_the_order_of_the_texts(provider: dict[str, list[float]]) -> None:
    del provider
    embedder = open_embedder("litellm:some/model")
    assert (embedder.id, embedder.dim) == ("litellm/some/model/2", 2)
    assert np.allclose(await embedder.embed(["two", "one"]), [[0.0, 1.0], [0.6, 0.8]])
    assert (await embedder.embed([])).shape == (0, 2)


@pytest.mark.parametrize("row", [[1.0, 2.0, 3.0], [0.0, 0.0], [float("nan"), 1.0], []])
async def test_a_row_that_is_no_vector_of_this_width_is_an_error(
    provider: dict[str, list[float]], row: list[float]
) -> None:
    embedder = open_embedder("litellm:some/model")
    provider["one"] = row
    with pytest.raises(EmbedError, match="litellm/some/model/2"):
        await embedder.embed(["one"])
    assert np.allclose(await embedder.embed(["two"]), [[0.0, 1.0]])


async def test_more_texts_than_one_call_takes_are_all_embedded(provider: dict[str, list[float]]) -> None:
    texts = [f"text {number}" for number in range(300)]
    provider.update({text: [1.0, float(number)] for number, text in enumerate(texts)})
    found = await open_embedder("litellm:some/model").embed(texts)
    assert np.allclose(found[:, 1] / found[:, 0], range(300))


def test_a_provider_that_refuses_is_a_fault_at_the_start(provider: dict[str, list[float]]) -> None:
    provider.clear()
    with pytest.raises(ConfigError, match="litellm:some/model"):
        open_embedder("litellm:some/model")


def test_vectors_of_no_number_are_a_fault_at_the_start(provider: dict[str, list[float]]) -> None:
    provider["dimension"] = []
    with pytest.raises(ConfigError, match="no dimension"):
        open_embedder("litellm:some/model")


class Slow(Exception):
    """As litellm's RateLimitError."""

    status_code = 429
    response = SimpleNamespace(headers={"retry-after": "7"})


async def test_who_can_wait_asks_again_when_the_provider_says(
    provider: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    del provider
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    module = sys.modules["litellm"]
    answer, refusals = module.aembedding, [Slow("slow down"), Slow("slow down")]

    async def aembedding(**call: Any) -> Any:
        if refusals:
            raise refusals.pop()
        return await answer(**call)

    monkeypatch.setattr(module, "aembedding", aembedding)
    monkeypatch.setattr(hosted.asyncio, "sleep", sleep)
    at_once = open_embedder("litellm:some/model")
    with pytest.raises(EmbedError, match="slow down"):
        await at_once.embed(["one"])
    assert slept == [], "a request is not held up"
    refusals.append(Slow("slow down"))
    patient = open_embedder("litellm:some/model", patience=60.0)
    assert np.allclose(await patient.embed(["one"]), [[0.6, 0.8]])
    assert slept == [7.0, 7.0]
    refusals.extend(ValueError("no such model") for _ in range(2))
    with pytest.raises(EmbedError, match="no such model"):
        await patient.embed(["two"])
    assert len(refusals) == 1, "what will not pass is not asked again"


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="make .venvs/litellm/stamp makes the environment")
def test_the_real_package_asks_a_real_server() -> None:
    script = """
        import asyncio, json, os, threading
        from contextlib import suppress
        from http.server import BaseHTTPRequestHandler, HTTPServer

        class Provider(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                calls.append(asked["input"])
                if asked["input"] == ["refused"]:
                    self.send_response(429)
                    self.send_header("content-length", "2")
                    self.end_headers()
                    return self.wfile.write(b"{}")
                rows = [{"object": "embedding", "index": n if len(calls) != 2 else None,
                         "embedding": [3.0, float(len(text))]}
                        for n, text in enumerate(asked["input"])]
                body = json.dumps({"object": "list", "data": rows, "model": asked["model"],
                                   "usage": {"prompt_tokens": 1, "total_tokens": 1}}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        calls = []
        server = HTTPServer(("127.0.0.1", 0), Provider)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ.update(OPENAI_API_BASE=f"http://127.0.0.1:{server.server_port}/v1", OPENAI_API_KEY="-",
                          LITELLM_LOCAL_MODEL_COST_MAP="True")
        from semcache.errors import EmbedError
        from semcache.models.embedders import open_embedder
        embedder = open_embedder("litellm:openai/some-embedding")
        with suppress(EmbedError):
            asyncio.run(embedder.embed(["refused"]))
        assert calls.count(["refused"]) == 1, calls
        calls.pop()
        print(embedder.dim, asyncio.run(embedder.embed(["four", "0"])).astype(float).round(3).tolist())
    """
    done = subprocess.run(
        [str(PYTHON), "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["2 [[0.6, 0.8], [0.949, 0.316]]"], done.stderr
