"""The vetoes that a category may overrule: those of guards of which it has enough labels of its own.

Vetoes that always hold, such as other symbols, are not features that labels could inform, so they stand. Knows features
by their places. Invariant: no veto is overruled before every guard that vetoes has its labels.
"""

from __future__ import annotations

from collections.abc import Mapping

from semcache.matching import features

_ENOUGH = 30  # labels of pairs that a guard vetoes


class VetoLabels:
    """The labels of pairs that guards veto, by guard."""

    def __init__(self) -> None:
        self._labels = dict.fromkeys(features.OF_GUARDS.values(), 0)

    def take(self, values: tuple[float, ...]) -> None:
        """Count a label of a pair with these features."""
        for place in vetoing(values):
            self._labels[place] += 1

    def overrule(self, values: tuple[float, ...]) -> bool:
        """Return True if there are enough labels for the vetoes among these features to be overruled."""
        places = vetoing(values)
        return bool(places) and all(self._labels[place] >= _ENOUGH for place in places)

    def state(self) -> dict[str, int]:
        """As JSON has it."""
        return {name: self._labels[place] for name, place in features.OF_GUARDS.items()}

    def restore(self, state: Mapping[str, int]) -> None:
        """Take up what `state` gave."""
        self._labels = {place: int(state.get(name, 0)) for name, place in features.OF_GUARDS.items()}


def vetoing(values: tuple[float, ...]) -> list[int]:
    """The places of the guards that veto, arguably or not, and that no verifier has answered."""
    return [place for place in features.OF_GUARDS.values() if values[place] >= features.ARGUED]
