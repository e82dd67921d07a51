"""Cost of a stream: what its backend told, and an estimate from its events where it told nothing.

Pure. Invariant: what was told at the end of a stream is never replaced by an estimate.
"""

from __future__ import annotations

import re
from dataclasses import replace

from semcache.types import Assembled, Request

_BYTES, _LETTERS = 4, 4  # of a token, roughly
_DATA = re.compile(rb"[\r\n]data:")
_OVERLAP = 5  # bytes of `\ndata:` that do not yet begin an event
_REFUSED = 2  # events: an error in the place of an answer, and the end


class EventCount:
    """Events of a stream that carry data, counted as its bytes come."""

    def __init__(self) -> None:
        self.events = 0
        self._end = b"\n"

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they came, cut anywhere."""
        seen = self._end + chunk
        self.events += len(_DATA.findall(seen))
        self._end = seen[-_OVERLAP:]


def with_cost(answer: Assembled, request: Request, events: int, *, ended: bool) -> Assembled:
    """Return what came of a streamed answer with the tokens it is charged with; `ended`: its terminal event came.

    Most backends tell them at the end, and some never. An event is a token, roughly, or more.
    """
    told = answer.usage
    if (ended or answer.complete) and (told.prompt_tokens or told.completion_tokens):
        return answer
    if not events or (events <= _REFUSED and not answer.text and not answer.tool_calls):
        return answer
    # Anthropic tells of the prompt at the beginning, together with the first token or two.
    prompt = told.prompt_tokens or len(request.raw) // _BYTES
    completion = max(told.completion_tokens, events, len(answer.text) // _LETTERS)
    return replace(answer, usage=replace(told, prompt_tokens=prompt, completion_tokens=completion))
