"""Corroboration: how far the reports and labels of one tenant teach state that other tenants are served by.

A report is not a random sample: its author chose what to report. In a cache with one tenant every report counts. With
several tenants, a report teaches the shared beliefs only as far as more than a quarter of the tenants, and at least one
other, have reported as much in that category; the reported entry is refused to its requests in any case.

Audits and misses are samples and count, within two bounds; beyond these they teach only the class of their tenant.
First, a tenant whose samples contradict the predictions, while those of the others do not, teaches no others; the
errors that it has added before are taken out of the shared budgets. Second, if three or more tenants have lately
brought samples, none teaches more than all others together. Knows tenants and labels, nothing of what is learned.

Invariant: the reports of one tenant, or of a quarter of the tenants, however many their keys and reports, do not change
what others are served.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from enum import Enum

from semcache.types import Label, LabelSource

_MOST = 4096  # tenants that are known; of more, the one that was seen longest ago is forgotten
_LATELY = 400  # samples of a category
_FEW = 40  # samples that every tenant may bring
_TELLING = 3  # likely samples from which on a tenant is compared with all others
_KNOWN = 10  # likely samples of all others by which a tenant that has none is compared before it teaches
_APART = 0.2  # difference of mean surprises, beyond chance, by which tenants are unlike
_ERRORS = 2.0  # standard errors
_LIKELY = 0.5  # P(correct) below which a verdict tells nothing of its tenant
_SURE = 0.98
_SEVERAL = 3  # tenants from which on shares are looked at


class Reach(Enum):
    """Who learns from a label."""

    NOBODY = "nobody"
    OWN = "own"  # the class of its tenant
    ALL = "all"


class Corroboration:
    """The tenants that were seen, and their reports and samples by category."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._reports: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
        # What says how answers age is no sample of likeness: each kind is compared with its own.
        self._samples: dict[tuple[str, bool], RecentSamples] = {}
        self._disowned: list[Label] = []

    def saw(self, tenant: str) -> None:
        """Take notice of a tenant's traffic."""
        self._seen[tenant] = None
        self._seen.move_to_end(tenant)
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)

    def counts(self, label: Label) -> bool:
        """Return True if a label teaches shared state; the label is also remembered."""
        return self.reach(label) is Reach.ALL

    def reach(self, label: Label) -> Reach:
        """Return who learns from a label; it is taken notice of."""
        tenant = label.tenant
        self.saw(tenant)
        counted = self._counted[label.category]
        if label.source is LabelSource.WITHDRAWN:
            reports = self._reports[label.category]
            # It vouches for nobody else's any more.
            reports[tenant] = max(0, reports[tenant] - 1)
            # What taught nothing has nothing to take back.
            if counted[tenant] <= 0:
                return Reach.NOBODY
            counted[tenant] -= 1
            return Reach.ALL
        if label.source is LabelSource.VERDICT:
            # What a model said is no sample of what is right: it takes no share, and sets nobody aside.
            return Reach.ALL
        if label.source is not LabelSource.FEEDBACK:
            return Reach.ALL if self._sampled(label) else Reach.OWN
        return Reach.ALL if self.hears(tenant, label.category) else Reach.NOBODY

    def disowned(self) -> list[Label]:
        """Return the samples of served answers that have taught all, and whose tenants were set aside since; once."""
        found, self._disowned = self._disowned, []
        return found

    def hears(self, tenant: str, category: str) -> bool:
        """Take a report in; return True if others have reported as much, so that it teaches."""
        reports, counted = self._reports[category], self._counted[category]
        reports[tenant] += 1
        if len(self._seen) > 1 and counted[tenant] >= self._said_by_others(reports, tenant):
            return False
        counted[tenant] += 1
        return True

    def _said_by_others(self, reports: Counter[str], tenant: str) -> int:
        """The reports that enough other tenants have made each."""
        enough = 1 + len(self._seen) // 4 if len(self._seen) >= 4 else 1
        others = sorted([count for name, count in reports.items() if name != tenant], reverse=True)
        return others[enough - 1] if len(others) >= enough else 0

    def _sampled(self, label: Label) -> bool:
        """Take a sample; return False if it teaches only the class of its tenant."""
        kind = label.category, label.source is LabelSource.REASKED
        samples = self._samples.setdefault(kind, RecentSamples())
        teaches = samples.take(label)
        if not teaches:
            self._disowned += samples.disowned(label.tenant)
        return teaches


class _Tally:
    """The samples of one tenant among the recent ones: how many, how many taught all, and how likely ones surprised."""

    __slots__ = ("count", "surprise", "taught", "told", "variance")

    def __init__(self) -> None:
        self.count = self.taught = self.told = 0
        self.surprise = self.variance = 0.0

    def add(self, surprise: float, variance: float, *, told: int, sign: int = 1) -> None:
        self.count += sign
        self.told += sign * told
        self.surprise += sign * surprise
        self.variance += sign * variance


class RecentSamples:
    """The last samples of a category, by tenant.

    The surprise of a sample is the distance of its verdict from the prediction. So tenants that ask different things
    are alike as long as the predictions for each are right. A tenant whose samples surprise more or less than those of
    all others is set aside.
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[str, float, float, bool, bool]] = deque()
        self._tallies: dict[str, _Tally] = {}
        self._aside: set[str] = set()
        self._served: dict[str, deque[Label]] = {}  # of served answers, by tenant, those that taught all

    def disowned(self, tenant: str) -> list[Label]:
        """Return what a tenant that is set aside has taught all of served answers; once."""
        return list(self._served.pop(tenant, ())) if tenant in self._aside else []

    def take(self, label: Label) -> bool:
        """Take a sample in; return True if it teaches all."""
        if len(self._recent) >= _LATELY:
            gone, surprise, variance, told, taught = self._recent.popleft()
            tally = self._tallies[gone]
            tally.add(surprise, variance, told=told, sign=-1)
            tally.taught -= taught
            if not tally.count:
                del self._tallies[gone]
                self._aside.discard(gone)
                self._served.pop(gone, None)
        own = self._tallies.setdefault(label.tenant, _Tally())
        told = label.p_correct >= _LIKELY
        expected = min(_SURE, max(1.0 - _SURE, 1.0 - label.p_correct))
        surprise, variance = told * (float(not label.correct) - expected), told * expected * (1.0 - expected)
        own.add(surprise, variance, told=told)
        others = [one for name, one in self._tallies.items() if name != label.tenant]
        teaches = not self._unlike(label.tenant, own)
        if len(others) + 1 >= _SEVERAL:
            teaches = teaches and own.taught < max(_FEW, sum(one.taught for one in others))
        own.taught += teaches
        if teaches and label.served:
            self._served.setdefault(label.tenant, deque(maxlen=_FEW)).append(label)
        self._recent.append((label.tenant, surprise, variance, told, teaches))
        return teaches

    def _unlike(self, tenant: str, own: _Tally) -> bool:
        others = _Tally()
        for name, one in self._tallies.items():
            if name != tenant and name not in self._aside:
                others.add(one.surprise, one.variance, told=one.told)
        if own.told < _TELLING:
            # Until it has shown that it is like the others, where they are known well enough to tell.
            return others.told >= _KNOWN
        if others.told < _TELLING:
            return tenant in self._aside
        apart = abs(own.surprise / own.told - others.surprise / others.told)
        error = math.sqrt(own.variance / own.told**2 + others.variance / others.told**2)
        if apart > _APART + _ERRORS * error:
            self._aside.add(tenant)
        elif apart < _APART:
            self._aside.discard(tenant)
        return tenant in self._aside
