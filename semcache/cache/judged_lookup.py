"""Judged lookup: decides a request in doubt on a language model's verdict, one that is remembered or asked for now.

Knows the judged tier and the modes of asking; nothing of how requests arrive. Invariant: a verdict on a request and an
entry is asked for once, and every request is decided: without a verdict, after a failure, and if the verdict is not
enough, it is forwarded.

A request passes here up to three times, as `verdict_modes` has it: before it is forwarded (`settle`), while it is
(`hedge`), and after that (`note`, which may ask for a verdict on it for later ones).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, NamedTuple

from semcache.cache.asked_verdicts import AskedVerdict, AskedVerdicts, Asking
from semcache.cache.verdict_modes import VerdictModes
from semcache.cache.wider_search import WiderSearch
from semcache.config.packs import Pack
from semcache.learning import labelling
from semcache.learning.label_log import LabelLog
from semcache.learning.verdict_effects import VerdictEffects
from semcache.matching import decide, doubts
from semcache.matching.doubts import Doubt
from semcache.matching.judged_tier import PLAUSIBLE
from semcache.matching.model_quality import YES
from semcache.matching.model_verdict import PLAIN, model_verdict_about
from semcache.protocols import Threshold
from semcache.types import Candidate, Forward, Lookup, Outcome, Recorded, Serve, Verify

_DONE = 200


class Hedge(NamedTuple):
    """The verdict on one request that is being forwarded, not asked for yet.

    `decided` calls a language model and decides the lookup on its verdict; None if there is no verdict. Its argument
    says, when the verdict comes, if the upstream has answered before. `called_off` counts a call that a verdict made
    needless after so many seconds, and returns the lookup with its cost.
    """

    decided: Callable[[Callable[[], bool]], Coroutine[Any, Any, Lookup | None]]
    called_off: Callable[[Lookup, float], Lookup]


class JudgedLookup:
    """Decides on a language model's verdicts. One instance a cache. `draw` gives uniform random numbers in [0, 1)."""

    def __init__(
        self,
        pack: Pack,
        strategy: Threshold,
        asking: Asking,
        search: WiderSearch,
        effects: VerdictEffects,
        log: LabelLog,
        *,
        clock: Callable[[], float],
        draw: Callable[[], float],
    ) -> None:
        self.tier, self.asked = asking.tier, AskedVerdicts(asking)
        self.modes = VerdictModes(pack, lambda: self.asked.asking)
        self._pack, self._strategy = pack, strategy
        self._search, self._effects, self._log = search, effects, log
        self._clock, self._draw = clock, draw

    # Before a forward

    async def settle(self, lookup: Lookup, *, waits: bool = True) -> Lookup:
        """Decide a lookup on a verdict that is remembered, or call a language model for one if this request `waits`.

        A doubt that stays one is a miss. Raises nothing.
        """
        doubt = await self._servable_doubt(lookup) if self.modes.serves_on_a_verdict(lookup) else None
        if doubt is None:
            if self.modes.asks_in_time(lookup) and self.tier.curious:
                self._probe(lookup)
            return self._missed(lookup)
        p_yes = self._remembered(lookup, doubt)
        if p_yes is not None:
            return self._decided(lookup, doubt, p_yes, self._draw(), late=False)
        lookup = self._missed(lookup)
        if self.modes.asks_before(lookup, waits=waits):
            return await self._ask(lookup, doubt) or lookup
        return lookup

    def _missed(self, lookup: Lookup) -> Lookup:
        """Count a lookup that still waits for a verdict that nobody will give as a miss, and return it as one."""
        if not isinstance(lookup.decision, Verify):
            return lookup
        missed = decide.refused(lookup.decision)
        decide.note(self._strategy, lookup.category, missed)
        return replace(lookup, decision=missed)

    # Beside a forward

    def hedge(self, lookup: Lookup) -> Hedge | None:
        """Return the hedge of a request that is being forwarded; None if no verdict is asked for about it."""
        if not (self.modes.asks_beside(lookup) and doubts.is_doubtful(lookup.decision)):
            return None
        return Hedge(lambda late: self._hedged(lookup, late), self._called_off)

    async def _hedged(self, lookup: Lookup, late: Callable[[], bool]) -> Lookup | None:
        doubt = await self._servable_doubt(lookup)
        return None if doubt is None else await self._ask(lookup, doubt, late)

    def _called_off(self, lookup: Lookup, seconds: float) -> Lookup:
        return replace(lookup, verified=(lookup.verified or 0.0) + self.asked.called_off(lookup.request, seconds))

    # After a forward

    def note(self, lookup: Lookup, row: Recorded) -> None:
        """Count what a request cost upstream, and have a verdict on it where its pack wants one after the forward."""
        self.asked.forwarded(lookup.request, row)
        answered = row.status == _DONE and row.count
        if answered and doubts.is_doubtful(lookup.decision) and self.modes.asks(lookup):
            self.asked.asking.later(self.after(lookup))

    async def after(self, lookup: Lookup) -> None:
        """Ask for a verdict on a request that was forwarded: an alias or a known difference, and never an audit."""
        doubt = await self._doubt(lookup) if self.modes.asks(lookup) else None
        if doubt is None or self._remembered(lookup, doubt) is not None:
            return
        if doubts.worth_asking(doubt, self._terms(lookup, 1.0), self.tier):
            # Where it could be asked for in time, it was, or the cap was in the way.
            wanted = self.modes.asks_only_after(lookup)
        else:
            # Of what no verdict could serve, a few tell what verdicts are worth.
            wanted = self._draw() < self.tier.tried(lookup.category, doubt.before)
        if wanted:
            await self._verdict(lookup, doubt, later=True)

    # Standing

    def standings(self) -> dict[str, Any]:
        """The figures of `stats`: what audits of hits on verdicts found, by category, and what asking costs."""
        return {"judged": self.tier.standing(), "asking": self.asked.standing()}

    # The doubt

    async def _servable_doubt(self, lookup: Lookup) -> Doubt | None:
        """The doubt about a neighbour that may be served to this request; None if there is none."""
        doubt = await self._doubt(lookup)
        held = doubt is not None and self._search.quorum.holds(doubt.candidate.card, lookup.request)
        return None if held else doubt

    async def _doubt(self, lookup: Lookup) -> Doubt | None:
        """The doubt that a lookup leaves, about its nearest neighbour or one that is found by a wider search."""
        decision = lookup.decision
        if lookup.key is None or lookup.vector is None or lookup.request.controls.no_cache:
            return None
        if not isinstance(decision, Verify):
            if not doubts.is_doubtful(decision):
                return None
            if decision.nearest is None or not decision.nearest.features:
                return await self._search.best(lookup, self._strategy, self._clock())
            if self._needs_no_verdict(decision.nearest, lookup.key.exact):
                return None
        return doubts.doubt_of(decision, lambda one: self._weighed(lookup, one))

    def _needs_no_verdict(self, nearest: Candidate, exact: bytes) -> bool:
        """Return True of a neighbour that had a verdict, is the request's own earlier answer, or is stale.

        A stale one may be served while it is asked anew; a hit on a verdict is not.
        """
        settled = len(nearest.features) != PLAIN or nearest.card.exact == exact
        return settled or decide.is_stale(nearest.card, self._clock())

    def _weighed(self, lookup: Lookup, found: Candidate) -> Doubt:
        full = labelling.featured(lookup, found, self._pack.of(lookup.category))
        verdict = self._strategy.judge(full, lookup.category, controls=lookup.request.controls, draw=0.0)
        return Doubt(full, verdict.p_correct)

    # The verdict

    def _remembered(self, lookup: Lookup, doubt: Doubt) -> float | None:
        """The verdict, as P(yes), that was given on the two before; None if there is none."""
        assert lookup.key is not None
        return self.tier.remembered(lookup.key.exact, doubt.candidate.card.id)

    async def _ask(self, lookup: Lookup, doubt: Doubt, late: Callable[[], bool] = lambda: False) -> Lookup | None:
        """Call a language model for a verdict, and decide on it; None if there is none, or none could serve it.

        After a no, the most probable neighbour with another answer is asked about once, if it is plausible.
        """
        asked = await self._ask_about(lookup, doubt, late)
        if asked is None or not isinstance(asked.decision, Forward) or not self._said_no(lookup, doubt):
            return asked
        card = doubt.candidate.card
        second = await self._search.best(lookup, self._strategy, self._clock(), besides=card)
        if (
            second is None
            or second.before < PLAUSIBLE
            or self._search.quorum.holds(second.candidate.card, lookup.request)
        ):
            return asked
        found = await self._ask_about(lookup, second, late)
        if found is None:
            return asked
        cost = (asked.verified or 0.0) + (found.verified or 0.0)
        if isinstance(found.decision, Serve):
            return replace(found, verified=cost)
        # The verdict on the second is remembered: the label of the second, among the others, meets it there.
        other = Candidate(second.candidate.card, second.candidate.score)
        return replace(asked, decision=replace(asked.decision, others=(other,)), verified=cost)

    def _said_no(self, lookup: Lookup, doubt: Doubt) -> bool:
        p_yes = self._remembered(lookup, doubt)
        return p_yes is not None and p_yes < YES

    async def _ask_about(self, lookup: Lookup, doubt: Doubt, late: Callable[[], bool]) -> Lookup | None:
        # The audit is drawn before the verdict is asked for.
        draw = self._draw()
        if not doubts.worth_asking(doubt, self._terms(lookup, draw), self.tier):
            return None
        verdict = await self._verdict(lookup, doubt)
        if verdict is None:
            return None
        return self._decided(replace(lookup, verified=verdict.cost), doubt, verdict.p_yes, draw, late=late())

    async def _verdict(self, lookup: Lookup, doubt: Doubt, *, later: bool = False) -> AskedVerdict | None:
        """Call a language model for a verdict; None if there is none. A new one is remembered and logged."""
        card = doubt.candidate.card
        served = Serve(card, Outcome.SEMANTIC, doubt.candidate.score, doubt.before)
        verdict = await self.asked.ask(lookup, served, later=later, in_time=not self.modes.asks_only_after(lookup))
        if verdict is None or not verdict.new:
            return verdict
        assert lookup.key is not None
        verdict = verdict._replace(p_yes=self.tier.remember(lookup.key.exact, card.id, verdict.p_yes))
        carried = model_verdict_about(doubt.before, verdict.p_yes, sampled=False)
        self._log.add(labelling.of_verdict(lookup, doubt.candidate, doubt.before, carried, at=self._clock()))
        if carried.different:
            self._effects.differ(card.id, lookup.key.exact)
        return verdict

    def _decided(self, lookup: Lookup, doubt: Doubt, p_yes: float, draw: float, *, late: bool) -> Lookup:
        decision = doubts.decided(doubt, p_yes, self._terms(lookup, draw), self.tier, late=late)
        return replace(lookup, decision=decision)

    def _terms(self, lookup: Lookup, draw: float) -> decide.RequestTerms:
        return decide.RequestTerms.of(lookup.request, lookup.category, now=self._clock(), draw=draw)

    # Verdicts on vetoed neighbours

    def _probe(self, lookup: Lookup) -> None:
        """Ask for a verdict on a neighbour that a guard vetoes, in the background: it tells what verdicts are worth."""
        found = doubts.known_different(lookup.decision)
        if found is None or lookup.key is None or self._search.quorum.holds(found.card, lookup.request):
            return
        self.asked.asking.later(self._probed(lookup, lookup.key.exact, found))

    async def _probed(self, lookup: Lookup, exact: bytes, found: Candidate) -> None:
        served = Serve(found.card, Outcome.SEMANTIC, found.score, 0.0)
        verdict = await self.asked.ask(lookup, served, later=True, in_time=not self.modes.asks_only_after(lookup))
        if verdict is not None and verdict.new:
            self.tier.differ(exact, found.card.id, verdict.p_yes)
