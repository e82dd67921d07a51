"""One of several worker processes of `semcache serve`: a server, and its word to its parent that it lives.

Knows uvicorn and the pipe to the parent. Invariant: a worker ends with its parent, also if that one was killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from uvicorn import Server

if TYPE_CHECKING:
    from uvicorn import Config

_EVERY = 0.5  # seconds


def serve_in_worker(config: Config, sockets: list[socket.socket], parent: Connection) -> None:
    """Serve at `sockets` until a signal or the end of the parent. Exits with status 3 if the start fails."""
    config.configure_logging()
    server = Server(config)
    threading.Thread(target=_tell, args=(server, parent), name="semcache-alive", daemon=True).start()
    threading.Thread(target=_end_with_parent, name="semcache-parent", daemon=True).start()
    with suppress(KeyboardInterrupt):  # the parent was interrupted as well, and says so
        server.run(sockets)


def _tell(server: Server, parent: Connection) -> None:
    """Say again and again that this process lives, and if it serves."""
    while True:
        try:
            parent.send(server.started)
        except OSError:  # the parent has ended
            return
        time.sleep(_EVERY)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
