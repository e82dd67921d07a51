"""One of several worker processes of `semcache serve`: a server, and its heartbeats to its parent.

Knows uvicorn and the pipe to the parent. Invariant: a worker ends with its parent, also if that one was killed; what a
reload has read goes to the parent, for those who come later.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from uvicorn import Config, Server

if TYPE_CHECKING:
    from semcache.proxy.reloading import Loaded


_EVERY = 0.5  # seconds


class Heartbeat(NamedTuple):
    """The heartbeat of a worker: if it serves, and the files that it has read anew."""

    serves: bool
    read: Loaded | None


class _ToldServer(Server):
    """A server whose parent is told as soon as it serves, and not only by the next of its regular heartbeats."""

    def __init__(self, config: Config, told: Callable[[None], object]) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve."""
        await super().startup(sockets)
        self._told(None)


def serve_in_worker(config: Config, sockets: list[socket.socket], loaded: Loaded, parent: Connection) -> None:
    """Serve by what is `loaded` until a signal or the end of the parent. Exits with status 3 if the start fails."""
    config.configure_logging()
    read: SimpleQueue[Loaded | None] = SimpleQueue()
    server = _ToldServer(config, read.put)
    threading.Thread(target=_tell, args=(server, read, parent), name="semcache-alive", daemon=True).start()
    threading.Thread(target=_end_with_parent, args=(server,), name="semcache-parent", daemon=True).start()
    # Later than the first heartbeat: it takes a second, or many on a busy machine.
    from semcache.proxy.process_application import create

    config.app = partial(create, loaded, read.put)
    with suppress(KeyboardInterrupt):  # the parent was interrupted as well, and says so
        server.run(sockets)


def _tell(server: Server, read: SimpleQueue[Loaded | None], parent: Connection) -> None:
    """Say again and again that this process lives and if it serves, and hand back what was read."""
    news = None
    while True:
        try:
            parent.send(Heartbeat(server.started, news))
        except OSError:  # the parent has ended
            return
        try:
            news = read.get(timeout=_EVERY)
        except Empty:
            news = None


def _end_with_parent(server: Server) -> None:
    """Stop the server once the parent has ended: again, if it did not listen to signals yet when it was told."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        while not server.should_exit:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(_EVERY)
