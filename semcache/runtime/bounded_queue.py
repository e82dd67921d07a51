"""A first-in, first-out queue, bounded by number and by bytes.

Knows nothing of what waits or of why. Invariant: `offer` never waits: a piece without room is refused, and one that was
taken stays until it is fetched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedQueue(Generic[T]):
    """Holds at most `number` pieces, and of them at most `size` bytes."""

    def __init__(self, *, number: int = 5_000, size: int = 32 << 20) -> None:
        self._number, self._size = number, size
        self._pieces: deque[tuple[T, int]] = deque()
        self.bytes_held = 0

    def offer(self, piece: T, size: int) -> bool:
        """Queue a piece of `size` bytes; False when there is no room for it."""
        if len(self._pieces) >= self._number or self.bytes_held + size > self._size:
            return False
        self._pieces.append((piece, size))
        self.bytes_held += size
        return True

    def take(self) -> T:
        """Fetch the piece that has waited longest. Raises IndexError when none waits."""
        piece, size = self._pieces.popleft()
        self.bytes_held -= size
        return piece

    def give_back(self, piece: T, size: int) -> None:
        """Queue a piece that was taken in the first place again, whether there is room for it or not."""
        self._pieces.appendleft((piece, size))
        self.bytes_held += size

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[T]:
        return (piece for piece, _ in self._pieces)
