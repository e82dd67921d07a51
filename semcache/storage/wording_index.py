"""The wording index: the entries of each canonical wording, found by a digest before anything is embedded.

Knows cards and wordings; decides nothing. Invariant: an entry is found under the partition that it is kept in and its
own canonical wording alone; entries without a partition are not found.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from hashlib import blake2b

from semcache.request.wording import canonical
from semcache.types import Card

_OVERHEAD = 20  # characters whose reading takes as long as anything of an entry that does not grow with its text


class WordingIndex:
    """Ids by partition and canonical wording. Wordings take a tenth of a millisecond, so many of them can wait."""

    def __init__(self) -> None:
        self._ids: dict[bytes, tuple[int, ...]] = {}
        self._waiting: deque[Card] = deque()

    def add(self, card: Card) -> None:
        """Make an entry findable at once."""
        if card.shelf:
            place = _place(card.shelf, canonical(card.text).text)
            known = self._ids.get(place, ())
            if card.id not in known:
                self._ids[place] = (card.id, *known)

    def remove(self, card: Card) -> None:
        """Forget an entry; unknown ones are ignored."""
        if card.shelf:
            place = _place(card.shelf, canonical(card.text).text)
            left = tuple([one for one in self._ids.get(place, ()) if one != card.id])
            if left:
                self._ids[place] = left
            else:
                self._ids.pop(place, None)

    def add_later(self, card: Card) -> None:
        """Make an entry findable when `work` comes to it."""
        self._waiting.append(card)

    def work(self, characters: int, alive: Callable[[Card], bool]) -> int:
        """Make waiting entries findable, as far as they are alive, until so many characters are read.

        At least one entry is read; return how many still wait.
        """
        while self._waiting and characters > 0:
            card = self._waiting.popleft()
            if alive(card):
                self.add(card)
                characters -= len(card.text) + _OVERHEAD
        return len(self._waiting)

    def find(self, partitions: Iterable[bytes], wording: str) -> list[int]:
        """Return the entries of this canonical wording in these partitions, the newest of each first."""
        return [found for partition in partitions for found in self._ids.get(_place(partition, wording), ())]


def _place(partition: bytes, wording: str) -> bytes:
    return blake2b(wording.encode("utf-8", "surrogatepass"), digest_size=16, key=partition).digest()
