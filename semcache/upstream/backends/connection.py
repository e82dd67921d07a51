"""The terms of a connection to a service behind HTTP: credentials, time limits, headers and a proxy.

Invariant: no credential stands in the `repr`, which ends up in logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Connection:
    """The terms of a connection; times are in seconds.

    `api_key` replaces the client's credentials; without it they are passed on, and `fallback_key` fills in for a client
    that sends none. `headers` are set on every request, `proxy` is the URL of one. `watched`: the log says when the
    server stops answering, and when it answers again. `stream_timeout` bounds the silence within a stream once
    its first byte has come; None: `timeout` does.
    """

    api_key: str | None = field(default=None, repr=False)
    fallback_key: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    connect_timeout: float = 10.0
    stream_timeout: float | None = None
    max_connections: int = 1000
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    watched: bool = False


DEFAULTS = Connection()
