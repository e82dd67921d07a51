"""What the engine publishes is vLLM's wire form, and a router's ledger that reads it holds what the engine holds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.engine.block_changes import AllBlocksLeft, BlockAdded, BlockChange, BlockLeft, encode
from semcache.engine.engine import Engine
from semcache.engine.job import Approximation, Job, Sampling
from semcache.engine.offload import OffloadTiers
from semcache.upstream.routing.block_ledger import BatchResult, BlockLedger
from semcache.upstream.routing.kinds import salt_of
from semcache.upstream.routing.kv_events import decode
from semcache.upstream.routing.prompts import root, token_keys
from semcache.upstream.routing.tree import PromptTree
from tests.engine.nursery import an_engine, ids, job, work

Folder = Callable[..., Path]
GOLDEN = Path(__file__).parents[1] / "golden" / "kv_events" / "engine.msgpack"
SALT = salt_of(b"secret", "acme")
FIRST, SECOND, THIRD = b"12345678" + b"\0" * 7 + b"\1", b"\xff" * 16, b"\x80" * 16


def test_golden_bytes() -> None:
    changes: list[BlockChange] = [
        AllBlocksLeft(),
        BlockAdded(FIRST, None, (1, 2, 3, 4), SALT),
        BlockAdded(SECOND, FIRST, (5, 6, 7, 70_000), SALT),
        BlockAdded(THIRD, FIRST, (9, 9, 9, 9), SALT),
        BlockAdded(THIRD, FIRST, (9, 9, 9, 9), SALT, "CPU"),
        BlockLeft(THIRD),
        BlockLeft(SECOND),
        BlockLeft(THIRD, "CPU"),
        BlockAdded(SECOND, None, (1, 2, 3, 4), ""),
    ]
    assert encode(1763740800.25, changes) == GOLDEN.read_bytes()


def test_the_golden_bytes_are_the_maps_that_vllm_sends() -> None:
    at, events, rank = msgspec.msgpack.decode(GOLDEN.read_bytes())
    assert (at, rank) == (1763740800.25, 0)
    recorded = msgspec.msgpack.decode((GOLDEN.parent / "maps.msgpack").read_bytes())[1]
    by_type = {event["type"]: event for event in reversed(recorded)}
    assert all(event.keys() == by_type[event["type"]].keys() for event in events)
    assert [event["type"] for event in events] == [
        "AllBlocksCleared",
        *["BlockStored"] * 3,
        *["BlockRemoved"] * 2,
        "BlockStored",
    ]
    assert events[1]["block_hashes"] == [1, 2**64 - 1]
    assert events[1]["extra_keys"] == [[SALT], None]
    assert events[2]["parent_block_hash"] == 1


def test_a_block_that_left_is_no_part_of_what_came_before() -> None:
    changes = [BlockAdded(FIRST, None, (1, 2, 3, 4), ""), BlockLeft(FIRST), BlockAdded(SECOND, FIRST, (5,) * 4, "")]
    stored, removed, again = msgspec.msgpack.decode(encode(1.0, changes))[1]
    assert (stored["block_hashes"], removed["block_hashes"], again["parent_block_hash"]) == ([1], [1], 1)
    assert len(decode(encode(1.0, [AllBlocksLeft(), BlockLeft(FIRST)])).events) == 2


class Ledger:
    """Stands for the publisher, and is the router at its other end."""

    def __init__(self) -> None:
        self.tree = PromptTree()
        self.ledger = BlockLedger(self.tree)
        self.number = 0
        self.noted: list[BlockChange] = []
        self.closed = False

    def note(self, change: BlockChange) -> None:
        self.noted.append(change)

    def flush(self) -> None:
        if self.noted:
            payload = encode(float(self.number), self.noted)
            assert self.ledger.take(self.number, decode(payload)) is BatchResult.APPLIED
            self.number += 1
            self.noted.clear()

    def close(self) -> None:
        self.closed = True

    def blocks(self, tokens: Sequence[int], salt: str = "") -> int:
        return self.tree.match(list(token_keys(root(salt, ""), tokens, 8)), 0.0)[0]

    def credit(self, tokens: Sequence[int]) -> float:
        return self.tree.match(list(token_keys(root("", ""), tokens, 8)), 0.0)[1]


def published(folder: Folder, **settings: Any) -> tuple[Engine, Ledger]:
    ledger = Ledger()
    return an_engine(folder(), publisher=ledger, **settings), ledger


def test_the_ledger_holds_what_was_computed_by_tenant(folder: Folder) -> None:
    engine, ledger = published(folder)
    prompt = ids(1, 40)
    outcome = work(engine, [job("a", prompt, tenant=SALT)])["a"]
    assert outcome.spent.cached == 0
    assert ledger.blocks(prompt, SALT) == 5
    assert ledger.blocks(prompt) == ledger.blocks(prompt, salt_of(b"secret", "other")) == 0
    before = ledger.number
    work(engine, [job("b", prompt[:33], tenant=SALT, max_tokens=1)])
    assert ledger.number == before, "what was there already is announced again"
    engine.close()
    assert ledger.closed


def test_blocks_are_announced_before_the_first_token_is_told(folder: Folder) -> None:
    engine, ledger = published(folder)
    engine.submit(job("a", ids(1, 40)))
    while not engine.step():
        assert not engine.idle
    assert ledger.blocks(ids(1, 40)) == 5


def test_the_ledger_follows_evictions(folder: Folder) -> None:
    """Random prompts through a cache of few pages: what the router believes is what the engine then finds."""
    engine, ledger = published(folder, cache_bytes=64 << 10, max_running=2)
    rng = random.Random(5)
    heads = [ids(seed, 32) for seed in range(6)]
    wrong = removed = 0
    for at in range(60):
        prompt = (*rng.choice(heads), *ids(100 + at, rng.randrange(1, 30)))
        believed = min(ledger.blocks(prompt) * 8, (len(prompt) - 1) // 8 * 8)
        spent = work(engine, [job(f"j{at}", prompt, max_tokens=rng.randrange(1, 8))])[f"j{at}"].spent
        wrong += spent.cached != believed
        removed += len(ledger.tree) < 40
    assert wrong == 0
    assert removed, "nothing was ever evicted"
    assert len(ledger.tree) == engine._kv_cache.blocks


def test_blocks_in_host_memory_are_worth_less_than_cached_ones_and_more_than_none(folder: Folder) -> None:
    def tiers(metrics: Any) -> OffloadTiers:
        return OffloadTiers(host_bytes=256 << 10, disk=None, clock=time.monotonic, metrics=metrics)

    engine, ledger = published(folder, cache_bytes=64 << 10, max_running=1, tiers=tiers)
    prompts = [ids(seed, 64) for seed in range(60)]
    for at, prompt in enumerate(prompts):
        work(engine, [job(f"j{at}", prompt, max_tokens=1)])
        for earlier in prompts[: at + 1]:
            # A block that is in neither place was given up by both.
            blocks, credit = ledger.blocks(earlier), ledger.credit(earlier)
            assert 0.75 * blocks <= credit <= blocks
    credits = {ledger.credit(prompt) for prompt in prompts}
    assert credits >= {0.0, 6.0, 8.0}
    held = next(prompt for prompt in prompts if ledger.credit(prompt) == 6.0)
    assert work(engine, [job("again", held, max_tokens=1)])["again"].spent.cached == 56
    assert ledger.credit(held) >= 7.0


def test_approximate_blocks_are_not_announced(folder: Folder) -> None:
    engine, ledger = published(folder)
    prompt = ids(3, 64)
    way = Approximation((range(8, 56),), press="streaming", keep=0.5)
    work(engine, [Job("a", prompt, Sampling(max_tokens=20, ignore_eos=True), approximation=way)])
    assert len(ledger.tree) == 0
    assert engine._kv_cache.blocks > 0


def test_a_fault_clears_what_the_router_believes(folder: Folder) -> None:
    engine, ledger = published(folder)
    work(engine, [job("a", ids(1, 40))])
    engine.reset()
    assert len(ledger.tree) == 0


def test_a_job_whose_model_fails_takes_its_blocks_back(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, ledger = published(folder)
    engine.submit(job("a", ids(1, 100)))
    engine.step()
    assert ledger.blocks(ids(1, 100)) == 6
    monkeypatch.setattr(type(engine.decoder), "logits", lambda *_, **__: 1 / 0)
    engine.step()
    engine.step()
    assert len(ledger.tree) == engine._kv_cache.blocks == 0
