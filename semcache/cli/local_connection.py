"""An HTTP connection to a server of this machine, at an address or at a Unix socket; of the standard library, so quick.

Invariant: no proxy of the environment stands between.
"""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection, HTTPException
from typing import Any

from semcache.runtime.unix_address import http_root


class LocalConnection(HTTPConnection):
    """A connection to a server of this machine, at a Unix socket or an http:// URL without a path."""

    def __init__(self, address: str, *, timeout: float) -> None:
        root, self._path = http_root(address)
        super().__init__(root.removeprefix("http://"), timeout=timeout)

    def connect(self) -> None:
        """Connect."""
        if self._path is None:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def readiness(address: str, *, timeout: float) -> dict[str, Any] | None:
    """Return what /readyz of the proxy at `address` says, None if none is ready there; `timeout` is seconds."""
    connection = LocalConnection(address, timeout=timeout)
    try:
        connection.request("GET", "/readyz")
        reply = connection.getresponse()
        found = json.load(reply)
    except (OSError, ValueError, HTTPException):
        return None
    finally:
        connection.close()
    return found if reply.status == 200 and isinstance(found, dict) else None
