"""Labels that were withdrawn: a report that turned out to be a mistake, and its label in the log.

Pure. Invariant: a withdrawal takes back one label of feedback that called the same entry wrong for the same request,
and no audit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from semcache.types.evidence import Label, LabelSource


def is_report(label: Label) -> bool:
    """Return True for the label of a person's report of a wrong answer."""
    return label.source is LabelSource.FEEDBACK and not label.correct


def standing_labels(labels: Iterable[Label]) -> list[Label]:
    """Labels without those that were withdrawn, and without the withdrawals."""
    known = list(labels)
    taken_back = Counter((one.entry_id, one.exact) for one in known if one.source is LabelSource.WITHDRAWN)
    left = []
    for label in known:
        if label.source is LabelSource.WITHDRAWN:
            continue
        place = label.entry_id, label.exact
        if is_report(label) and taken_back[place]:
            taken_back[place] -= 1
        else:
            left.append(label)
    return left


def withdrawal(label: Label, *, at: float) -> Label:
    """The label that takes this one back."""
    return replace(label, at=at, source=LabelSource.WITHDRAWN, seq=0)
