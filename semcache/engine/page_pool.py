"""Allocation of a fixed number of pages: free ones, and the number of holders of each of the others.

Knows page numbers only, not their content (PagedAttention's block manager: Kwon et al. 2023, section 4.3). Invariant: a
page is free exactly when it has no holder; a page that has several is never written.
"""

from __future__ import annotations

import heapq


class PagePool:
    """Pages 0 to size - 1, all free at first. Neighbouring pages are handed out where that is possible."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._holders = [0] * size
        self._free = set(range(size))
        self._queue = list(range(size))  # a heap that may name pages taken meanwhile
        self._queued = set(range(size))

    @property
    def free(self) -> int:
        """How many pages are free."""
        return len(self._free)

    def holders(self, page: int) -> int:
        """The number of holders of a page."""
        return self._holders[page]

    def take(self, after: int | None = None) -> int | None:
        """Hold a free page, the one behind `after` if it is free; None when there is none."""
        if not self._free:
            return None
        page = -1 if after is None else after + 1
        while page not in self._free:
            page = heapq.heappop(self._queue)
            self._queued.discard(page)
        self._free.remove(page)
        self._holders[page] = 1
        return page

    def share(self, page: int) -> None:
        """Hold a page that has a holder already."""
        assert self._holders[page], f"page {page} is free"
        self._holders[page] += 1

    def drop(self, page: int) -> None:
        """Let go of a page; the last holder frees it."""
        assert self._holders[page], f"page {page} is free"
        self._holders[page] -= 1
        if self._holders[page]:
            return
        self._free.add(page)
        if page not in self._queued:
            heapq.heappush(self._queue, page)
            self._queued.add(page)
