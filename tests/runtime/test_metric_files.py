"""Metrics of several processes on a disk that is full: counted alone, and no signal that ends the process."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict

from semcache.runtime import metric_files
from semcache.runtime.metric_files import MetricFile


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A disk that is full once the list is not empty."""
    found: list[bool] = []
    take = metric_files.take

    def limited(path: Path, size: int) -> None:
        if found:
            path.touch()
            raise OSError(errno.ENOSPC, "No space left on device")
        take(path, size)

    monkeypatch.setattr(metric_files, "take", limited)
    metric_files._say_full.cache_clear()
    return found


def _read(path: Path) -> dict[str, float]:
    """The values as a scrape finds them."""
    return {key: value for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path))}  # type: ignore[no-untyped-call]


@pytest.mark.skipif(sys.platform != "linux", reason="takes room beforehand where the system can")
def test_what_is_written_to_has_its_room_on_the_disk(tmp_path: Path) -> None:
    """A page without any ended the process by SIGBUS when the disk had filled up meanwhile."""
    path = tmp_path / "counter_1.db"
    file = MetricFile(str(path))
    sizes = set()
    for number in range(2000):
        file.write_value(f"semcache_requests_total {number}", float(number), 0.0)
        found = path.stat()
        sizes.add(found.st_size)
        assert 512 * found.st_blocks >= found.st_size
    assert len(sizes) > 1, "it has grown"
    assert _read(path) == {f"semcache_requests_total {number}": float(number) for number in range(2000)}
    file.close()
    again = MetricFile(str(path))
    assert again.read_value("semcache_requests_total 7") == (7.0, 0.0)
    again.close()


def test_where_there_is_no_room_a_process_counts_alone_and_says_so_once(
    tmp_path: Path, full: list[bool], caplog: pytest.LogCaptureFixture
) -> None:
    full.append(True)
    files = [MetricFile(str(tmp_path / f"{kind}_1.db")) for kind in ("counter", "gauge_livesum")]
    for file in files:
        file.write_value("hits", 3.0, 0.0)
        assert file.read_value("hits") == (3.0, 0.0)
        assert file.read_value("misses") == (0.0, 0.0)
        file.close()
    assert list(tmp_path.iterdir()) == [], "an empty file breaks the scrape of all"
    [line] = caplog.messages
    assert f"{tmp_path}: No space left on device; free some space" in line


def test_what_was_shared_is_shared_on_when_there_is_no_room_for_more(tmp_path: Path, full: list[bool]) -> None:
    path = tmp_path / "counter_1.db"
    file = MetricFile(str(path))
    file.write_value("hits", 1.0, 0.0)
    full.append(True)
    for number in range(2000):
        file.write_value(f"semcache_requests_total {number}", 1.0, 0.0)
    file.write_value("hits", 2.0, 0.0)
    assert _read(path)["hits"] == 2.0
    assert file.read_value("semcache_requests_total 1999") == (1.0, 0.0)
    full.clear()
    file.write_value("semcache_requests_total 1999", 5.0, 0.0)
    assert file.read_value("semcache_requests_total 1999") == (5.0, 0.0)
    file.close()


def test_a_file_where_a_folder_should_be_costs_the_shared_metrics_and_not_the_start(tmp_path: Path) -> None:
    """`semcache serve --workers 2` ended with a traceback."""
    (tmp_path / "file").touch()
    made = MetricFile(str(tmp_path / "file" / "counter_1.db"))
    made.write_value("a", 2.0, 0.0)
    assert made.read_value("a") == (2.0, 0.0)
