"""Categories that share one capacity: each may use what the others leave, and gives it back when they need it.

Knows ids, weights and quotas, not entries. Invariant: after `admit`, all categories together hold at most the capacity,
and what a category held within its share was not taken from it by another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from semcache.config.packs import Pack
from semcache.retention.eviction.quota import Quota
from semcache.retention.eviction.worth import PLAIN, Policy, Worth


class SharedCapacity:
    """Weighted max-min sharing: the category that exceeds its quota the most, in proportion to it, evicts first.

    A category's share is the part of the capacity that its quota is of the quotas of all categories seen. A category
    with a quota of 0 holds nothing, and one that `quotas` does not name has that of "default".
    """

    def __init__(self, capacity: float, quotas: Mapping[str, float], policy_of: Callable[[str], Policy]) -> None:
        self._capacity = capacity
        self._quotas = dict(quotas)
        self._policy_of = policy_of
        self._members: dict[str, CapacityShare] = {}

    def of(self, category: str) -> CapacityShare:
        """The part of a category, made when it is first asked for."""
        member = self._members.get(category)
        if member is None:
            quota = self._quotas.setdefault(category, self._quotas.get("default", 0.0))
            member = self._members[category] = CapacityShare(self, quota, self._policy_of(category))
        return member

    @property
    def held(self) -> float:
        """The weight of all categories together."""
        return sum(member.books.held for member in self._members.values())

    def admit(self, member: CapacityShare, id: int, weight: float, worth: Worth) -> list[int]:
        """Take an id into a category and return those of any category that had to go."""
        member.books.forget(id)
        if member.quota <= 0 or weight > self._capacity:
            return [id]
        gone: list[int] = []
        while self.held + weight > self._capacity:
            victim = self._debtor(member, weight).books.evict()
            if victim is None:
                return [*gone, id]
            gone.append(victim)
        member.books.take(id, weight, worth)
        return gone

    def _debtor(self, asking: CapacityShare, weight: float) -> CapacityShare:
        """The category that would exceed its share most if `asking` took this weight; `asking` among equals."""

        def excess(member: CapacityShare) -> tuple[float, bool]:
            held = member.books.held + (weight if member is asking else 0.0)
            return held / member.quota, member is asking

        return max([member for member in self._members.values() if member.quota > 0], key=excess)


class CapacityShare:
    """One category's part of a pool, which is used like a `Quota`."""

    __slots__ = ("_pool", "books", "quota")

    def __init__(self, pool: SharedCapacity, quota: float, policy: Policy) -> None:
        self._pool = pool
        self.quota = quota
        self.books = Quota(float("inf"), policy)

    def admit(self, id: int, weight: float = 1.0, worth: Worth = PLAIN) -> list[int]:
        """Take an id in and return those that had to go, of this category or of others."""
        return self._pool.admit(self, id, weight, worth)

    @property
    def fill(self) -> float:
        """The share of the quota that is held; more than 1 where others leave room."""
        return self.books.held / self.quota if self.quota > 0 else float(self.books.held > 0)

    def evict(self) -> int | None:
        """Evict the policy's victim of this category and return it; None when nothing is held."""
        return self.books.evict()

    def touch(self, id: int) -> None:
        """Note a hit; unknown ids are ignored."""
        self.books.touch(id)

    def forget(self, id: int) -> None:
        """Drop an id that is gone; unknown ids are ignored."""
        self.books.forget(id)

    def __len__(self) -> int:
        return len(self.books)


def quotas(pack: Pack, policy_of: Callable[[str], Policy]) -> Callable[[str], Quota | CapacityShare]:
    """The maker of a category's quota: strict, or a share of one capacity where the pack states one."""
    if pack.capacity is None:
        return lambda category: Quota(pack.of(category).quota, policy_of(category))
    shares = {name: float(category.quota) for name, category in pack.categories.items()}
    return SharedCapacity(pack.capacity, shares, policy_of).of
