"""The recent samples of a category, by tenant: which tenants may teach what the others are served by.

A sample is a label that nobody chose: of a miss, or of an audited hit. Its surprise is the distance of its verdict from
the prediction, so that tenants that ask different things are alike as long as the predictions for each are right.
Knows tenants and labels, nothing of what is learned. Invariant: a tenant whose surprises differ from those of all
others beyond chance is set aside and teaches nobody else, and of three or more tenants none teaches more than all
others together.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

from semcache.types import Label

_LATELY = 400  # samples of a category
_FEW = 40  # samples that every tenant may bring
_TELLING = 3  # likely samples from which on a tenant is compared with all others
_KNOWN = 10  # likely samples of all others by which a tenant that has none is compared before it teaches
_APART = 0.2  # difference of mean surprises, beyond chance, by which tenants are unlike
_ERRORS = 2.0  # standard errors
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
    """Sums over samples: how many, how many of likely answers, how many taught all, and the surprises."""

    __slots__ = ("count", "likely", "surprise", "taught_all", "variance")

    def __init__(self) -> None:
        self.count = self.likely = self.taught_all = 0
        self.surprise = self.variance = 0.0

    def add(self, sample: _Sample, sign: int = 1) -> None:
        self.count += sign
        self.likely += sign * sample.likely
        self.surprise += sign * sample.surprise
        self.variance += sign * sample.variance

    def include(self, other: _Tally) -> None:
        """Add what tells this tally's tenants from others: the likely samples."""
        self.likely += other.likely
        self.surprise += other.surprise
        self.variance += other.variance


class TenantSamples:
    """The last samples of one category. A tenant that is set aside teaches no others until it is like them again."""

    def __init__(self) -> None:
        self._recent: deque[_Sample] = deque()
        self._tallies: dict[str, _Tally] = {}
        self._aside: set[str] = set()
        self._served: dict[str, deque[Label]] = {}  # of served answers, by tenant, those that taught all

    def take(self, label: Label) -> bool:
        """Take a sample in; return True if it teaches all."""
        if len(self._recent) >= _LATELY:
            self._drop_oldest()
        sample = _Sample.of(label)
        own = self._tallies.setdefault(label.tenant, _Tally())
        own.add(sample)
        teaches = self._compare(label.tenant, own) and self._is_within_share(label.tenant, own)
        own.taught_all += teaches
        if teaches and label.served:
            self._served.setdefault(label.tenant, deque(maxlen=_FEW)).append(label)
        self._recent.append(sample._replace(taught_all=teaches))
        return teaches

    def teaches(self, tenant: str) -> bool:
        """Return True if a sample of this tenant would teach all, as far as is known before its verdict."""
        own = self._tallies.get(tenant, _Tally())
        unknown = own.likely < _TELLING and self._others(tenant).likely >= _KNOWN
        return tenant not in self._aside and not unknown and self._is_within_share(tenant, own)

    def disowned(self, tenant: str) -> list[Label]:
        """Return the labels of served answers by which a tenant that is set aside has taught all; each once."""
        return list(self._served.pop(tenant, ())) if tenant in self._aside else []

    def _drop_oldest(self) -> None:
        oldest = self._recent.popleft()
        tally = self._tallies[oldest.tenant]
        tally.add(oldest, sign=-1)
        tally.taught_all -= oldest.taught_all
        if not tally.count:
            del self._tallies[oldest.tenant]
            self._aside.discard(oldest.tenant)
            self._served.pop(oldest.tenant, None)

    def _is_within_share(self, tenant: str, own: _Tally) -> bool:
        """Return True if the tenant has taught all less often than all others together, or there are few tenants."""
        others = [one for name, one in self._tallies.items() if name != tenant]
        if len(others) + 1 < _SEVERAL:
            return True
        return own.taught_all < max(_FEW, sum(one.taught_all for one in others))

    def _others(self, tenant: str) -> _Tally:
        """The sums of all others that are not set aside."""
        others = _Tally()
        for name, one in self._tallies.items():
            if name != tenant and name not in self._aside:
                others.include(one)
        return others

    def _compare(self, tenant: str, own: _Tally) -> bool:
        """Compare a tenant with those that are not set aside, and set it aside or back; return True if it is alike."""
        others = self._others(tenant)
        if own.likely < _TELLING:
            # Until it has shown that it is like the others, where they are known well enough to tell.
            return others.likely < _KNOWN
        if others.likely >= _TELLING:
            apart = abs(own.surprise / own.likely - others.surprise / others.likely)
            error = math.sqrt(own.variance / own.likely**2 + others.variance / others.likely**2)
            if apart > _APART + _ERRORS * error:
                self._aside.add(tenant)
            elif apart < _APART:
                self._aside.discard(tenant)
        return tenant not in self._aside
