"""Certificates of tenant classes: the error of one category, tested for each class.

A category's error is an average: a tenant whose traffic is unlike the others' may see far more errors. So each class of
tenants is also tested by its own audits, and closed alone. Knows labels' tenants, nothing of scores. Invariant: a class
is closed by its own audits only, and opened by its own labels.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.certificate import Certificate, Reopening
from semcache.types.evidence import ClassStanding, wilson

_MOST = 1_000  # classes; the one that was audited longest ago is forgotten, unless it is closed


class Tenants:
    """The classes of one category.

    `beta` is the accepted probability of a false claim about a class, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._beta, self._noise = beta, noise
        self._certificates: OrderedDict[str, Certificate] = OrderedDict()
        self._reopenings: dict[str, Reopening] = {}  # of each closed class

    def closed(self, name: str) -> bool:
        """Return True if nothing is served to this class for now."""
        return name in self._reopenings

    def take(self, name: str, target: float, *, wrong: bool) -> None:
        """Look at an audited answer of this class; `target` is the error per hit that is allowed at this moment."""
        certificate = self._certificates.setdefault(name, self._fresh())
        self._certificates.move_to_end(name)
        certificate.take(target, wrong=wrong)
        if certificate.exceeded:
            self._certificates[name] = self._fresh()
            self._reopenings[name] = Reopening(self._noise)
        self._forget()

    def take_undecided(self, name: str, target: float) -> None:
        """Look at an audited answer of this class of which no verdict came."""
        self._certificates.setdefault(name, self._fresh()).take_undecided(target)
        self._certificates.move_to_end(name)
        self._forget()

    def watch(self, name: str, target: float, *, correct: bool) -> None:
        """Look at a label of what would be served with this error, by which a closed class opens again."""
        if name in self._reopenings and self._reopenings[name].passed(target, correct=correct):
            del self._reopenings[name]

    def begin_anew(self) -> None:
        """Forget what audits have shown, because more is served from now on; what is closed stays closed."""
        for name in self._certificates:
            self._certificates[name] = self._fresh()

    def standing(self) -> tuple[ClassStanding, ...]:
        """Where each class stands, the one with most audits first."""
        found = [
            ClassStanding(
                name,
                self.closed(name),
                one.level,
                one.audits,
                one.wrong,
                wilson(one.wrong, one.audits),
                undecided=one.undecided,
            )
            for name, one in self._certificates.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.audits, one.name)))

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "certificates": {name: one.state() for name, one in self._certificates.items()},
            # An older name, which saved states have.
            "probation": {name: one.state() for name, one in self._reopenings.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self._certificates = OrderedDict()
        for name, one in state.get("certificates", {}).items():
            self._certificates[name] = self._fresh()
            self._certificates[name].restore(one)
        self._reopenings = {}
        for name, logs in state.get("probation", {}).items():
            self._reopenings[name] = Reopening(self._noise)
            self._reopenings[name].restore(logs)

    def _fresh(self) -> Certificate:
        return Certificate(self._beta, self._noise)

    def _forget(self) -> None:
        if len(self._certificates) > _MOST:
            oldest = next((name for name in self._certificates if name not in self._reopenings), None)
            if oldest is not None:
                del self._certificates[oldest]
