"""An entry that keeps an answer to a chat request, as a verifier is shown it."""

from __future__ import annotations

import msgspec

from semcache.types import CacheKey, Endpoint, Entry


def entry(entry_id: int, key: CacheKey, answer: str) -> Entry:
    """The entry of this number, which keeps `answer` for `key`."""
    message = {"role": "assistant", "content": answer}
    body = msgspec.json.encode({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    return Entry(entry_id, key, Endpoint.CHAT, "m", "default", b"s", "e", body, 0.0, 9e9)
