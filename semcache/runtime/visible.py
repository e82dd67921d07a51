"""Text of clients as an operator is shown it: characters that steer a terminal or turn text around are spelled out.

Pure. Invariant: what comes out holds no control character but line ends and tabs, and none that changes the direction
of what stands beside it; any other character stays.
"""

from __future__ import annotations

import re

# Controls of ASCII and Latin-1, and the embeddings, overrides and isolates of the bidirectional algorithm (UAX 9).
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return a text with steering characters spelled as JSON does: U+001B as a backslash and u001b."""
    return _STEERING.sub(_spelled, text.replace("\r\n", "\n"))


def _spelled(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
