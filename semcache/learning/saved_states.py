"""The encoding of learned states, a category at a time, so that requests get the event loop in between.

Knows learners, nothing of stores. Invariant: the parts make the same JSON as the whole.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import msgspec

from semcache.matching.strategies import ByCategory

_PLAIN = 256 << 10  # bytes of all states up to which they are saved as often
_RARELY = 10  # times as many labels, at most: they are read again at a start


class Learning(Protocol):
    """A learner, which has a state to be saved."""

    def state(self) -> dict[str, Any]:
        """The learned state, as JSON has it."""


async def encoded(learner: Learning, *, promises: dict[str, Any], **more: object) -> bytes:
    """Return the saved state of a learner, which learns nothing meanwhile."""
    state: object
    if isinstance(learner, ByCategory):
        made: dict[str, dict[str, msgspec.Raw]] = {}
        for name, part in learner.states():
            made.setdefault(name, {}).update((key, msgspec.Raw(msgspec.json.encode(one))) for key, one in part.items())
            await asyncio.sleep(0)
        state = made
    else:
        state = msgspec.Raw(msgspec.json.encode(learner.state()))
        await asyncio.sleep(0)
    return msgspec.json.encode({"promises": promises, "state": state, **more})


def labels_between(size: int, every: int) -> int:
    """Return after how many labels states of so many bytes are saved again: small ones after `every` labels."""
    return min(_RARELY * every, max(every, every * size // _PLAIN))
