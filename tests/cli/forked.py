"""A command that the nursery runs beside a test, where the libraries are loaded: the methods of `subprocess.Popen`."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias


class Forked:
    """`semcache ARGS` in a fork of the nursery, with its streams; the nursery's keeper of it tells when it ends."""

    def __init__(self, nursery: Any, arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        pipes = [os.pipe() for _ in range(3)]
        theirs = [there for _, there in pipes]
        order = {"args": list(arguments), "env": dict(environment), "cwd": str(folder), "beside": True}
        nursery.stdin.write(json.dumps(order) + "\n")
        nursery.stdin.flush()
        socket.send_fds(nursery.pipes, [b"-"], theirs)
        for one in theirs:
            os.close(one)
        self.stdout, self.stderr, self._kept = (os.fdopen(here, encoding="utf-8") for here, _ in pipes)
        self.args = arguments
        self.pid = int(self._kept.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status, None while it runs."""
        if self.returncode is None and select.select([self._kept], [], [], 0)[0]:
            self.returncode = int(self._kept.readline())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status once it has ended. Raises TimeoutExpired."""
        if self.returncode is None and not select.select([self._kept], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0.0)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """End it, and close its streams."""
        self.kill()
        self.wait()
        for stream in (self.stdout, self.stderr, self._kept):
            stream.close()


Fork: TypeAlias = Callable[..., Forked]
