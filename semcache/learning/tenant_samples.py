"""The recent samples of a category, by tenant: which tenants may teach what the others are served by.

A sample is a label that nobody chose: of a miss, or of an audited hit. Its surprise is the distance of its verdict from
the prediction, so that tenants that ask different things are alike as long as the predictions for each are right.
Knows tenants and labels, nothing of what is learned. Invariant: a tenant whose surprises differ from those of all
others beyond chance is set aside and teaches nobody else, and of three or more tenants none teaches more than all
others together. If a sample teaches is decided before its verdict: otherwise the errors of those that are left out
would be missing among those that count.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

from semcache.types import Label

_LATELY = 400  # samples of a category
_EACH = 8  # samples a tenant, where there are many
_MOST = 4_000  # samples of a category with very many tenants
_FEW = 40  # samples that every tenant may bring
_TELLING = 3  # likely samples from which on a tenant is compared with all others
_KNOWN = 10  # likely samples of all others from which on a tenant teaches after it has brought one itself
_APART = 0.2  # difference of mean surprises, beyond chance, by which tenants are unlike
_ERRORS = 2.0  # standard errors by which a tenant is set aside
_DOUBTFUL = 1.0  # standard errors from which on what it says next teaches nobody else
_LIKELY = 0.5  # P(correct) below which a verdict tells nothing of its tenant
_SURE = 0.98
_SEVERAL = 3  # tenants from which on shares are looked at


class _Sample(NamedTuple):
    """The evidence of a label about its tenant: `surprise`, and its `variance` by chance.

    Both are 0 unless the answer was `likely`. `taught_all` is True if all tenants learned from it.
    """

    tenant: str
    surprise: float
    variance: float
    likely: bool
    taught_all: bool = False

    @classmethod
    def of(cls, label: Label) -> _Sample:
        if label.p_correct < _LIKELY:
            return cls(label.tenant, 0.0, 0.0, likely=False)
        expected = min(_SURE, max(1.0 - _SURE, 1.0 - label.p_correct))
        return cls(label.tenant, float(not label.correct) - expected, expected * (1.0 - expected), likely=True)


class _Tally:
    """Sums over samples: how many, of likely answers, of these wrong, and taught all, and the surprises."""

    __slots__ = ("count", "likely", "surprise", "taught_all", "variance", "wrong")

    def __init__(self) -> None:
        self.count = self.likely = self.wrong = self.taught_all = 0
        self.surprise = self.variance = 0.0

    def add(self, sample: _Sample, sign: int = 1) -> None:
        self.count += sign
        self.likely += sign * sample.likely
        self.wrong += sign * (sample.surprise > 0.0)
        self.taught_all += sign * sample.taught_all
        self.surprise += sign * sample.surprise
        self.variance += sign * sample.variance

    def apart(self, others: _Tally) -> float:
        """The distance of the mean surprises; both have likely samples."""
        return abs(self.surprise / self.likely - others.surprise / others.likely)

    def error(self, others: _Tally) -> float:
        """The standard error of that distance, by chance."""
        return math.sqrt(self.variance / self.likely**2 + others.variance / others.likely**2)

    def with_all(self, other: _Tally, sign: int = 1) -> _Tally:
        """The sums over the samples of both."""
        both = _Tally()
        for name in self.__slots__:
            setattr(both, name, getattr(self, name) + sign * getattr(other, name))
        return both

    def without(self, other: _Tally) -> _Tally:
        """The sums without those of a part."""
        return self.with_all(other, sign=-1)


class TenantSamples:
    """The last samples of one category. A tenant that is set aside teaches no others until it is like them again."""

    def __init__(self) -> None:
        self._recent: deque[_Sample] = deque()
        self._tallies: dict[str, _Tally] = {}
        self._alike = _Tally()  # all that are not set aside
        self._taught_all = 0
        self._aside: set[str] = set()
        self._served: dict[str, deque[Label]] = {}  # of served answers, by tenant, those that taught all

    def teaches(self, tenant: str) -> bool:
        """Return True if the next sample of this tenant teaches all, whatever its verdict."""
        own = self._tallies.get(tenant, _Tally())
        return tenant not in self._aside and self._is_alike(own) and self._is_within_share(own)

    def take(self, label: Label) -> bool:
        """Take a sample in; return True if it teaches all."""
        teaches = self.teaches(label.tenant)
        while len(self._recent) >= min(_MOST, max(_LATELY, _EACH * len(self._tallies))):
            self._drop_oldest()
        self._count(_Sample.of(label)._replace(taught_all=teaches))
        if teaches and label.served:
            self._served.setdefault(label.tenant, deque(maxlen=_FEW)).append(label)
        self._compare(label.tenant)
        return teaches

    def disowned(self, tenant: str) -> list[Label]:
        """Return the labels of served answers by which a tenant that is set aside has taught all; each once."""
        return list(self._served.pop(tenant, ())) if tenant in self._aside else []

    def _count(self, sample: _Sample) -> None:
        self._recent.append(sample)
        self._tallies.setdefault(sample.tenant, _Tally()).add(sample)
        self._taught_all += sample.taught_all
        if sample.tenant not in self._aside:
            self._alike.add(sample)

    def _drop_oldest(self) -> None:
        oldest = self._recent.popleft()
        tally = self._tallies[oldest.tenant]
        tally.add(oldest, sign=-1)
        self._taught_all -= oldest.taught_all
        if oldest.tenant not in self._aside:
            self._alike.add(oldest, sign=-1)
        if not tally.count:
            del self._tallies[oldest.tenant]
            self._aside.discard(oldest.tenant)
            self._served.pop(oldest.tenant, None)

    def _is_alike(self, own: _Tally) -> bool:
        """Return True for a tenant that has shown that it is like the others, where they are known well enough to tell.

        Of one with too few samples to be compared, none may be wrong.
        """
        others = self._alike.without(own)
        if own.likely >= _TELLING:
            return others.likely < _TELLING or own.apart(others) <= _APART + _DOUBTFUL * own.error(others)
        return others.likely < _KNOWN or (own.likely > 0 and not own.wrong)

    def _is_within_share(self, own: _Tally) -> bool:
        """Return True if the tenant has taught all less often than all others together, or there are few tenants."""
        if len(self._tallies) + (not own.count) < _SEVERAL:
            return True
        return own.taught_all < max(_FEW, self._taught_all - own.taught_all)

    def _compare(self, tenant: str) -> None:
        """Compare a tenant with those that are not set aside, and set it aside or back."""
        own, is_aside = self._tallies[tenant], tenant in self._aside
        others = self._alike if is_aside else self._alike.without(own)
        if own.likely < _TELLING or others.likely < _TELLING:
            return
        apart = own.apart(others)
        if not is_aside and apart > _APART + _ERRORS * own.error(others):
            self._aside.add(tenant)
            self._alike = others
        elif is_aside and apart < _APART:
            self._aside.discard(tenant)
            self._alike = self._alike.with_all(own)
