"""Corroboration: how far the reports and labels of one tenant teach state that other tenants are served by.

A report is not a random sample: its author chose what to report. In a cache with one tenant every report counts. With
several tenants, a report teaches the shared beliefs only as far as more than a quarter of the tenants, and at least one
other, have reported the same as often in that category; the reported entry is refused to its requests in any case.

Audits and misses are samples and count within the bounds of `tenant_samples`; beyond these they teach only the class of
their tenant. If a tenant is set aside there, the errors that it has added before are taken out of the shared budgets.
Knows tenants and labels, nothing of what is learned.

Invariant: the reports of one tenant, or of a quarter of the tenants, however many their keys and reports, do not change
what others are served.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from enum import Enum

from semcache.learning.tenant_samples import TenantSamples
from semcache.types import Label, LabelSource

REPORT = "report:"  # begins the origin of the labels of one report, before its number
_MOST = 4096  # tenants that are known; of more, the one that was seen longest ago is forgotten


class Reach(Enum):
    """Who learns from a label."""

    NOBODY = "nobody"
    OWN = "own"  # the class of its tenant
    ALL = "all"


class _Reports:
    """The reports of one verdict in one category by tenant: those that stand, and those among them that taught all."""

    __slots__ = ("standing", "taught_all")

    def __init__(self) -> None:
        self.standing: Counter[str] = Counter()
        self.taught_all: Counter[str] = Counter()


class Corroboration:
    """The tenants that were seen, and their reports and samples by category.

    `take` and `take_report` change what later labels of all tenants teach, so each label is given to one of them once.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        # Who calls answers right says nothing for those who call them wrong.
        self._reports: defaultdict[tuple[str, bool], _Reports] = defaultdict(_Reports)
        # What says how answers age is no sample of likeness: each kind is compared with its own.
        self._samples: defaultdict[tuple[str, bool], TenantSamples] = defaultdict(TenantSamples)
        self._disowned: list[Label] = []
        self._heard: OrderedDict[tuple[str, int, LabelSource], None] = OrderedDict()  # reports of several labels

    def saw(self, tenant: str) -> None:
        """Take notice of a tenant's traffic."""
        self._seen[tenant] = None
        self._seen.move_to_end(tenant)
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)

    def take(self, label: Label) -> Reach:
        """Take a label in; return who learns from it."""
        self.saw(label.tenant)
        if self._was_heard(label):
            return Reach.NOBODY
        match label.source:
            case LabelSource.FEEDBACK:
                heard = self.take_report(label.tenant, label.category, correct=label.correct)
                return Reach.ALL if heard else Reach.NOBODY
            case LabelSource.WITHDRAWN:
                return Reach.ALL if self._take_back_report(label) else Reach.NOBODY
            case LabelSource.VERDICT:
                # What a model said is no sample of what is right: it takes no share, and sets nobody aside.
                return Reach.ALL
            case LabelSource.UNDECIDED:
                # It shows nothing of its tenant.
                return Reach.ALL if self._samples[label.category, False].teaches(label.tenant) else Reach.OWN
            case _:
                return Reach.ALL if self._take_sample(label) else Reach.OWN

    def disowned(self) -> list[Label]:
        """Return the samples of served answers that have taught all, and whose tenants were set aside since; once."""
        found, self._disowned = self._disowned, []
        return found

    def _was_heard(self, label: Label) -> bool:
        """Return True for a further label of a report, or of its withdrawal, that another worker has labelled."""
        place = label.origin, label.entry_id, label.source
        if not label.origin.startswith(REPORT) or label.source not in (LabelSource.FEEDBACK, LabelSource.WITHDRAWN):
            return False
        if place in self._heard:
            return True
        self._heard[place] = None
        if len(self._heard) > _MOST:
            self._heard.popitem(last=False)
        return False

    def take_report(self, tenant: str, category: str, *, correct: bool) -> bool:
        """Take a report in; return True if others have reported the same as often, so that it teaches all."""
        reports = self._reports[category, correct]
        reports.standing[tenant] += 1
        if len(self._seen) > 1 and reports.taught_all[tenant] >= self._said_by_others(reports.standing, tenant):
            return False
        reports.taught_all[tenant] += 1
        return True

    def _take_back_report(self, label: Label) -> bool:
        """Take back a report, which vouches for nobody else's any more; return True if it had taught all."""
        reports, tenant = self._reports[label.category, label.correct], label.tenant
        reports.standing[tenant] = max(0, reports.standing[tenant] - 1)
        if reports.taught_all[tenant] <= 0:
            return False
        reports.taught_all[tenant] -= 1
        return True

    def _said_by_others(self, reports: Counter[str], tenant: str) -> int:
        """The reports that enough other tenants have made each."""
        enough = 1 + len(self._seen) // 4 if len(self._seen) >= 4 else 1
        others = sorted([count for name, count in reports.items() if name != tenant], reverse=True)
        return others[enough - 1] if len(others) >= enough else 0

    def _take_sample(self, label: Label) -> bool:
        """Take a sample; return False if it teaches only the class of its tenant."""
        samples = self._samples[label.category, label.source is LabelSource.REASKED]
        teaches = samples.take(label)
        self._disowned += samples.disowned(label.tenant)
        return teaches
