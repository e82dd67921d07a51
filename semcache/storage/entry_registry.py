"""The registry of live entries: cards, their places in the quotas of categories, and the requests they are wrong for.

No I/O and no clock. Invariant: at most one card per exact digest, the quotas hold exactly the cards that are live, and
what a card was wrong for is forgotten with it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from semcache.retention.eviction import CapacityShare, Quota, Worth
from semcache.types import Card, Rejection

_NOTHING: frozenset[int] = frozenset()


class EntryRegistry:
    """Cards by id and by exact digest. `quota_of` makes the empty quota of a category, alone or as part of a pool."""

    def __init__(self, quota_of: Callable[[str], Quota | CapacityShare]) -> None:
        self._quota_of = quota_of
        self._by_id: dict[int, Card] = {}
        self._by_exact: dict[bytes, Card] = {}
        self._quotas: dict[str, Quota | CapacityShare] = {}
        self._rejected: dict[bytes, set[int]] = {}
        self._wrong: dict[int, dict[bytes, None]] = {}  # the same, by entry
        self._classes: dict[int, set[int]] = {}  # entries that share another one's answer, by that one

    def get(self, entry_id: int) -> Card | None:
        """The card of a live entry."""
        return self._by_id.get(entry_id)

    def exact(self, digest: bytes) -> Card | None:
        """The entry of the request with this exact digest."""
        return self._by_exact.get(digest)

    def add(self, card: Card, *, cost: float = 1.0, p_serve: float = 1.0) -> list[Card]:
        """Take a card in; return the cards that it displaced (same digest) or that the quotas gave up.

        `cost` is what a hit saves: told of all cards of a category in one unit, or of none. `p_serve` is the
        probability that the next request like the one that brought the card in is served by it.
        """
        displaced = []
        old = self._by_exact.get(card.exact)
        if old is not None and old.id != card.id:
            self.remove(old.id)
            displaced.append(old)
        before = self._by_id.get(card.id)
        if before is not None:
            self._leave_class(before)
        self._by_id[card.id] = card
        self._by_exact[card.exact] = card
        if card.answer:
            self._classes.setdefault(card.answer, set()).add(card.id)
        quota = self._quotas.get(card.category)
        if quota is None:
            quota = self._quotas[card.category] = self._quota_of(card.category)
        for victim in quota.admit(card.id, 1.0, self._worth(card, cost, p_serve)):
            gone = self.remove(victim)
            if gone is not None:
                displaced.append(gone)
        return displaced

    def give_up(self, count: int) -> list[Card]:
        """Forget so many cards, each the next victim of the category that is fullest for its quota; return them."""
        gone: list[Card] = []
        while len(gone) < count:
            fullest = max(
                [quota for quota in self._quotas.values() if len(quota)], key=lambda one: one.fill, default=None
            )
            victim = None if fullest is None else fullest.evict()
            card = None if victim is None else self.remove(victim)
            if card is None:
                break
            gone.append(card)
        return gone

    def remove(self, entry_id: int) -> Card | None:
        """Forget an entry; None when it was not known."""
        card = self._by_id.pop(entry_id, None)
        if card is not None:
            if self._by_exact.get(card.exact) is card:
                del self._by_exact[card.exact]
            self._quotas[card.category].forget(entry_id)
            self._leave_class(card)
        for digest in self._wrong.pop(entry_id, ()):
            self._rejected[digest].discard(entry_id)
            if not self._rejected[digest]:
                del self._rejected[digest]
        return card

    def regroup(self, entry_id: int, answer: int) -> Card | None:
        """Put an entry into another answer class and return its new card; None when it was not known."""
        card = self._by_id.get(entry_id)
        if card is None:
            return None
        new = replace(card, answer=answer)
        self._leave_class(card)
        self._classes.setdefault(answer, set()).add(entry_id)
        self._by_id[entry_id] = new
        if self._by_exact.get(card.exact) is card:
            self._by_exact[card.exact] = new
        return new

    def askers(self, card: Card) -> set[int]:
        """The users who asked for an answer: those of every entry that has it."""
        found = set(card.askers)
        for entry_id in (card.answer_class, *self._classes.get(card.answer_class, ())):
            found.update(other.askers if (other := self._by_id.get(entry_id)) is not None else ())
        return found

    def touch(self, card: Card) -> None:
        """Note a hit."""
        quota = self._quotas.get(card.category)
        if quota is not None:
            quota.touch(card.id)

    def reject(self, rejections: Iterable[Rejection]) -> None:
        """Remember which entries are wrong for which requests."""
        for rejection in rejections:
            self._rejected.setdefault(rejection.exact, set()).add(rejection.entry_id)
            self._wrong.setdefault(rejection.entry_id, {})[rejection.exact] = None

    def allow(self, rejections: Iterable[Rejection]) -> None:
        """Forget that these entries are wrong for these requests."""
        for rejection in rejections:
            self._rejected.get(rejection.exact, set()).discard(rejection.entry_id)
            self._wrong.get(rejection.entry_id, {}).pop(rejection.exact, None)

    def rejected(self, digest: bytes) -> Container[int]:
        """The entries known to be wrong for the request with this exact digest, and others of the same answers.

        Not its own entry: the upstream has given it that answer, whoever else has the same.
        """
        wrong = self._rejected.get(digest)
        if not wrong:
            return _NOTHING
        alike = {card.id for entry_id in wrong for card in self.alike(entry_id) if card.exact != digest}
        return wrong | alike if alike else wrong

    def alike(self, entry_id: int) -> list[Card]:
        """The cards of the other live entries of an entry's answer class."""
        card = self._by_id.get(entry_id)
        if card is None:
            return []
        ids = {card.answer_class, *self._classes.get(card.answer_class, ())} - {entry_id}
        return [other for one in ids if (other := self._by_id.get(one)) is not None]

    def counts(self) -> dict[str, int]:
        """Live entries per category."""
        return {category: len(quota) for category, quota in self._quotas.items()}

    def expired(self, now: float) -> list[Card]:
        """Cards whose time is over."""
        return [card for card in self._by_id.values() if card.expires <= now]

    def cards(self) -> list[Card]:
        """The cards of all live entries, in no order."""
        return list(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def _leave_class(self, card: Card) -> None:
        others = self._classes.get(card.answer)
        if others is not None:
            others.discard(card.id)
            if not others:
                del self._classes[card.answer]

    def _worth(self, card: Card, cost: float, p_serve: float) -> Worth:
        first = self._by_id.get(card.answer_class, card)
        return Worth(cost, _name(card), _name(first), p_serve, card.created, card.expires)


def _name(card: Card) -> int:
    """A number for the requests that a card answers exactly, the same for every entry that ever does."""
    return int.from_bytes(card.exact[:8])
