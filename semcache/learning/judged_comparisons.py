"""Comparisons of two answers: the judge is asked, and its verdict becomes a label that takes effect.

Knows the judge, the entries and the effects of verdicts, nothing of queues. Invariant: a comparison that cannot be
judged is counted, and yields no label that teaches: of an audit, one that says that it is undecided, so that none drops
out of a certificate by its outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from semcache.errors import IntegrityError
from semcache.learning import labelling
from semcache.learning.label_log import LabelLog
from semcache.learning.timed_judge import Failure, TimedJudge
from semcache.learning.verdict_effects import VerdictEffects
from semcache.matching.wording_tier import also_wording
from semcache.runtime.bill import BilledFor
from semcache.runtime.memo_scopes import MemoScopes
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.types import Assembled, Entry, Lookup, Serve
from semcache.types.evidence import Comparison, Judgement, Label

TRIES = 3


class JudgedComparisons:
    """Has comparisons judged. `judge` may be asked how it fares, such as if it rests."""

    def __init__(
        self,
        log: LabelLog,
        judge: TimedJudge,
        effects: VerdictEffects,
        live: LiveEntries,
        meter: Meter,
        *,
        memos: MemoScopes,
        clock: Callable[[], float],
    ) -> None:
        self.judge = judge
        self._log = log
        self._effects = effects
        self._live = live
        self._meter = meter
        self._memos = memos
        self._clock = clock

    async def of_hit(
        self, label: Label, lookup: Lookup, served: Serve, answer: Assembled, *, cached: Entry | None, fresh_id: int
    ) -> list[Label]:
        """The label of a served answer that is compared with the backend's at once; `cached` if it was read before."""
        entry = cached or await self._entry(served.card.id)
        if entry is None:
            return self.left(label, "lapsed")
        comparison = Comparison(lookup.request.text, served.card.text, labelling.said(entry), answer.text)
        model = self.model_for(lookup, served)
        verdict = await self.judge.agree(comparison, since=label.at, billed_for=_billed_for(label), model=model)
        if not isinstance(verdict, bool):
            return self.left(label, verdict)
        return [self._effects.apply(label, fresh_id, correct=verdict)]

    def model_for(self, lookup: Lookup, served: Serve) -> str:
        """Return the language model to ask about a hit that the judge cannot tell of, "" for none."""
        return self.judge.second_model(lookup) if served.audit else ""

    async def of_owed(self, owed: Judgement, fresh: Entry | None = None) -> list[Label] | Failure:
        """The labels that a judgement yields, or how the judge failed; `fresh` is the answer if it is at hand.

        One may be about the wordings of the two prompts beside that about their meaning.
        """
        if owed.tries > TRIES:
            return self.left(owed.label, "given-up")
        if owed.tries > 1 and await self._log.holds(owed.label):
            # Whoever wrote the label ended before it could say so.
            return []
        cached = await self._entry(owed.label.entry_id)
        fresh = fresh or await self._entry(owed.fresh_id)
        comparison = labelling.shown(fresh, cached) if fresh is not None and cached is not None else None
        if fresh is None or comparison is None:
            return self.left(owed.label, "lapsed")
        verdict = await self.judge.agree(
            comparison, since=owed.label.at, billed_for=_billed_for(owed.label), model=owed.model
        )
        if not isinstance(verdict, bool):
            return self.left(owed.label, verdict) if verdict == "undecided" else verdict
        label = self._effects.apply(owed.label, owed.fresh_id, correct=verdict)
        with self._memos.within(fresh.key.scope):
            wording = also_wording(label, comparison.question, comparison.cached_question)
        return [label] if wording is None else [wording, label]

    async def of_reasked(self, lookup: Lookup, old: Entry, fresh: Entry) -> list[Label]:
        """The label that says if an answer still held when it was asked for anew; none where nobody can tell."""
        comparison = labelling.shown(fresh, old)
        if comparison is None:
            return []
        same = comparison.cached == comparison.fresh
        billed_for = BilledFor(lookup.request.scope.tenant, lookup.category)
        verdict = same or await self.judge.agree(comparison, since=fresh.created, billed_for=billed_for)
        if not isinstance(verdict, bool):
            self._meter.unlabelled(verdict)
            return []
        kind = self._log.freshness.kind(lookup.request.text, lookup.vector)
        label = labelling.of_reasked(lookup, old, fresh.created - old.created, kind, at=fresh.created)
        return [self._effects.apply(label, fresh.id, correct=verdict)]

    def left(self, label: Label, why: str) -> list[Label]:
        """Learn what is left of a comparison of which no verdict comes: of an audit, that it stays undecided."""
        self._meter.unlabelled(why)
        undecided = labelling.undecided(label)
        return [] if undecided is None else [undecided]

    async def write(self) -> None:
        """Write the effects of verdicts. Raises StoreError."""
        await self._effects.write(self._clock())

    async def _entry(self, entry_id: int) -> Entry | None:
        with suppress(IntegrityError):
            return await self._live.read(entry_id)
        return None


def _billed_for(label: Label) -> BilledFor:
    return BilledFor(label.tenant, label.category, label.served)
