"""Token counts of a reply, read while it passes: prompt, completion, and how many came from the server's cache.

Knows the names that servers use (OpenAI's and vLLM's `cached_tokens`, llama.cpp's `cache_n`, Anthropic's
`cache_read_input_tokens`), nothing of events or shapes. A name inside a text of the answer has its quotes escaped and
is not taken. Invariant: pieces may be cut anywhere; what cannot be read is None, never an error.
"""

from __future__ import annotations

import re

_NUMBER = rb'(?<!\\)"(?:%s)"\s*:\s*(\d{1,12})(?=\s*[,}\]])'
_CACHED = re.compile(_NUMBER % b"cached_tokens|cache_read_input_tokens|cache_n")
_PROMPT = re.compile(_NUMBER % b"prompt_tokens|input_tokens")
_COMPLETION = re.compile(_NUMBER % b"completion_tokens|output_tokens")
_RESPONSE = re.compile(rb'(?<!\\)"id"\s*:\s*"(resp_[\w-]{1,200})"')
_OVERLAP = 256


class UsageReader:
    """Feed it a body; the last number of each name stands."""

    def __init__(self) -> None:
        self._tail = b""
        self.prompt: int | None = None
        self.completion: int | None = None
        self.cached: int | None = None
        self.response_id: str | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the body."""
        seen = self._tail + chunk
        self._tail = seen[-_OVERLAP:]
        if b"_tokens" in seen or b"cache_n" in seen:
            self.prompt = _last(_PROMPT, seen, self.prompt)
            self.completion = _last(_COMPLETION, seen, self.completion)
            self.cached = _last(_CACHED, seen, self.cached)
        if self.response_id is None and (found := _RESPONSE.search(seen)):
            self.response_id = found[1].decode()


def _last(name: re.Pattern[bytes], seen: bytes, before: int | None) -> int | None:
    numbers = name.findall(seen)
    return int(numbers[-1]) if numbers else before
