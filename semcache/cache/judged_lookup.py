"""Judged lookup: asks a language model about a neighbour that is still in doubt, and decides on its verdict (its word).

Knows the judged tier, the model, and the spending cap; nothing of how requests arrive. Invariant: no text of a tenant
that opted out is shown to a model, a verdict on a request and an entry is asked for once, and no verdict costs more
than the cap leaves. Without a verdict, after a failure, and if the verdict is not enough, the request is forwarded.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from semcache.cache.wider_search import WiderSearch
from semcache.config.pack_schema import VerdictMode
from semcache.config.packs import Pack
from semcache.errors import UpstreamTimeout
from semcache.learning import labelling
from semcache.learning.label_log import LabelLog
from semcache.learning.verdicts import Verdicts
from semcache.matching import decide, doubts
from semcache.matching.doubts import Doubt
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.spending_cap import SpendingCap, amount
from semcache.matching.verification import EntryOf, NoVerdict, Verifiers
from semcache.matching.word import PLAIN, word_about
from semcache.models.language_model import INSTRUCTIONS
from semcache.protocols import Threshold
from semcache.request import framed
from semcache.runtime.bill import Bill, billed
from semcache.runtime.telemetry import Meter
from semcache.storage.prices import Prices
from semcache.types import Candidate, Endpoint, Forward, Lookup, Outcome, Recorded, Request, Serve, Usage, Verify, Why

_DONE = 200
_TOKEN = 4  # characters, roughly
_SHARE = 0.02  # of upstream spend, for words after a forward
_REPLY = 2  # tokens of a word
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asking:
    """The model that is asked for words, and the terms: `mode` applies to categories that name none.

    `share` is the part of upstream spend that asking may cost. None is 2% for words that come after a forward, because
    these save no call at once; `matching.break_even` weighs the others with all costs. `paid` records the cost of a
    word after a forward, and `later` runs work that nobody waits for.
    """

    tier: JudgedTier
    verifiers: Verifiers
    prices: Prices
    meter: Meter
    paid: Callable[[Bill, tuple[str, str, bool]], None]
    later: Callable[[Coroutine[Any, Any, None]], object]
    mode: VerdictMode = "off"
    model: str | None = None
    share: float | None = None
    opted_out: tuple[str, ...] = ()


class JudgedLookup:
    """Asks for words. One instance a cache. `draw` gives uniform random numbers in [0, 1)."""

    def __init__(
        self,
        pack: Pack,
        strategy: Threshold,
        asking: Asking,
        search: WiderSearch,
        effects: Verdicts,
        log: LabelLog,
        *,
        clock: Callable[[], float],
        draw: Callable[[], float],
    ) -> None:
        self.tier, self.cap = asking.tier, SpendingCap()
        self._pack, self._strategy, self._asking = pack, strategy, asking
        self._search, self._effects, self._log = search, effects, log
        self._clock, self._draw = clock, draw
        self._called_off = [0, 0.0]  # calls, and seconds that they had run

    def mode_of(self, request: Request, category: str) -> VerdictMode:
        """When a word is asked for about a request of this category."""
        return self._allowed(request, category) if request.controls.spends else "off"

    def _allowed(self, request: Request, category: str) -> VerdictMode:
        """When a word may be asked for, whoever pays for it; "off" also means that no hit is served on a word."""
        asking, tenant = self._asking, request.scope.tenant
        if not asking.verifiers.knows("llm") or any(fnmatchcase(tenant, one) for one in asking.opted_out):
            return "off"
        if request.endpoint is Endpoint.MESSAGES and asking.model is None:
            # The model that it names is behind another door.
            return "off"
        policy = self._pack.of(category)
        chosen = policy.verdicts or ("first" if policy.verify == "llm" else asking.mode)
        said = request.controls.verdicts
        return chosen if said is None or (chosen == "off" and policy.verdicts == "off") else said

    async def settle(self, lookup: Lookup, entry_of: EntryOf, *, waits: bool = True) -> Lookup:
        """The lookup decided on a word that is remembered, or asked for where this request `waits` for one.

        A doubt that stays one is a miss. Raises nothing.
        """
        mode = self.mode_of(lookup.request, lookup.category)
        allowed = mode != "off" or self._allowed(lookup.request, lookup.category) != "off"
        doubt = await self._doubt(lookup) if allowed else None
        if doubt is None or self._search.quorum.holds(doubt.candidate.card, lookup.request):
            if mode in ("first", "hedged") and self.tier.curious:
                self._probe(lookup, entry_of)
            return self._missed(lookup)
        assert lookup.key is not None
        p_yes = self.tier.remembered(lookup.key.exact, doubt.candidate.card.id)
        if p_yes is not None:
            return self._decided(lookup, doubt, p_yes, self._draw())
        lookup = self._missed(lookup)
        if mode == "first" or (mode == "hedged" and waits):
            return await self._ask(lookup, doubt, entry_of, self._draw()) or lookup
        return lookup

    async def hedged(self, lookup: Lookup, entry_of: EntryOf) -> Lookup | None:
        """The lookup of a request that is being forwarded, decided on a word; None if there is no word.

        The audit is drawn before the word is asked for.
        """
        if self.mode_of(lookup.request, lookup.category) != "hedged" or not may_be_called_off(lookup.request):
            return None
        doubt = await self._doubt(lookup)
        if doubt is None or self._search.quorum.holds(doubt.candidate.card, lookup.request):
            return None
        return await self._ask(lookup, doubt, entry_of, self._draw())

    def note(self, lookup: Lookup, row: Recorded, entry_of: EntryOf) -> None:
        """Count what a request cost upstream, and have a word about it where its pack wants one after the forward."""
        self.cap.paid(amount(row.spent_cost, row.spent), _payer(lookup.request))
        if row.status == _DONE and row.count and self._may_follow(lookup):
            self._asking.later(self.after(lookup, entry_of))

    def standings(self) -> dict[str, Any]:
        """The figures of `stats`: what audits of hits on words found, by category, and what asking costs."""
        return {"judged": self.tier.standing(), "asking": self.standing()}

    def _may_follow(self, lookup: Lookup) -> bool:
        decision = lookup.decision
        if not isinstance(decision, Forward) or decision.outcome is not Outcome.MISS:
            return False
        return decision.why in doubts.DOUBTFUL and self.mode_of(lookup.request, lookup.category) != "off"

    def wants_hedge(self, lookup: Lookup) -> bool:
        """Return True if a word may be asked for while this request is being forwarded."""
        if self.mode_of(lookup.request, lookup.category) != "hedged" or not may_be_called_off(lookup.request):
            return False
        return isinstance(lookup.decision, Forward) and lookup.decision.why in doubts.DOUBTFUL

    async def after(self, lookup: Lookup, entry_of: EntryOf) -> None:
        """Ask for a word about a request that was forwarded: an alias or a known difference, and never an audit."""
        mode = self.mode_of(lookup.request, lookup.category)
        doubt = None if mode == "off" else await self._doubt(lookup)
        if doubt is None or lookup.key is None:
            return
        if self.tier.remembered(lookup.key.exact, doubt.candidate.card.id) is not None:
            return
        worth = doubts.worth_asking(doubt, self._terms(lookup, 1.0), self.tier)
        later = mode == "after" or (mode == "hedged" and not may_be_called_off(lookup.request))
        if (worth and not later) or (not worth and self._draw() >= self.tier.tried(doubt.before)):
            # Of what no word could serve, a few tell what words are worth.
            return
        await self._word(lookup, doubt, entry_of, later=True)

    def called_off(self, lookup: Lookup, seconds: float) -> Lookup:
        """The lookup with what its call has cost that a word made needless."""
        request = lookup.request
        used = Usage(len(request.raw) // _TOKEN, 0)
        cost = self._asking.prices.cost(request.model, used)
        self.cap.called_off(amount(cost, used))
        self._called_off[0] += 1
        self._called_off[1] += seconds
        return replace(lookup, verified=(lookup.verified or 0.0) + cost)

    def standing(self) -> dict[str, Any]:
        """The words that were asked for, their cost and the terms, for operators."""
        asking, spent = self._asking, self.cap.standing()
        return {
            "mode": asking.mode if asking.verifiers.knows("llm") else "off",
            "model": asking.model,
            "budget": _SHARE if asking.share is None else asking.share if asking.share < float("inf") else None,
            "asked": spent.asked,
            "over_budget": spent.over_budget,
            "upstream": spent.upstream,
            "asking": spent.asking,
            "called_off": self._called_off[0],
            "called_off_seconds": self._called_off[1],
        }

    # Inside

    async def _doubt(self, lookup: Lookup) -> Doubt | None:
        decision = lookup.decision
        if lookup.key is None or lookup.vector is None or lookup.request.controls.no_cache:
            return None
        if isinstance(decision, Forward):
            if decision.outcome is not Outcome.MISS or decision.why not in doubts.DOUBTFUL:
                return None
            if decision.nearest is None or not decision.nearest.features:
                found = await self._search.best(lookup, self._strategy, self._clock())
                return None if found is None else Doubt(*found)
            if len(decision.nearest.features) != PLAIN or decision.nearest.card.exact == lookup.key.exact:
                # A word was had already, or it is the request's own earlier answer.
                return None
            if decide.is_stale(decision.nearest.card, self._clock()):
                # It may be served while it is asked anew; a hit on a word is not.
                return None
        return doubts.doubt_of(decision, lambda one: self._weighed(lookup, one))

    def _probe(self, lookup: Lookup, entry_of: EntryOf) -> None:
        """Ask for a word about a neighbour that a guard vetoes, in the background."""
        found = doubts.known_different(lookup.decision)
        if found is None or lookup.key is None or self._search.quorum.holds(found.card, lookup.request):
            return
        self._asking.later(self._probed(lookup, found, entry_of))

    async def _probed(self, lookup: Lookup, found: Candidate, entry_of: EntryOf) -> None:
        said = await self._heard(lookup, Serve(found.card, Outcome.SEMANTIC, found.score, 0.0), entry_of, later=True)
        if said is not None and said[2] and lookup.key is not None:
            self.tier.differ(lookup.key.exact, found.card.id, said[0])

    def _weighed(self, lookup: Lookup, found: Candidate) -> tuple[Candidate, float]:
        full = labelling.featured(lookup, found, self._pack.of(lookup.category))
        verdict = self._strategy.judge(full, lookup.category, controls=lookup.request.controls, draw=0.0)
        return full, verdict.p_correct

    async def _ask(self, lookup: Lookup, doubt: Doubt, entry_of: EntryOf, draw: float) -> Lookup | None:
        if not doubts.worth_asking(doubt, self._terms(lookup, draw), self.tier):
            return None
        said = await self._word(lookup, doubt, entry_of)
        if said is None:
            return None
        p_yes, cost = said
        return self._decided(replace(lookup, verified=cost), doubt, p_yes, draw)

    async def _word(
        self, lookup: Lookup, doubt: Doubt, entry_of: EntryOf, *, later: bool = False
    ) -> tuple[float, float] | None:
        """A word and its cost in US dollars, None if there is none; it is remembered and logged."""
        card = doubt.candidate.card
        served = Serve(card, Outcome.SEMANTIC, doubt.candidate.score, doubt.before)
        said = await self._heard(lookup, served, entry_of, later=later)
        if said is None:
            return None
        p_yes, cost, new = said
        if not new or lookup.key is None:
            return p_yes, cost
        p_yes = self.tier.remember(lookup.key.exact, card.id, p_yes)
        word = word_about(doubt.before, p_yes, sampled=False)
        self._log.add(labelling.of_verdict(lookup, doubt.candidate, doubt.before, word, at=self._clock()))
        if word.different:
            self._effects.differ(card.id, lookup.key.exact)
        return p_yes, cost

    async def _heard(
        self, lookup: Lookup, served: Serve, entry_of: EntryOf, *, later: bool
    ) -> tuple[float, float, bool] | None:
        """P(yes), its cost in US dollars, and True if it was asked for now; None if there is no word."""
        asking, card, request = self._asking, served.card, lookup.request
        shown = len(framed.shown(request.frame, request.text + card.text)) + len(framed.shown(request.frame, ""))
        used = Usage((len(INSTRUCTIONS) + shown + 2_000) // _TOKEN, _REPLY)
        cost = asking.prices.cost(asking.model or request.model, used)
        share = asking.share
        if share is None:
            share = _SHARE if later else float("inf")
        if not self.cap.allows(amount(cost, used), share, _payer(request)):
            return None
        started, result = time.perf_counter(), "failed"
        try:
            with billed() as bill:
                p_yes, new = await asking.verifiers.word("llm", lookup, served, entry_of)
            result = "yes" if p_yes >= 0.5 else "no"
        except NoVerdict as silence:
            result = silence.result
            return None
        except (TimeoutError, UpstreamTimeout):
            result = "late"
            return None
        except Exception as error:
            _log.warning("a language model gave no word: %r", error)
            return None
        finally:
            asking.meter.verified(lookup.category, result, time.perf_counter() - started)
        if not new:
            return p_yes, 0.0, False
        if bill:
            used = Usage(sum([one.prompt_tokens for _, one in bill]), sum([one.completion_tokens for _, one in bill]))
            cost = sum([asking.prices.cost(model, one) for model, one in bill])
            if later:
                asking.paid(bill, (request.scope.tenant, lookup.category, False))
        self.cap.asked(amount(cost, used), share, _payer(request))
        return p_yes, cost, True

    def _decided(self, lookup: Lookup, doubt: Doubt, p_yes: float, draw: float) -> Lookup:
        decision = doubts.decided(doubt, p_yes, self._terms(lookup, draw), self.tier)
        return replace(lookup, decision=decision)

    def _terms(self, lookup: Lookup, draw: float) -> decide.RequestTerms:
        return decide.RequestTerms.of(lookup.request, lookup.category, now=self._clock(), draw=draw)

    def _missed(self, lookup: Lookup) -> Lookup:
        """The lookup, as a miss if it still waits for a word that nobody will give."""
        unsure = lookup.decision
        if not isinstance(unsure, Verify):
            return lookup
        nearest = Candidate(unsure.card, unsure.score, features=unsure.features)
        missed = Forward(Why.VERIFY_FAILED, nearest=nearest, p_correct=unsure.p_correct)
        decide.note(self._strategy, lookup.category, missed)
        return replace(lookup, decision=missed)


def may_be_called_off(request: Request) -> bool:
    """Return True if a call for this request has no effect upstream except its answer, so that it may be cancelled.

    A response is stored upstream unless the request says otherwise; any other answer only if the request asks for that.
    """
    if request.traits.tools or request.traits.stateful or request.endpoint is Endpoint.EMBEDDINGS:
        return False
    try:
        fields = msgspec.json.decode(request.raw, type=_Effects)
    except msgspec.MsgspecError:
        return False
    if any([fields.tools, fields.functions, fields.background, fields.web_search_options, fields.mcp_servers]):
        return False
    return fields.store is False or (request.endpoint is not Endpoint.RESPONSES and not fields.store)


class _Effects(msgspec.Struct):
    """The fields of a body that have effects upstream."""

    store: Any = None
    background: Any = None
    tools: Any = None
    functions: Any = None
    web_search_options: Any = None
    mcp_servers: Any = None


def _payer(request: Request) -> tuple[str, str | None]:
    """Return whose requests pay for words about a request: its tenant's key or user."""
    return request.scope.tenant, request.asker
