"""Paths of requests: which may be passed on to an upstream.

Pure. Invariant: a path without a fault names the same resource to whoever decodes or resolves it.
"""

from __future__ import annotations

import re

LONGEST = 32 << 10  # characters of a path and its query; HTTP clients take 64 KiB with scheme and host
# What a service, once it has decoded a path, may take for the end of a segment.
_SEPARATOR = re.compile(r"[/\\;]|%2f|%5c|%3b")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]|%[01][0-9a-f]|%7f")


def fault(path: str) -> str | None:
    """Return why a path, as it was sent, may not be passed on; None if it may."""
    if not path.startswith("/"):
        return "it must start with a slash"
    low = path.lower()
    segments = _SEPARATOR.split(low.replace("%2e", "."))
    # The service would resolve them, and a client reach what lies beside the API, with the operator's key.
    if "." in segments or ".." in segments:
        return "it must have no . or .. segments"
    if _CONTROL.search(low):
        return "it must have no control characters"
    return None
