"""An HTTP client that times its replies: one connection that stays open, and nothing of its own in the time.

Knows a URL and a key. Invariant: the time is that from before the first byte is sent until the last one has come.
"""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

from semcache.cli.local_connection import LocalConnection
from semcache.errors import UpstreamError
from semcache.runtime.unix_address import http_root

_PATIENCE = 60.0  # seconds


class TimedClient:
    """A tenant's connection to a proxy."""

    def __init__(self, url: str, key: str) -> None:
        root, uds = http_root(url)
        parts = urlsplit(root)
        opened = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection: http.client.HTTPConnection = (
            opened(parts.hostname or "", parts.port, timeout=_PATIENCE)
            if uds is None
            else LocalConnection(url, timeout=_PATIENCE)
        )
        self._prefix = parts.path
        self._key = key
        self._begun = 0.0

    def ask(self, path: str, body: dict[str, Any], **headers: str) -> float:
        """Return the seconds of one request. Raises UpstreamError for a status of an error."""
        self.send(path, body, **headers)
        return self.receive()[0]

    def send(self, path: str, body: dict[str, Any], **headers: str) -> None:
        """Send a request; `receive` must be next. Names of headers have underscores for hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"authorization": f"Bearer {self._key}", "content-type": "application/json"}
        raw = json.dumps(body).encode()
        self._begun = time.perf_counter()
        try:
            self._connection.request("POST", self._prefix + path, raw, sent)
        except (OSError, http.client.HTTPException) as error:
            raise UpstreamError(f"{path} of the audited proxy broke off: {error}; see its log") from error

    def receive(self) -> tuple[float, dict[str, Any]]:
        """Return the seconds since `send`, and the body. Raises UpstreamError for a status of an error."""
        try:
            reply = self._connection.getresponse()
            raw = reply.read()
        except (OSError, http.client.HTTPException) as error:
            raise UpstreamError(f"the audited proxy broke off: {error}; see its log") from error
        seconds = time.perf_counter() - self._begun
        if reply.status != http.client.OK:
            said = raw[:300].decode(errors="replace")
            raise UpstreamError(f"the audited proxy replied {reply.status}: {said}; an audit needs working requests")
        return seconds, json.loads(raw)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
