"""Strategies, which decide whether a neighbour is good enough to be served; one file each, named in policy packs.

Knows nothing of how they decide. Invariant: every category of a pack is decided by the strategy that it names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from semcache.config import plugins
from semcache.config.packs import Pack
from semcache.matching.guards import GUARDS
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.per_category import PerCategoryThreshold
from semcache.matching.strategies.static import StaticThreshold
from semcache.matching.strategies.vcache import VCacheThreshold
from semcache.protocols import Threshold
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import CertificateEvidence, Label, LabelSource, Standing

__all__ = ["STRATEGIES", "ByCategory", "StaticThreshold"]

STRATEGIES: Mapping[str, Callable[[Pack], Threshold]] = plugins.PluggableMakers(
    "strategies",
    {
        "static": StaticThreshold,
        "per-category": PerCategoryThreshold,
        "vcache": VCacheThreshold,
        "certified": CertifiedThreshold,
    },
)


_BY_CATEGORY = (CertifiedThreshold, PerCategoryThreshold)


class ByCategory:
    """`protocols.Threshold` that asks the strategy of each category.

    `noise` is that of the judge behind the labels, `priors` those of the embedder, by profile, and `grants` this
    process's share of the errors granted to first answers. `english` is True for an embedder made for English alone.
    `served` counts what it has served.
    """

    def __init__(
        self,
        pack: Pack,
        *,
        noise: LabelNoise = FAITHFUL,
        priors: Mapping[str, BeliefPrior] = MappingProxyType({}),
        grants: float = 1.0,
        english: bool = True,
    ) -> None:
        self.served = 0
        self._pack = pack
        names = sorted({category.strategy for category in pack.categories.values()})

        def made(make: Callable[[Pack], Threshold]) -> Threshold:
            if make is CertifiedThreshold:
                return CertifiedThreshold(pack, noise=noise, priors=priors, grants=grants, english=english)
            return make(pack)

        self._made = {name: made(STRATEGIES[name]) for name in names}
        self._by_category = {name: self._made[category.strategy] for name, category in pack.categories.items()}
        self._unaware = frozenset([name for name, strategy in self._made.items() if not _takes_candidates(strategy)])

    def floor(self, category: str, controls: Controls) -> float:
        """The category's own floor."""
        return self._of(category).floor(category, controls)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        """Those in which the category's strategy sees a chance."""
        return self._of(category).promising(candidates, text, category)

    def judge(
        self, candidate: Candidate, category: str, *, controls: Controls, draw: float, tenant: str = ""
    ) -> Verdict:
        """The verdict of the category's strategy, unless the guard of a plug-in vetoes the candidate.

        No strategy has a feature for such a guard, so none can have learned to overrule it.
        """
        verdict = self._of(category).judge(candidate, category, controls=controls, draw=draw, tenant=tenant)
        willing = verdict.serve or verdict.verify
        if willing and any(one.veto and one.guard not in GUARDS for one in candidate.conflicts):
            return replace(verdict, serve=False, verify=False, alone=False, audit=0.0, why=Why.GUARD)
        return verdict

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        """Tell the category's strategy."""
        self.served += served
        strategy = self._of(category)
        if self._pack.of(category).strategy in self._unaware:
            strategy.note(category, p_correct, served=served, audited=audited)
        else:
            strategy.note(category, p_correct, served=served, audited=audited, candidate=candidate)

    def contributions(self, candidate: Candidate, category: str) -> dict[str, float]:
        """The log-odds that each feature adds, {} for a strategy that does not decide by features."""
        strategy = self._of(category)
        return strategy.contributions(candidate, category) if isinstance(strategy, CertifiedThreshold) else {}

    def evidence(self, category: str) -> CertificateEvidence | None:
        """The wealth behind the category's certificate, None for a strategy that gives none."""
        strategy = self._of(category)
        return strategy.evidence(category) if isinstance(strategy, CertifiedThreshold) else None

    def relax(self, share: float) -> None:
        """Stretch the targets of certified categories by this share of the way to what the pack accepts."""
        for strategy in self._made.values():
            if isinstance(strategy, CertifiedThreshold):
                strategy.relax(share)

    def observe(self, label: Label) -> None:
        """Tell the category's strategy; of an audit without a verdict only one that gives certificates."""
        strategy = self._of(label.category)
        if label.source is not LabelSource.UNDECIDED or isinstance(strategy, CertifiedThreshold):
            strategy.observe(label)

    def observe_own(self, label: Label) -> None:
        """Tell the category's strategy what concerns the class of the label's tenant alone."""
        strategy = self._of(label.category)
        if isinstance(strategy, CertifiedThreshold):
            strategy.observe_own(label)

    def disown(self, label: Label) -> None:
        """Have the category's strategy take back what a label of a tenant that is set aside has spent of its budget."""
        strategy = self._of(label.category)
        if isinstance(strategy, CertifiedThreshold):
            strategy.disown(label)

    def relearn(self, labels: Sequence[Label]) -> None:
        """Rebuild what was learned from these labels, which are the log without what was withdrawn.

        A certified category keeps its audits, budget and certificate; any other strategy begins anew.
        """
        for name, strategy in list(self._made.items()):
            own = [label for label in labels if self._of(label.category) is strategy]
            if isinstance(strategy, CertifiedThreshold):
                strategy.relearn(own)
                continue
            fresh = STRATEGIES[name](self._pack)
            for label in own:
                fresh.observe(label)
            self._made[name] = fresh
            self._by_category = {one: fresh if of is strategy else of for one, of in self._by_category.items()}

    def standing(self, category: str) -> Standing:
        """The standing that the category's strategy reports."""
        return self._of(category).standing(category)

    def state(self) -> dict[str, Any]:
        """The states of all strategies, by name."""
        return {name: strategy.state() for name, strategy in self._made.items()}

    def states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The parts of `state` one after the other, with the strategy of each: a large category takes its time."""
        for name, strategy in self._made.items():
            if isinstance(strategy, CertifiedThreshold):
                yield name, {}
                for category, state in strategy.states():
                    yield name, {category: state}
            else:
                yield name, strategy.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Give each strategy its own state; states of strategies that the pack no longer names are dropped."""
        for name, strategy in self._made.items():
            if name in state:
                strategy.restore(state[name])

    def restore_but(self, state: Mapping[str, Any], changed: Container[str]) -> Container[str]:
        """Give each strategy its own state, except for categories whose promises have `changed`.

        Returns the categories to learn anew. A strategy whose state is not separated by category returns all of its
        categories, if any has changed.
        """
        dropped: set[str] = set()
        for name, strategy in self._made.items():
            if isinstance(strategy, _BY_CATEGORY):
                kept = state.get(name, {}).items()
                strategy.restore({category: one for category, one in kept if category not in changed})
            elif any(one is strategy and category in changed for category, one in self._by_category.items()):
                dropped.add(name)
            elif name in state:
                strategy.restore(state[name])
        return _Anew(self, changed, frozenset([id(self._made[name]) for name in dropped]))

    def _of(self, category: str) -> Threshold:
        return self._by_category.get(category) or self._by_category["default"]


def _takes_candidates(strategy: Threshold) -> bool:
    """Return False of a plug-in from before `note` was told which candidate was served."""
    try:
        given = inspect.signature(strategy.note).parameters.values()
    except (TypeError, ValueError):  # compiled code need not tell what it takes
        return False
    return any(one.name == "candidate" or one.kind is inspect.Parameter.VAR_KEYWORD for one in given)


class _Anew:
    """The categories that have changed, and those of strategies that forgot all."""

    def __init__(self, strategies: ByCategory, changed: Container[str], forgot: frozenset[int]) -> None:
        self._strategies, self._changed, self._forgot = strategies, changed, forgot

    def __contains__(self, category: object) -> bool:
        assert isinstance(category, str)
        return category in self._changed or id(self._strategies._of(category)) in self._forgot
