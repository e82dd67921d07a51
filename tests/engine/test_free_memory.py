"""A cache that takes more than there is ends the machine; one that takes a fixed gibibyte holds no prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache.engine.free_memory import LEAST, chosen_bytes, host_bytes

GIB = 1 << 30


@pytest.mark.parametrize(
    ("free", "on_host", "context", "chosen"),
    [
        (20 * GIB, True, 9 * GIB, 10 * GIB),
        (80 * GIB, False, 9 * GIB, 68 * GIB),
        (20 * GIB, True, 1 << 20, LEAST),
        (20 * GIB, True, GIB // 64, 2 * GIB),
        (GIB, True, 9 * GIB, GIB // 2),
        (0, True, 9 * GIB, 1),
        (None, True, 9 * GIB, LEAST),
    ],
)
def test_a_part_of_what_is_free_within_what_can_be_used(
    free: int | None, on_host: bool, context: int, chosen: int
) -> None:
    assert abs(chosen_bytes(free, on_host=on_host, context_bytes=context, running=32) - chosen) < 10


def test_a_container_has_what_its_group_leaves_it(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  32000000 kB\nMemAvailable:  16777216 kB\n")
    assert host_bytes(meminfo, tmp_path) == 16 * GIB
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("5\n")
    assert host_bytes(meminfo, tmp_path) == 16 * GIB
    (tmp_path / "memory.max").write_text(f"{4 * GIB}\n")
    (tmp_path / "memory.current").write_text(f"{GIB}\n")
    assert host_bytes(meminfo, tmp_path) == 3 * GIB
    (tmp_path / "memory.current").write_text(f"{5 * GIB}\n")
    assert host_bytes(meminfo, tmp_path) == 0
    (tmp_path / "memory.max").unlink()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(f"{2 * GIB}")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("0")
    assert host_bytes(meminfo, tmp_path) == 2 * GIB


def test_a_machine_that_says_nothing_has_half_of_its_memory(tmp_path: Path) -> None:
    found = host_bytes(tmp_path / "none", tmp_path)
    assert found is None or found > 0
