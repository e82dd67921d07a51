"""Answer bodies: decoding what a backend or the store holds, and cutting texts into the pieces of a stream.

Knows JSON, no dialect.
Invariant: reading an answer never raises; a stored answer that cannot be read is an IntegrityError, and the request is
forwarded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from semcache.dialects.body import UNREADABLE, encode
from semcache.errors import IntegrityError
from semcache.types import Assembled

__all__ = ["encode", "integer", "load", "openai_error", "parsed", "pieces", "stored", "tokens"]

_decode = msgspec.json.Decoder().decode
_MOST_TOKENS = 1_000_000_000  # of one request: a number beyond is a mistake, and would be no number of 64 bits in a sum
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def load(data: bytes) -> dict[str, Any] | None:
    """The JSON object in `data`, None when there is none."""
    try:
        value = _decode(data)
    except UNREADABLE:
        return None
    return value if isinstance(value, dict) else None


def parsed(body: bytes, assemble: Callable[[dict[str, Any], bytes], Assembled]) -> Assembled:
    """A whole answer as `assemble` reads it; incomplete where the body is no JSON object."""
    answer = load(body)
    return Assembled(body, "", complete=False) if answer is None else assemble(answer, body)


def stored(body: bytes) -> dict[str, Any]:
    """The JSON object of a stored body. Raises IntegrityError."""
    answer = load(body)
    if answer is None:
        raise IntegrityError("the stored answer is not a JSON object; purge the entry")
    return answer


def integer(value: object) -> int:
    """A token count, 0 when it is none: no integer, less than zero, or more than any request can have."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def tokens(usage: object, kind: str, detail: str) -> int:
    """A count among the details that OpenAI's usage has of a kind of tokens, 0 where it has none."""
    details = usage.get(f"{kind}_tokens_details") if isinstance(usage, dict) else None
    return integer(details.get(detail)) if isinstance(details, dict) else 0


def pieces(text: str, *, size: int = 40, most: int = 16) -> list[str]:
    """Cut a text before spaces into at most about `most` pieces of at least `size` characters."""
    size = max(size, -(-len(text) // most))
    cut: list[str] = []
    start = 0
    while start < len(text):
        end = start + size
        space = text.find(" ", end, end + size)
        if space >= 0:
            end = space
        cut.append(text[start:end])
        start = end
    return cut


def openai_error(status: int, message: str, *, code: str, param: str | None = None) -> bytes:
    """An error body as every OpenAI endpoint writes it."""
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    return encode({"error": {"message": message, "type": kind, "param": param, "code": code}})
