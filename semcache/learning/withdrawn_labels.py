"""Withdrawn labels: labels in the log of reports that turned out to be mistakes.

Pure. Invariant: a withdrawal takes back one earlier feedback label that called the same entry wrong for the same
request, and no audit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from semcache.types.evidence import Label, LabelSource


class Withdrawals:
    """The reports that were withdrawn, by the numbers under which they were noted."""

    def __init__(self) -> None:
        self.withdrawn: set[int] = set()
        self._standing: dict[tuple[int, bytes], deque[int]] = {}

    def note(self, label: Label, number: int) -> None:
        """Take notice of the next label of the log."""
        place = label.entry_id, label.exact
        if label.source is LabelSource.WITHDRAWN:
            reports = self._standing.get(place)
            if reports:
                self.withdrawn.add(reports.popleft())
        elif is_report(label):
            self._standing.setdefault(place, deque()).append(number)


def is_report(label: Label) -> bool:
    """Return True for the label of a person's report of a wrong answer."""
    return label.source is LabelSource.FEEDBACK and not label.correct


def standing_labels(labels: Iterable[Label]) -> list[Label]:
    """Labels without those that were withdrawn, and without the withdrawals."""
    known, withdrawals = list(labels), Withdrawals()
    for number, label in enumerate(known):
        withdrawals.note(label, number)
    return [
        label
        for number, label in enumerate(known)
        if label.source is not LabelSource.WITHDRAWN and number not in withdrawals.withdrawn
    ]


def withdrawal(label: Label, *, at: float) -> Label:
    """The label that takes this one back."""
    return replace(label, at=at, source=LabelSource.WITHDRAWN, seq=0)
