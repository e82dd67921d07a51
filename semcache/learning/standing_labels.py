"""The labels that beliefs are rebuilt from after a report was withdrawn: the log as if it had never been made.

Pure. Invariant: they are those that taught all, in the order of the log, without those about other scores. Of what a
strategy that forgets has learned from, the oldest are left out; one that never forgets loses none.
"""

from __future__ import annotations

from collections import deque
from heapq import merge

from semcache.config.packs import Pack
from semcache.learning.corroboration import Corroboration, Reach
from semcache.learning.withdrawn_labels import Withdrawals
from semcache.matching.model_verdict import without_model_verdict
from semcache.matching.wording_tier import edit_of
from semcache.types.evidence import Label, LabelSource

_RELEARNED = 100_000  # labels that beliefs are rebuilt from which forget; of older ones little is left


class StandingLabels:
    """The labels after number `since` that stand. Every label is seen before the first is taken."""

    def __init__(self, pack: Pack, since: int) -> None:
        self._pack, self._since = pack, since
        self._counts, self._withdrawals = Corroboration(), Withdrawals()
        self._lately: deque[Label] = deque(maxlen=_RELEARNED)
        self._ever: list[Label] = []

    def saw(self, label: Label) -> None:
        """Take notice of the next label of the log, which may be a withdrawal."""
        self._counts.saw(label.tenant)
        self._withdrawals.note(label, label.seq)

    def take(self, label: Label) -> None:
        """Keep the next label of the log, if it stands and teaches all."""
        withdrawn = label.seq in self._withdrawals.withdrawn
        if withdrawn or not about_meaning(label) or self._counts.take(label) is not Reach.ALL:
            return
        if label.seq <= self._since or label.source is LabelSource.UNDECIDED:
            return
        if (plain := without_model_verdict(label)) is not None:
            forgotten = self._pack.of(label.category).strategy == "certified"
            (self._lately if forgotten else self._ever).append(plain)

    def found(self) -> list[Label]:
        """Those that were kept."""
        return list(merge(self._lately, self._ever, key=lambda label: label.seq))


def about_meaning(label: Label) -> bool:
    """Return True for a label that says if a neighbour by meaning was right: what the strategy learns from."""
    return label.source not in (LabelSource.REASKED, LabelSource.WITHDRAWN) and edit_of(label) is None
