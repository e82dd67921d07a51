"""Requests of late of which a sample was taken: however often a hit or a miss is recorded, it is one sample.

Pure. Invariant: the oldest are forgotten, so that memory is bounded.
"""

from __future__ import annotations

from collections import OrderedDict

_REMEMBERED = 10_000


class RecentRequests:
    """The ids of requests, and if they were served."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bool], None] = OrderedDict()

    def is_repeated(self, request_id: str, *, served: bool) -> bool:
        """Return True if this request was asked about before; it is remembered. One without an id is always new."""
        place = request_id, served
        if request_id and place in self._known:
            return True
        self._known[place] = None
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return False
