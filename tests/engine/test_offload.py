"""Blocks behind the cache: they survive a restart, and one that is damaged or foreign is computed again."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from semcache.engine.disk_tier import DiskTier, StoredBlock
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.offload import OffloadTiers
from semcache.errors import ConfigError
from tests.engine.nursery import Reference, an_engine, ids, job, metric, work

Folder = Callable[..., Path]
PROMPT = ids(4, 50)
DISK = "semcache_engine_tier_blocks_total"


def on_disk(folder: Path, most: int = 1 << 30) -> Callable[[EngineMetrics], OffloadTiers]:
    def made(metrics: EngineMetrics) -> OffloadTiers:
        disk = DiskTier(folder, most, count=lambda event: metrics.tier("disk", event))
        return OffloadTiers(host_bytes=0, disk=disk, clock=time.monotonic, metrics=metrics)

    return made


def ask(model: Path, disk: Path, prompt: Any = PROMPT, **given: Any) -> Any:
    """The answer of a fresh process over this disk, and its engine."""
    engine = an_engine(model, tiers=on_disk(disk))
    said = work(engine, [job("a", prompt, **given)])["a"]
    engine.close()
    return said, engine


def files(disk: Path) -> list[Path]:
    return sorted(disk.glob("*/*.safetensors"))


def test_a_prefix_survives_a_restart(folder: Folder, tmp_path: Path) -> None:
    first, _ = ask(folder(), tmp_path)
    again, engine = ask(folder(), tmp_path)
    assert (first.spent.cached, again.spent.cached) == (0, 48)
    assert first.text == again.text == Reference(folder()).says(PROMPT, 12)
    assert metric(engine, DISK, tier="disk", event="loaded") == 6
    assert ask(folder(), tmp_path, tenant="other")[0].spent.cached == 0
    assert ask(folder("qwen2"), tmp_path)[0].spent.cached == 0


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "swapped", "foreign", "gone"])
def test_a_block_that_is_not_whole_and_right_is_computed_again(folder: Folder, tmp_path: Path, damage: str) -> None:
    first, _ = ask(folder(), tmp_path)
    for path in files(tmp_path)[2:4]:
        content = path.read_bytes()
        if damage == "cut":
            path.write_bytes(content[:-7])
        elif damage == "flipped":
            path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        elif damage == "emptied":
            path.write_bytes(b"")
        elif damage == "foreign":
            from safetensors.numpy import save

            path.write_bytes(save({}, metadata={"format": "pt"}))
        elif damage == "gone":
            path.unlink()
    if damage == "swapped":
        one, other = files(tmp_path)[:2]
        content = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(content)
    again, engine = ask(folder(), tmp_path)
    assert again.text == first.text
    assert again.spent.cached < 48
    if damage != "gone":
        assert metric(engine, DISK, tier="disk", event="damaged") >= 1
    ask(folder(), tmp_path)
    assert ask(folder(), tmp_path)[0].spent.cached == 48  # both were written anew


def test_a_folder_stays_within_its_size(folder: Folder, tmp_path: Path) -> None:
    ask(folder(), tmp_path)
    size = files(tmp_path)[0].stat().st_size
    engine = an_engine(folder(), tiers=on_disk(tmp_path, 5 * size))
    work(engine, [job("b", ids(5, 60))])
    engine.close()
    assert len(files(tmp_path)) <= 5


def test_a_disk_that_cannot_be_used_is_said_at_once_and_one_that_fails_later_costs_nothing(
    folder: Folder, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"):
        on_disk(tmp_path / "file")(EngineMetrics())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    said, engine = ask(folder(), tmp_path / "disk")
    assert said.text == Reference(folder()).says(PROMPT, 12)
    assert metric(engine, DISK, tier="disk", event="failed") > 0
    assert files(tmp_path / "disk") == []


@pytest.mark.parametrize("damaged", [False, True])
def test_a_disk_that_can_only_be_read_costs_no_answer(
    folder: Folder, tmp_path: Path, monkeypatch: Any, damaged: bool
) -> None:
    """A folder that was warmed elsewhere and mounted: its files can neither be touched nor deleted."""
    first, _ = ask(folder(), tmp_path)
    if damaged:
        files(tmp_path)[0].write_bytes(b"")

    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.utime", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    monkeypatch.setattr(Path, "write_bytes", refused)
    again, _ = ask(folder(), tmp_path)
    assert again.text == first.text
    assert damaged or again.spent.cached == 48


def test_host_memory_takes_what_leaves_the_cache(folder: Folder) -> None:
    def host(metrics: EngineMetrics) -> OffloadTiers:
        return OffloadTiers(host_bytes=1 << 20, disk=None, clock=time.monotonic, metrics=metrics)

    engine = an_engine(folder(), cache_bytes=10 * 8 * 512, tiers=host)
    first = work(engine, [job("a", PROMPT)])["a"]
    work(engine, [job("b", ids(1, 60))])
    again = work(engine, [job("c", PROMPT)])["c"]
    assert again.text == first.text
    assert again.spent.cached == 48
    assert metric(engine, DISK, tier="host", event="loaded") > 0


def test_a_block_that_was_refused_is_offered_again(monkeypatch: Any) -> None:
    """However quick the writer is: it may be done with a block before `keep` is."""
    disk: Any = _Refusing()
    tiers = OffloadTiers(host_bytes=0, disk=disk, clock=time.monotonic, metrics=EngineMetrics())
    put = tiers._queue.put

    def overtaken(stored: Any, **given: Any) -> None:
        put(stored, **given)
        put(None)
        tiers._writer.join()

    monkeypatch.setattr(tiers._queue, "put", overtaken)
    tiers.keep(StoredBlock(b"k", b"p", (1,), None))  # type: ignore[arg-type]
    assert tiers.wants(b"k")


class _Refusing:
    """A disk that takes nothing."""

    def __contains__(self, key: object) -> bool:
        return False

    def write(self, block: StoredBlock) -> bool:
        return False


class _Disk:
    """A disk that holds everything and takes a second to give it."""

    def __init__(self, time: Iterator[int]) -> None:
        self._time = time

    def __contains__(self, key: object) -> bool:
        return True

    def size(self, key: bytes) -> int:
        return 100 * len(key)

    def read(self, key: bytes, parent: bytes, ids: Any) -> StoredBlock:
        next(self._time)
        return StoredBlock(key, parent, tuple(ids), None)  # type: ignore[arg-type]


def test_a_block_that_is_quicker_to_compute_is_not_loaded() -> None:
    ticks = itertools.count()
    disk: Any = _Disk(ticks)
    tiers = OffloadTiers(host_bytes=0, disk=disk, clock=lambda: next(ticks), metrics=EngineMetrics())
    assert tiers.fetch(b"k", b"p", [1], compute=0.5)  # its speed is not known yet
    assert tiers.fetch(b"k", b"p", [1], compute=0.5) is None
    assert tiers.fetch(b"k", b"p", [1], compute=9.0)
    assert any(tiers.fetch(b"k", b"p", [1], compute=0.5) for _ in range(70))  # tried again, now and then
    tiers.close()
