"""The folder of metrics that workers share: made, kept while its server lives, and removed after a killed one."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from semcache.cli import shared_metrics as module
from semcache.cli.shared_metrics import remove_abandoned, shared_metrics
from semcache.runtime.metric_files import FOLDER


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(FOLDER, "")
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="needs locks")
def test_a_folder_is_removed_after_a_server_that_was_killed_and_no_other(temporary: Path) -> None:
    """They stayed in /tmp for ever."""
    abandoned = temporary / "semcache-metrics-held-old"
    abandoned.mkdir()
    (abandoned / "counter_1.db").write_bytes(b"1")
    foreign = temporary / "semcache-metrics-abc12345"  # of a version that held none, and may live
    foreign.mkdir()
    (temporary / "semcache-metrics-held-link").symlink_to(foreign)
    with shared_metrics(2):
        own = Path(os.environ[FOLDER])
        assert own.parent == temporary
        assert not abandoned.exists()
        remove_abandoned(temporary)
        assert own.is_dir(), "another start removes nothing of a server that lives"
    assert foreign.is_dir()
    assert not own.exists()


def test_without_room_there_is_no_folder_and_a_warning(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(module, "take", full)
    with shared_metrics(2):
        assert FOLDER not in os.environ
    said = capsys.readouterr().err
    assert said.startswith("warning: the metrics of the workers are not added up")
    assert "No space left on device" in said
    assert list(temporary.iterdir()) == []


def test_a_single_worker_and_a_folder_of_the_environment_need_none(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shared_metrics(1):
        assert not os.environ.get(FOLDER)
    monkeypatch.setenv(FOLDER, "/somewhere")
    with shared_metrics(2):
        assert os.environ[FOLDER] == "/somewhere"
    assert list(temporary.iterdir()) == []
