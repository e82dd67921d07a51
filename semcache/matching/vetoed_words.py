"""Words about neighbours that a guard vetoes, each beside the label that a fresh answer gives of that neighbour.

A model that says yes where the label says no is easily fooled; one that says yes where guards err is not. Until a word
and its label have met, the neighbour is wrong as often as labels have found vetoed neighbours to be.
Pure. Invariant: a label weighs a word about the same request and entry only, whichever of the two comes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeAlias

from semcache.matching.label_noise import LabelNoise

Place: TypeAlias = tuple[bytes, int]

# P(wrong) of a neighbour that a guard vetoes, and how many labels of such neighbours it takes to move it half the way.
_WRONG, _LABELS = 0.95, 5.0
_WAITING = 500  # labels that wait for a word


class VetoedWords:
    """Yes and no about vetoed neighbours. `yes` is the P(yes) from which a word is a yes, in [0, 1]."""

    def __init__(self, yes: float, noise: LabelNoise) -> None:
        self._yes = yes
        self._noise = noise
        self._unlabelled: dict[Place, bool] = {}
        self._unasked: OrderedDict[Place, bool] = OrderedDict()
        self._met: dict[bool, list[int]] = {True: [0, 0], False: [0, 0]}  # by label: words, and yeses among them
        self._labels = [0, 0]  # labels of vetoed neighbours, and those among them that found these wrong

    @property
    def count(self) -> int:
        """How many words were had."""
        return len(self._unlabelled) + sum(words for words, _ in self._met.values())

    def said(self, place: Place, word: float) -> None:
        """Take in a word, P(yes) in [0, 1], about the entry and the request of `place`."""
        correct = self._unasked.pop(place, None)
        if correct is None:
            self._unlabelled[place] = word >= self._yes
        else:
            self._meet(correct, word >= self._yes)

    def labelled(self, place: Place, *, correct: bool) -> None:
        """Take in the label of a vetoed neighbour."""
        self._labels[0] += 1
        self._labels[1] += not correct
        yes = self._unlabelled.pop(place, None)
        if yes is not None:
            self._meet(correct, yes)
            return
        self._unasked[place] = correct
        if len(self._unasked) > _WAITING:
            self._unasked.popitem(last=False)

    def groups(self) -> list[tuple[float, int, int]]:
        """P(wrong) of neighbours of which labels say the same, the words about them, and the yeses among these."""
        labels, wrong = self._labels
        p_wrong = (_LABELS * _WRONG + wrong) / (_LABELS + labels)
        found = [(p_wrong, len(self._unlabelled), sum(self._unlabelled.values()))]
        for correct, (words, yes) in self._met.items():
            found.append((self._noise.posterior(p_wrong, correct=correct), words, yes))
        return found

    def state(self) -> dict[str, Any]:
        """As JSON has it, but for labels that no word has met."""
        waiting = [[exact.hex(), entry_id, yes] for (exact, entry_id), yes in self._unlabelled.items()]
        return {"unlabelled": waiting, "right": self._met[True], "wrong": self._met[False], "labels": self._labels}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        waiting = {(bytes.fromhex(exact), int(entry_id)): bool(yes) for exact, entry_id, yes in state["unlabelled"]}
        met = {True: [int(one) for one in state["right"]], False: [int(one) for one in state["wrong"]]}
        labels = [int(one) for one in state["labels"]]
        self._unlabelled, self._met, self._labels = waiting, met, labels

    def _meet(self, correct: bool, yes: bool) -> None:
        words = self._met[correct]
        words[0] += 1
        words[1] += yes
