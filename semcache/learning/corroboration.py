"""Corroboration: how far the reports of one tenant teach what is served to others.

A report is no sample: whoever makes it chose what to report. Where a cache has one tenant, every report counts. Where
it has several, a report of one teaches the shared beliefs only as far as another tenant has reported as much in that
category; the entry that was reported is refused to its requests all the same. Audits and misses are samples, and count
for the category and for the class of the tenant. Knows tenants and labels, nothing of what is learned. Invariant: no
tenant alone, however many its keys and reports, moves by reports what another is served.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict

from semcache.types import Label, LabelSource

_MOST = 4096  # tenants that are known; of more, the one that was seen longest ago is forgotten


class Corroboration:
    """The tenants that were seen, and their reports by category. Two tenants that collude corroborate each other."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._reports: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._counted: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def saw(self, tenant: str) -> None:
        """Take notice of a tenant's traffic."""
        self._seen[tenant] = None
        self._seen.move_to_end(tenant)
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)

    def counts(self, label: Label) -> bool:
        """Return True if a label teaches what is shared; a report is taken notice of."""
        tenant = label.tenant
        self.saw(tenant)
        counted = self._counted[label.category]
        if label.source is LabelSource.WITHDRAWN:
            # What taught nothing has nothing to take back.
            if counted[tenant] <= 0:
                return False
            counted[tenant] -= 1
            return True
        if label.source is not LabelSource.FEEDBACK:
            return True
        reports = self._reports[label.category]
        reports[tenant] += 1
        others = max((count for name, count in reports.items() if name != tenant), default=0)
        if len(self._seen) > 1 and counted[tenant] >= others:
            return False
        counted[tenant] += 1
        return True
