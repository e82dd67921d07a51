"""Verdicts on neighbours that a guard vetoes, each beside the label that a fresh answer gives of that neighbour.

A model that says yes where the label says no is easily fooled; one that says yes where guards err is not. Until a
verdict and its label have met, the neighbour is wrong as often as labels have found vetoed neighbours to be. Pure.
Invariant: a label weighs a verdict on the same request and entry only, whichever of the two comes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from semcache.matching.label_noise import LabelNoise

Place: TypeAlias = tuple[bytes, int]

_WRONG = 0.95  # P(wrong) of a neighbour that a guard vetoes, before the first label of one
_LABELS = 5.0  # of such neighbours that it takes to move it half the way
_WAITING = 500  # labels that wait for a verdict


class VerdictGroup(NamedTuple):
    """Verdicts on neighbours that are wrong with one probability, and the yeses among them."""

    p_wrong: float
    verdicts: int
    yes: int


@dataclass(slots=True)
class _VerdictCounts:
    """Verdicts on neighbours of which labels say the same, and the yeses among them."""

    count: int = 0
    yes: int = 0

    def add(self, *, yes: bool) -> None:
        self.count += 1
        self.yes += yes


@dataclass(slots=True)
class _Labelled:
    """Verdicts that have met their label, by what it says of the neighbour."""

    right: _VerdictCounts = field(default_factory=_VerdictCounts)
    wrong: _VerdictCounts = field(default_factory=_VerdictCounts)

    def of(self, *, correct: bool) -> _VerdictCounts:
        return self.right if correct else self.wrong


@dataclass(slots=True)
class _VetoLabels:
    """Labels of vetoed neighbours, and those that found these wrong, as guards say."""

    count: int = 0
    wrong: int = 0

    def p_wrong(self) -> float:
        return (_LABELS * _WRONG + self.wrong) / (_LABELS + self.count)


class VetoedVerdicts:
    """Yes and no about vetoed neighbours. `yes` is the P(yes) from which a verdict is a yes, in [0, 1]."""

    def __init__(self, yes: float, noise: LabelNoise) -> None:
        self._yes = yes
        self._noise = noise
        self._unlabelled: dict[Place, bool] = {}  # True of a yes
        self._unasked: OrderedDict[Place, bool] = OrderedDict()  # True of a label that found the neighbour right
        self._labelled = _Labelled()
        self._labels = _VetoLabels()

    @property
    def count(self) -> int:
        """How many verdicts were had."""
        return len(self._unlabelled) + self._labelled.right.count + self._labelled.wrong.count

    def said(self, place: Place, p_yes: float) -> None:
        """Take in a verdict, P(yes) in [0, 1], on the entry and the request of `place`."""
        correct = self._unasked.pop(place, None)
        if correct is None:
            self._unlabelled[place] = p_yes >= self._yes
        else:
            self._labelled.of(correct=correct).add(yes=p_yes >= self._yes)

    def labelled(self, place: Place, *, correct: bool) -> None:
        """Take in the label of a vetoed neighbour."""
        self._labels.count += 1
        self._labels.wrong += not correct
        yes = self._unlabelled.pop(place, None)
        if yes is not None:
            self._labelled.of(correct=correct).add(yes=yes)
            return
        self._unasked[place] = correct
        if len(self._unasked) > _WAITING:
            self._unasked.popitem(last=False)

    def groups(self) -> list[VerdictGroup]:
        """The verdicts by what is known of the neighbours: no label, a label that says right, one that says wrong."""
        p_wrong = self._labels.p_wrong()
        found = [VerdictGroup(p_wrong, len(self._unlabelled), sum(self._unlabelled.values()))]
        for correct in (True, False):
            verdicts = self._labelled.of(correct=correct)
            found.append(VerdictGroup(self._noise.posterior(p_wrong, correct=correct), verdicts.count, verdicts.yes))
        return found

    def state(self) -> dict[str, Any]:
        """As JSON has it, but for labels that no verdict has met."""
        right, wrong = self._labelled.right, self._labelled.wrong
        return {
            "unlabelled": [[exact.hex(), entry_id, yes] for (exact, entry_id), yes in self._unlabelled.items()],
            "right": [right.count, right.yes],
            "wrong": [wrong.count, wrong.yes],
            "labels": [self._labels.count, self._labels.wrong],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        waiting = {(bytes.fromhex(exact), int(entry_id)): bool(yes) for exact, entry_id, yes in state["unlabelled"]}
        right, wrong = (_VerdictCounts(int(count), int(yes)) for count, yes in (state["right"], state["wrong"]))
        count, found_wrong = state["labels"]
        self._unlabelled, self._labelled = waiting, _Labelled(right, wrong)
        self._labels = _VetoLabels(int(count), int(found_wrong))
