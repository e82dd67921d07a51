"""Workers that die or cannot start: who notices, who takes their place, and who goes on serving meanwhile."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from semcache.cli.worker_processes import _Place, _Worker
from semcache.cli.worker_server import Heartbeat
from tests.cli.forked import Fork, Forked
from tests.cli.test_serve import ECHO, Run, ask, ready, url_of
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
    return _Worker(process, here, print), process, there


def _children(server: Forked) -> list[int]:
    """The processes that a server has started, the newest last."""
    return [int(one) for one in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()]


def _said(server: Forked, word: str) -> str:
    return next(line for line in iter(server.stderr.readline, "") if word in line)


@pytest.mark.process
def test_a_worker_that_cannot_start_is_tried_again_while_the_others_serve(fork: Fork, tmp_path: Path) -> None:
    """One was killed while the store was away, and with it the healthy ones ended."""
    server = fork("serve", *ECHO, "--workers", 2)
    url = url_of(ready(server))
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
    assert _said(server, "serves in the place of one that died")
    server.send_signal(signal.SIGTERM)
    assert server.wait() == 0


@pytest.mark.process
def test_a_worker_that_takes_a_place_serves_what_was_reloaded_last_and_not_what_lies_on_the_disk(
    run: Run, fork: Fork, tmp_path: Path
) -> None:
    """One server served by two packs, of which nobody had asked for the second."""
    server = fork("serve", *ECHO, "--workers", 2)
    url = url_of(ready(server))
    pack = tmp_path / "plain.yaml"

    def packs() -> set[str]:
        found = set()
        for _ in range(20):
            with urllib.request.urlopen(f"{url.removesuffix('/v1')}/readyz", timeout=PATIENCE) as reply:
                found.add(json.load(reply)["policies"])
        return found

    def packs_after_a_death() -> set[str]:
        os.kill(_children(server)[-1], signal.SIGKILL)
        assert _said(server, "died: killed by SIGKILL")
        assert _said(server, "serves in the place of one that died")
        return packs()

    pack.write_text("name: other\n")
    assert packs_after_a_death() == {"plain"}
    done = run("reload")
    assert done.returncode == 0, done.stderr
    assert "restart" not in done.stdout
    until = time.monotonic() + PATIENCE  # one worker answered; the other reads the same file soon after it
    while packs() != {"other"}:
        assert time.monotonic() < until, "a worker has not reloaded"
        time.sleep(0.1)
    pack.write_text("name: [broken\n")
    assert packs_after_a_death() == {"other"}


@pytest.mark.process
def test_a_worker_that_hangs_does_not_keep_the_death_of_another_from_being_seen(fork: Fork) -> None:
    """For as long as one was waited for, signals were not heard, nor was anybody replaced."""
    server = fork("serve", *ECHO, "--workers", 2)
    ready(server)
    first, second = _children(server)
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
    ("serves", "passed", "turns", "kills"),
    [
        (True, 0.25, 79, 0),
        (True, 0.25, 81, 1),
        (True, 0.25, 200, 1),
        (True, 3600.0, 39, 0),
        (False, 0.25, 1199, 0),
        (False, 0.25, 1201, 1),
    ],
    ids=str,
)
def test_a_worker_is_killed_for_its_own_silence_and_not_for_a_pause_of_the_machine(
    serves: bool, passed: float, turns: int, kills: int
) -> None:
    """A machine that slept for an hour ended every worker when it woke, and on a busy one no start came to its end."""
    worker, process, _ = _worker()
    worker.ready_since = 0.0 if serves else None
    for turn in range(turns):
        worker.look(turn * passed, passed)
    assert process.kills == kills


def test_a_worker_that_speaks_lives() -> None:
    worker, process, there = _worker()
    for turn in range(200):
        there.send(Heartbeat(turn > 100, None))
        eventually(lambda: worker._heard)
        worker.look(float(turn), 0.25)
    assert process.kills == 0
    assert worker.ready_since is not None
    assert worker.ready_since >= 101.0
