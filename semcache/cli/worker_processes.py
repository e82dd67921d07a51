"""The worker processes of `semcache serve`, and what becomes of one that dies: said, counted, and replaced.

Knows processes and signals, nothing of requests. Invariant: a worker that ends by itself is replaced, and both the log
and the metrics say how it ended; only one that cannot start before any has served ends the command. SIGHUP reloads, and
restarts nobody.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uvicorn import Config

from semcache.cli.worker_server import Heartbeat, serve_in_worker
from semcache.runtime import reload_signal
from semcache.runtime.metric_files import FOLDER, take_room_beforehand

if TYPE_CHECKING:
    from semcache.proxy.reloading import Loaded

_NAME = "semcache_worker_deaths"
_MEANING = "Worker processes that died, by how: a signal, an exit, or no sign of life."
_HOW = ("signal", "exit", "hung")
_TURN = 0.25  # seconds
_LIFELESS = 20.0  # seconds of one that serves
# Of one that starts: on a machine with little time to spare, imports and models take a minute or more without a beat,
# and one that is killed in the midst of them begins them again.
_LIFELESS_AT_START = 300.0
_LONGEST_PAUSE = 30.0
_HINTS = {
    "SIGKILL": ", as the kernel sends when memory runs out",
    "SIGBUS": f", as the kernel sends when a disk is full: look at the data folder, and at that of {FOLDER}",
}
_log = logging.getLogger(__name__)


class _Worker:
    """A process that serves, and how long it has been silent."""

    def __init__(self, process: SpawnProcess, heartbeats: Connection, has_read: Callable[[Loaded], object]) -> None:
        self.process = process
        self.ready_since: float | None = None
        self.hung = False
        self._heartbeats, self._has_read = heartbeats, has_read
        self._silent = 0.0
        self._heard = self._ready = False
        # What is written by halves would block a reader for as long as its writer hangs.
        threading.Thread(target=self._listen, name="semcache-worker", daemon=True).start()

    def _listen(self) -> None:
        with self._heartbeats:
            while True:
                try:
                    beat: Heartbeat = self._heartbeats.recv()
                except (EOFError, OSError):
                    return
                self._heard, self._ready = True, beat.serves
                if beat.read is not None:
                    self._has_read(beat.read)

    def look(self, now: float, passed: float) -> None:
        """Take note of what was heard in the `passed` seconds; kill what has said nothing for too long."""
        if self._ready and self.ready_since is None:
            self.ready_since = now
        # A pause of this process itself, or of the machine, is nobody's silence.
        self._silent = 0.0 if self._heard else self._silent + min(passed, 2 * _TURN)
        self._heard = False
        if self._silent > (_LIFELESS_AT_START if self.ready_since is None else _LIFELESS) and not self.hung:
            self.hung = True
            self.process.kill()

    def terminate(self) -> None:
        """Have it drain and end."""
        if self.process.pid is None or self.process.exitcode is not None:
            return
        if sys.platform == "win32":
            os.kill(self.process.pid, signal.CTRL_BREAK_EVENT)
        else:
            self.process.terminate()


class _Place:
    """A place among the workers: who has it, and how often in a row one died or could not start."""

    def __init__(self) -> None:
        self.worker: _Worker | None = None
        self.due = 0.0
        self.was_lost = False
        self._failures = 0

    def lost(self, now: float) -> float:
        """Note that the worker has ended, and return in how many seconds another is due: at once, then ever later."""
        served = self.worker.ready_since if self.worker is not None else None
        if served is not None and now - served > _LONGEST_PAUSE:
            self._failures = 0
        pause = min(_LONGEST_PAUSE, 2.0 ** (self._failures - 1)) if self._failures else 0.0
        self._failures += 1
        self.worker, self.due, self.was_lost = None, now + pause, True
        return pause


class WorkerProcesses:
    """The workers of one command. The metrics folder is that of the environment.

    All serve by what is `loaded` until a reload has read other files; these are then for those who come later, too.
    """

    def __init__(self, config: Config, sockets: list[socket.socket], loaded: Loaded) -> None:
        self._config = config
        self._loaded = loaded
        self._sockets = sockets
        self._places = [_Place() for _ in range(config.workers)]
        self._deaths: dict[str, Any] = {}
        self._signals: list[int] = []
        self._stopping = self._failed = self._has_served = False
        self._looked = 0.0

    def run(self) -> bool:
        """Serve until a signal, and return True; return False if a worker could not start."""
        if os.environ.get(FOLDER):
            self._deaths = _death_counts()
        with self._taking_signals():
            try:
                with reload_signal.held():
                    for place in self._places:
                        place.worker = self._start()
                self._looked = time.monotonic()
                while not self._stopping:
                    self._wait()
                    self._obey()
                    for place in self._places:
                        self._keep(place)
            finally:
                self._drain()
        return not self._failed

    @contextmanager
    def _taking_signals(self) -> Iterator[None]:
        names = ("SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP")
        taken = [signal.Signals[name] for name in names if name in signal.Signals.__members__]
        before = {one: signal.signal(one, lambda number, _: self._signals.append(number)) for one in taken}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _start(self) -> _Worker:
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(
            target=serve_in_worker, args=(self._config, self._sockets, self._loaded, there)
        )
        with reload_signal.held():
            process.start()
        # The worker's end: held here too, it would stay open when the worker has died.
        there.close()
        return _Worker(process, here, self._take_over)

    def _take_over(self, loaded: Loaded) -> None:
        self._loaded = loaded

    @property
    def _workers(self) -> list[_Worker]:
        return [place.worker for place in self._places if place.worker is not None]

    def _wait(self) -> None:
        """Wait for a turn, or until a worker ends, and look at each."""
        if workers := self._workers:
            wait([one.process.sentinel for one in workers], timeout=_TURN)
        else:
            time.sleep(_TURN)
        now = time.monotonic()
        for one in workers:
            one.look(now, now - self._looked)
            self._has_served |= one.ready_since is not None
        self._looked = now

    def _obey(self) -> None:
        while self._signals:
            if self._signals.pop(0) == getattr(signal, "SIGHUP", None):
                self._reload()
            else:
                self._stopping = True

    def _reload(self) -> None:
        """Have the first worker that serves reload; it tells the others."""
        living = [one for one in self._workers if one.process.is_alive()]
        for one in sorted(living, key=lambda one: one.ready_since is None)[:1]:
            os.kill(one.process.pid or 0, signal.SIGHUP)

    def _keep(self, place: _Place) -> None:
        """Have a worker in this place."""
        worker = place.worker
        if self._stopping:
            return
        if worker is None:
            if time.monotonic() >= place.due:
                place.worker = self._start()
        elif worker.process.exitcode is not None:
            self._replace(place, worker)
        elif place.was_lost and worker.ready_since is not None:
            place.was_lost = False
            _log.info("worker %s serves in the place of one that died", worker.process.pid)

    def _replace(self, place: _Place, dead: _Worker) -> None:
        code = dead.process.exitcode
        unable = dead.ready_since is None and code is not None and code > 0
        if unable and not self._has_served:
            # It would fail the same way again; the reason has been logged by the worker.
            self._stopping = self._failed = True
            return
        self._count(dead)
        pause = place.lost(time.monotonic())
        pid = dead.process.pid
        if unable:
            _log.error("worker %s could not start, for the reason above; the next one tries in %g s", pid, pause)
            return
        cause = _cause(code, hung=dead.hung)
        if pause:
            _log.error("worker %s died: %s; another takes its place in %g s", pid, cause, pause)
            return
        place.worker = self._start()
        _log.error("worker %s died: %s; worker %s takes its place", pid, cause, place.worker.process.pid)

    def _count(self, dead: _Worker) -> None:
        if not self._deaths:
            return
        code = dead.process.exitcode
        how = "hung" if dead.hung else "signal" if code is not None and code < 0 else "exit"
        self._deaths[how].inc(1)
        _forget(dead)

    def _drain(self) -> None:
        """Have the workers end. A connection that nobody is to take any more is refused, and left with nobody."""
        for listener in self._sockets:
            listener.close()
        for one in self._workers:
            one.terminate()
        while any(one.process.exitcode is None for one in self._workers):
            self._wait()


def _death_counts() -> dict[str, Any]:
    from prometheus_client.values import MultiProcessValue

    # This process serves no metrics; its counts lie in the folder that whichever worker is asked adds up.
    take_room_beforehand()
    value = MultiProcessValue()  # type: ignore[no-untyped-call]
    return {how: value("counter", _NAME, f"{_NAME}_total", ("how",), (how,), _MEANING) for how in _HOW}


def _forget(dead: _Worker) -> None:
    """Have what it had in memory added up no longer, nor anything of one that never served."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(dead.process.pid)  # type: ignore[no-untyped-call]
    if dead.ready_since is None:
        for path in Path(os.environ[FOLDER]).glob(f"*_{dead.process.pid}.db"):
            path.unlink(missing_ok=True)


def _cause(code: int | None, *, hung: bool) -> str:
    if hung:
        return "it gave no sign of life and was killed"
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"killed by {name}{_HINTS.get(name, '')}"
    return f"exit status {code}"
