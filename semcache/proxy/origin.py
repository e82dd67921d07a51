"""The Host and Origin of a request: whether it may have been sent by a web page of elsewhere.

A browser on the operator's machine reaches a proxy on loopback, and a page may give a name of its own the address
127.0.0.1 (DNS rebinding). Knows headers alone. Invariant: where a request needs no key because only this machine
can send one, it names this machine, and so does the page that it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from semcache.config.settings import is_loopback
from semcache.errors import RequestRejected

_REMEMBERED = 64
_PORT = re.compile(r":\d{1,5}\Z")
_USUAL = [b"application/json"]
_JSON = re.compile(rb"\s*application/(?:[\w.-]+\+)?json\s*(?:;.*)?\Z", re.IGNORECASE)
# JSON is UTF-8 (RFC 8259, section 8.1). An upstream that honours another charset would read another body than we do.
_CHARSET = re.compile(rb";\s*charset[^;=]*=\s*(?!\"?utf-?8\"?\s*(?:;|\Z))", re.IGNORECASE)


class TrustedHosts:
    """The names by which this proxy may be called; `allowed` are those of the settings, `*` for any."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = frozenset(name.lower().rstrip(".") for name in allowed)
        self._known_hosts: set[bytes] = set()  # values of Host that name this machine

    def check(self, headers: Sequence[tuple[bytes, bytes]], *, keyless: bool) -> None:
        """Raise RequestRejected(403) for a request by another name.

        `keyless`: the caller shows no key, and is answered because only this machine can connect.
        """
        if "*" in self._allowed or not (keyless or self._allowed):
            return
        hosts: list[bytes] = []
        origin = False
        for name, value in headers:
            if name == b"host":
                hosts.append(value)
            elif name == b"origin":
                origin = True
        if keyless and not origin and len(hosts) == 1 and hosts[0] in self._known_hosts:
            return
        host = _bare(hosts[0].decode("latin-1")) if len(hosts) == 1 else ""
        if not self._known(host, keyless=keyless):
            remedy = "call it as localhost, make an API key, or name it in server.allowed_hosts"
            raise RequestRejected(403, f"this proxy is not called {host!r}: {remedy}", code="forbidden")
        if not keyless:
            return
        if len(self._known_hosts) < _REMEMBERED:
            self._known_hosts.add(hosts[0])
        for name, value in headers:
            if name == b"origin" and not self._known(_origin(value.decode("latin-1")), keyless=True):
                shown = value.decode("latin-1")
                remedy = "make an API key, or name its host in server.allowed_hosts"
                raise RequestRejected(403, f"a page of {shown!r} may not use this proxy: {remedy}", code="forbidden")

    def _known(self, host: str, *, keyless: bool) -> bool:
        return bool(host) and (host in self._allowed or (keyless and is_loopback(host)))


def check_json(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise RequestRejected(415) unless the body is said to be JSON: a form of a web page cannot say so."""
    kinds = [value for name, value in headers if name == b"content-type"]
    if kinds == _USUAL:
        return
    if len(kinds) != 1 or _JSON.match(kinds[0]) is None or _CHARSET.search(kinds[0]) is not None:
        shown = kinds[0].decode("latin-1") if kinds else "none"
        message = f"the content type must be application/json, in UTF-8, not {shown[:100]}"
        raise RequestRejected(415, message, code="unsupported_content_type")


def _bare(host: str) -> str:
    """Return a host without its port."""
    return _PORT.sub("", host.strip()).lower().rstrip(".")


def _origin(origin: str) -> str:
    try:
        return (urlsplit(origin).hostname or "").rstrip(".")
    except ValueError:
        return ""
