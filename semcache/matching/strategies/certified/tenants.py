"""The claims about tenant classes: the error of one category, tested for each class.

A category's error is an average: a tenant whose traffic is unlike the others' may see far more errors. So each class of
tenants is also tested by its own audits, and closed alone. Knows labels' tenants, nothing of scores. Invariant: a class
is closed by its own audits only, and opened by its own labels.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.audited_claim import AuditedClaim
from semcache.types.evidence import ClassStanding, wilson

_MOST = 1_000  # classes; the one that was audited longest ago is forgotten, unless it is closed


class Tenants:
    """The classes of one category.

    `beta` is the accepted probability of a false claim about a class, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._beta, self._noise = beta, noise
        self._claims: OrderedDict[str, AuditedClaim] = OrderedDict()

    def closed(self, name: str) -> bool:
        """Return True if nothing is served to this class for now."""
        return name in self._claims and self._claims[name].closed

    def take(self, name: str, target: float, *, wrong: bool) -> None:
        """Look at an audited answer of this class; `target` is the error per hit that is allowed at this moment."""
        self._newest(name).audit(target, wrong=wrong)
        self._forget()

    def take_undecided(self, name: str, target: float) -> None:
        """Look at an audited answer of this class of which no verdict came."""
        self._newest(name).certificate.take_undecided(target)
        self._forget()

    def watch(self, name: str, target: float, *, correct: bool) -> None:
        """Look at a label of what would be served with this error, by which a closed class opens again."""
        if name in self._claims:
            self._claims[name].watch(target, correct=correct)

    def begin_anew(self) -> None:
        """Forget what audits have shown, because more is served from now on; what is closed stays closed."""
        for claim in self._claims.values():
            claim.forget_audits()

    def standing(self) -> tuple[ClassStanding, ...]:
        """Where each class stands, the one with most audits first."""
        classes = [(name, claim.closed, claim.certificate) for name, claim in self._claims.items()]
        found = [
            ClassStanding(
                name,
                closed,
                one.level,
                one.audits,
                one.wrong,
                wilson(one.wrong, one.audits),
                undecided=one.undecided,
            )
            for name, closed, one in classes
        ]
        return tuple(sorted(found, key=lambda one: (-one.audits, one.name)))

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "certificates": {name: claim.certificate.state() for name, claim in self._claims.items()},
            # An older name, which saved states have.
            "probation": {name: claim.reopening.state() for name, claim in self._claims.items() if claim.closed},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self._claims = OrderedDict()
        for name, one in state.get("certificates", {}).items():
            self._of(name).certificate.restore(one)
        for name, evidence in state.get("probation", {}).items():
            self._of(name).closed = True
            self._of(name).reopening.restore(evidence)

    def _of(self, name: str) -> AuditedClaim:
        return self._claims.setdefault(name, AuditedClaim(self._beta, self._noise))

    def _newest(self, name: str) -> AuditedClaim:
        """The claim about a class of which an audit came, which is forgotten after all others."""
        claim = self._of(name)
        self._claims.move_to_end(name)
        return claim

    def _forget(self) -> None:
        if len(self._claims) > _MOST:
            oldest = next((one for one, known in self._claims.items() if not known.closed), None)
            if oldest is not None:
                del self._claims[oldest]
