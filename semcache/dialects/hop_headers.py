"""End-to-end header fields: those that cross from one connection to the next (RFC 9110, section 7.6.1).

Knows nothing of connections. Invariant: what is returned says nothing of the hop it came from.
"""

from __future__ import annotations

from collections.abc import Iterable

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_FRAMING = HOP_BY_HOP | {"content-length", "content-encoding"}


def end_to_end(headers: Iterable[tuple[str, str]], *, drop: frozenset[str] = _FRAMING) -> list[tuple[str, str]]:
    """Keep the fields that describe the message itself; `drop` has names in lower case.

    Fields that `Connection` lists go too. By default so do length and encoding, which whoever sends the body sets.
    """
    pairs = list(headers)
    ending = drop | connection_own(pairs)
    return [(name, value) for name, value in pairs if name.lower() not in ending]


def connection_own(headers: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The names, in lower case, that `Connection` fields declare to be their connection's own."""
    values = [value for name, value in headers if name.lower() == "connection"]
    return frozenset(name.strip().lower() for value in values for name in value.split(","))
