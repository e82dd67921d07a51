"""The worker processes of `semcache serve`, and what becomes of one that dies: said, counted, and replaced.

Extends uvicorn's supervisor. Invariant: a worker that ends by itself is replaced, and both the log and the metrics say
how it ended; SIGHUP reloads, and restarts nobody.
"""

from __future__ import annotations

import logging
import os
import signal
from functools import partial
from typing import Any

from uvicorn import Config
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from semcache.runtime import reload_signal

_NAME = "semcache_worker_deaths"
_MEANING = "Worker processes that died, by how: a signal, an exit, or no sign of life."
_HOW = ("signal", "exit", "hung")
_log = logging.getLogger(__name__)


class WorkerProcesses(Multiprocess):
    """The workers of one command. The metrics folder is that of the environment."""

    def __init__(self, config: Config, sockets: list[Any]) -> None:
        super().__init__(config, sockets)
        self._deaths: dict[str, Any] = {}

    def init_processes(self) -> None:
        """Start the workers."""
        from prometheus_client.values import MultiProcessValue

        # This process serves no metrics; its counts lie in the folder that whichever worker is asked adds up.
        value = MultiProcessValue()  # type: ignore[no-untyped-call]
        for how in _HOW:
            self._deaths[how] = value("counter", _NAME, f"{_NAME}_total", ("how",), (how,), _MEANING)
        with reload_signal.held():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have ended or give no sign of life."""
        before = list(self.processes)
        hung: set[int | None] = set()
        for process in before:
            setattr(process, "kill", partial(_kill, process, hung))  # noqa: B010 - it is a method
        with reload_signal.held():
            super().keep_subprocess_alive()
        for old, new in zip(before, self.processes, strict=False):
            if new is not old:
                self._died(old.pid, old.exitcode, new.pid, hung=old.pid in hung)

    def terminate_all(self) -> None:
        """Have the workers drain. A connection that nobody is to take any more is refused, and left with nobody."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()

    def handle_hup(self) -> None:
        """Have the first worker that lives reload; it tells the others."""
        for process in self.processes:
            if process.process.is_alive() and process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)
                return

    def _died(self, pid: int | None, code: int | None, new: int | None, *, hung: bool) -> None:
        from prometheus_client.multiprocess import mark_process_dead

        how = "hung" if hung else "signal" if code is not None and code < 0 else "exit"
        self._deaths[how].inc(1)
        # What it had in memory is gone, and is no longer to be added up.
        mark_process_dead(pid)  # type: ignore[no-untyped-call]
        _log.error("worker %s died: %s; worker %s takes its place", pid, _cause(code, hung=hung), new)


def _kill(process: Process, hung: set[int | None]) -> None:
    """Kill a worker that gave no sign of life, and note whether it still ran: it may have died while it was asked."""
    if process.process.is_alive():
        hung.add(process.pid)
    Process.kill(process)


def _cause(code: int | None, *, hung: bool) -> str:
    if hung:
        return "it gave no sign of life and was killed"
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = ", as the kernel sends when memory runs out" if name == "SIGKILL" else ""
        return f"killed by {name}{hint}"
    return f"exit status {code}"
