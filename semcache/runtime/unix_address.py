"""Addresses of servers on this machine that are named by the path of a Unix socket, such as `unix:/run/semcache.sock`.

Pure. Invariant: every other address is returned as it is.
"""

from __future__ import annotations

UNIX = "unix:"


def unix_path(address: str) -> str | None:
    """Return the path of an address that is a Unix socket, None for any other."""
    return address.removeprefix(UNIX) if address.startswith(UNIX) else None


def http_root(address: str) -> tuple[str, str | None]:
    """Return the URL for requests to the server at `address`, without "/v1", and the path of the socket or None."""
    root = address.rstrip("/").removesuffix("/v1")
    path = unix_path(root)
    return (root, None) if path is None else ("http://localhost", path)
