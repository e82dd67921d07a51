"""The wording index: the entries of each canonical wording, found by a digest before anything is embedded.

Knows cards and wordings; decides nothing. Invariant: an entry is found under the partition that it is kept in and its
own canonical wording alone; entries without a partition are not found, nor is a text whose wording fails by a defect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from semcache.request.wording import digest_of, is_current
from semcache.runtime.guarded_calls import surviving
from semcache.types import Card

_OVERHEAD = 20  # characters whose reading takes as long as anything of an entry that does not grow with its text


class WordingIndex:
    """Ids by partition and digest of the canonical wording, which `salt` keys.

    To read a wording takes some tenths of a millisecond, so many cards that come without its digest can wait.
    """

    def __init__(self, salt: bytes = b"") -> None:
        self._salt = salt
        self._ids: dict[bytes, tuple[int, ...]] = {}
        self._places: dict[int, bytes] = {}
        self._waiting: deque[Card] = deque()
        self._read: dict[int, bytes] = {}

    def add(self, card: Card) -> None:
        """Make an entry findable at once."""
        if not card.partition:
            return
        digest = card.wording if is_current(card.wording) else self._digest(card.text)
        if digest is not None:
            self._place(card, digest)

    def add_stored(self, card: Card) -> None:
        """Make an entry findable: at once if its digest is known, else when `work` comes to it."""
        if is_current(card.wording):
            self.add(card)
        elif card.partition:
            self._waiting.append(card)

    def remove(self, card: Card) -> None:
        """Forget an entry; unknown ones are ignored."""
        self._leave(card.id)
        self._read.pop(card.id, None)

    def work(self, characters: int, alive: Callable[[Card], bool]) -> int:
        """Make waiting entries findable, as far as they are alive, until so many characters are read.

        At least one entry is read; return how many still wait.
        """
        while self._waiting and characters > 0:
            card = self._waiting.popleft()
            if alive(card):
                if (digest := self._digest(card.text)) is not None:
                    self._read[card.id] = digest
                    self._place(card, digest)
                characters -= len(card.text) + _OVERHEAD
        return len(self._waiting)

    def take_read(self, least: int = 1) -> dict[int, bytes]:
        """Hand out the digests that `work` has read since the last call, by entry, if there are so many."""
        if len(self._read) < least:
            return {}
        read, self._read = self._read, {}
        return read

    def find(self, partitions: Iterable[bytes], text: str) -> list[int]:
        """Return the entries whose wording is that of a text in these partitions, the newest of each first."""
        digest = self._digest(text)
        if digest is None:
            return []
        return [found for partition in partitions for found in self._ids.get(partition + digest, ())]

    def _digest(self, text: str) -> bytes | None:
        """The digest of a text, None where the rules fail on it by a defect, which is logged."""
        with surviving("reading a wording"):
            return digest_of(text, self._salt)
        return None

    def _place(self, card: Card, digest: bytes) -> None:
        self._leave(card.id)
        place = self._places[card.id] = card.partition + digest
        self._ids[place] = (card.id, *self._ids.get(place, ()))

    def _leave(self, entry_id: int) -> None:
        place = self._places.pop(entry_id, None)
        if place is None:
            return
        left = tuple([one for one in self._ids[place] if one != entry_id])
        if left:
            self._ids[place] = left
        else:
            del self._ids[place]
