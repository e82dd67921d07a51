"""The socket on which a command listens, bound before anything is loaded, and its address.

Invariant: a host or port that cannot be had is an error that names the option to change.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from semcache.errors import ConfigError, StoreError
from semcache.runtime.unix_address import unix_path


@contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Have a socket for a proxy, and the address under which this machine reaches it, until the end.

    Raises ConfigError for a host, port or path that does not exist, StoreError for one that cannot be had now.
    """
    path = unix_path(host)
    if path is None:
        with listen(host, port) as listener:
            yield listener, address(host, listener.getsockname()[1])
        return
    check_unix(path)
    from semcache.cli.unix_socket import listening_at

    with listening_at(path) as listener:
        yield listener, host


def check_unix(path: str) -> bool:
    """Return True if a Unix socket lies at `path` that nobody listens on, False if nothing does. Changes nothing.

    Raises ConfigError for a path at which no socket can be, StoreError for one that is in use.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise ConfigError(f"unix:{path}: this system has no Unix sockets: name an address with --host")
    from semcache.cli.unix_socket import check

    return check(path)


def refuse_port(host: str, port: int | None) -> None:
    """Raise ConfigError for a --port that was given although `host` is a Unix socket, which has none."""
    if port is not None and unix_path(host) is not None:
        raise ConfigError(f"--port {port}: the host is {host!r}, which has no port: leave one of them out")


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket that does not listen yet, so that no client waits for a proxy that is not ready.

    Raises ConfigError for a host or port that does not exist, StoreError for one that cannot be had now.
    """
    bare = host.strip("[]")
    listener = socket.socket(socket.AF_INET6 if ":" in bare else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((bare, port))
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        if isinstance(error, OverflowError):
            raise ConfigError(f"port {port} is none: choose one from 0 to 65535 with --port") from error
        if isinstance(error, socket.gaierror | UnicodeError) or error.errno == errno.EADDRNOTAVAIL:
            raise ConfigError(f"{host!r} is no address of this machine: name one with --host") from error
        raise StoreError(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port") from error
    listener.set_inheritable(True)
    return listener


def address(host: str, port: int) -> str:
    """Return the URL under which this machine reaches a server that listens there."""
    bare = host.strip("[]")
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bare, bare)  # noqa: S104 - not bound to, replaced
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"
