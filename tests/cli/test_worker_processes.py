"""Workers that die or cannot start: who notices, who takes their place, and who goes on serving meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from semcache.cli.worker_processes import _Place, _Worker
from tests.cli.test_serve import ECHO, Start, ask, ready, url_of
from tests.waiting import PATIENCE, eventually


class _Process:
    """A process that is killed only in name."""

    pid, exitcode = 1, None

    def __init__(self) -> None:
        self.kills = 0

    def kill(self) -> None:
        self.kills += 1


def _worker() -> tuple[Any, _Process, Any]:
    here, there = multiprocessing.Pipe(duplex=False)
    process: Any = _Process()
    return _Worker(process, here), process, there


def _children(server: subprocess.Popen[str]) -> list[int]:
    """The processes that a server has started, the newest last; the first is no worker."""
    return [int(one) for one in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()]


def _said(server: subprocess.Popen[str], word: str) -> str:
    assert server.stderr is not None
    return next(line for line in iter(server.stderr.readline, "") if word in line)


def _serving(start: Start) -> tuple[subprocess.Popen[str], str]:
    """A server of two workers, both of which serve."""
    server = start("serve", *ECHO, "--workers", 2)
    url = url_of(ready(server))
    answered: set[str] = set()

    def both() -> bool:
        answered.add(_pid_of(url))
        return len(answered) == 2

    eventually(both)
    return server, url


def _pid_of(url: str) -> str:
    with urllib.request.urlopen(f"{url}/models", timeout=PATIENCE) as reply:
        return str(reply.headers["x-request-id"])[4:10]


@pytest.mark.process
def test_a_worker_that_cannot_start_is_tried_again_while_the_others_serve(start: Start, tmp_path: Path) -> None:
    """One was killed while the store was away, and with it the healthy ones ended."""
    server, url = _serving(start)
    data, away = tmp_path / "data", tmp_path / "away"
    data.rename(away)
    data.write_text("in the way")
    os.kill(_children(server)[-1], signal.SIGKILL)
    assert "takes its place" in _said(server, "died: killed by SIGKILL")
    assert "its folder cannot be made" in _said(server, "error: store")
    assert "the next one tries in 1 s" in _said(server, "could not start, for the reason above")
    assert ask(url, "What is a monad?")[1]
    data.unlink()
    away.rename(data)
    assert _said(server, "serves in the place that was empty")
    server.send_signal(signal.SIGTERM)
    assert server.wait() == 0


@pytest.mark.process
def test_a_worker_that_hangs_does_not_keep_the_death_of_another_from_being_seen(start: Start) -> None:
    """For as long as one was waited for, signals were not heard, nor was anybody replaced."""
    server, _ = _serving(start)
    *_, first, second = _children(server)
    os.kill(first, signal.SIGSTOP)
    try:
        os.kill(second, signal.SIGKILL)
        assert f"worker {second} died: killed by SIGKILL" in _said(server, "died:")
    finally:
        os.kill(first, signal.SIGKILL)


def test_the_pause_before_another_worker_grows_to_half_a_minute_and_ends_with_one_that_stays() -> None:
    place = _Place()
    assert [place.lost(0.0) for _ in range(8)] == [0, 1, 2, 4, 8, 16, 30, 30]
    assert place.due == 30.0
    place.worker, _, _ = _worker()
    place.worker.ready_since = 100.0
    assert place.lost(120.0) == 30.0, "it died at once"
    place.worker, _, _ = _worker()
    place.worker.ready_since = 200.0
    assert place.lost(3800.0) == 0.0


@pytest.mark.parametrize(
    ("passed", "turns", "kills"), [(0.25, 79, 0), (0.25, 81, 1), (0.25, 200, 1), (3600.0, 39, 0)], ids=str
)
def test_a_worker_is_killed_for_its_own_silence_and_not_for_a_pause_of_the_machine(
    passed: float, turns: int, kills: int
) -> None:
    """A machine that slept for an hour ended every worker when it woke."""
    worker, process, _ = _worker()
    for turn in range(turns):
        worker.look(turn * passed, passed)
    assert process.kills == kills


def test_a_worker_that_speaks_lives() -> None:
    worker, process, there = _worker()
    for turn in range(200):
        there.send(turn > 100)
        eventually(lambda: worker._heard)
        worker.look(float(turn), 0.25)
    assert process.kills == 0
    assert worker.ready_since is not None
    assert worker.ready_since >= 101.0
