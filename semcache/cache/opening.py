"""Opening a cache: its components are made and wired here, and filled from a store.

The composition root of the cache; decides nothing about requests.
Invariant: when `open_components` returns, every entry that was durable and unexpired can be found, and every label that
was durable is learned from; when it raises, nothing stays open.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from semcache.cache.asked_words import Asking
from semcache.cache.common_parts import CommonParts
from semcache.cache.components import Components
from semcache.cache.conversation_lookup import ConversationLookup
from semcache.cache.decision_log import EVERY_DECISION, DecisionLog, DecisionTerms
from semcache.cache.exact_lookup import ExactLookup
from semcache.cache.judged_lookup import JudgedLookup
from semcache.cache.loading import fill, load_partitions, write_snapshot
from semcache.cache.maintenance import Maintenance
from semcache.cache.neighbour_search import NeighbourSearch
from semcache.cache.placement import Embedding, Placement, categorizer_of
from semcache.cache.quorum import Quorum
from semcache.cache.semantic_lookup import SemanticLookup
from semcache.cache.turn_chains import TurnChains
from semcache.cache.wider_search import WiderSearch
from semcache.cache.wording_lookup import WordingLookup
from semcache.cache.writing import EntryMaker, EntryWriter
from semcache.config.pack_schema import VerdictMode
from semcache.config.packs import Pack, load
from semcache.errors import ConfigError
from semcache.learning.changed_promises import LabelOrigins
from semcache.learning.feedback import Feedback
from semcache.learning.judges import asks, judge_id, open_judge
from semcache.learning.label_log import LabelLog, LearningTiers
from semcache.learning.learner import Learner
from semcache.learning.timed_judge import TimedJudge
from semcache.learning.verdicts import Verdicts
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.matching.strategies import ByCategory
from semcache.matching.verification import Verifiers
from semcache.matching.wording_tier import WordingTier
from semcache.models.installed import spec_of
from semcache.models.verifiers import backend_for, may_ask, open_verifiers, verifiers_for_library
from semcache.protocols import Backend, Embedder, Judge, OperatorStore, Verifier, reads_english_alone
from semcache.request.wording import Edit, digest_of, warm
from semcache.retention.answer_worth import worth_in
from semcache.retention.eviction import POLICIES, shared_capacity
from semcache.retention.freshness import LearnedFreshness
from semcache.runtime.bill import Bill, BilledFor
from semcache.runtime.guarded_calls import PATIENCE, GuardedCalls
from semcache.runtime.task_set import TaskSet
from semcache.runtime.telemetry import Meter
from semcache.storage.accounting import overhead
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.event_log import EventLog
from semcache.storage.hot_entries import HotEntries
from semcache.storage.indexes.owner import IndexOwner
from semcache.storage.live_entries import LiveEntries
from semcache.storage.prices import Prices, own_prices

if TYPE_CHECKING:
    from semcache.config.settings import Settings

__all__ = ["CacheOptions", "Opening", "open_components", "open_from", "read_prices"]


class WordTerms(NamedTuple):
    """When and by which `model` a language model is asked for its word, for which `share` of upstream spend.

    None is the usual share of each mode. The library spends nothing upstream that a share could be taken of.
    """

    mode: VerdictMode = "off"
    model: str | None = None
    share: float | None = float("inf")
    opted_out: tuple[str, ...] = ()


_NO_WORDS = WordTerms()


class CacheOptions(TypedDict, total=False):
    """The options of a library user who opens a cache; each may be left out.

    `policies` names a pack or a folder of packs. `target` is the error per hit to keep, in (0, 1) (default: the
    pack's). `judge` compares cached answers with fresh ones: "exact", "normalised", "verifier" (by embedding, and in
    doubt by your own `verifier`), "llm" (asks `judge_model` at `judge_backend`), or your own judge. `verifier` also
    decides uncertain candidates while a caller waits, in categories whose pack says so; the default is the local model,
    "model". `seed` makes every random choice reproducible. `embedder` is an embedder, which the cache closes, or its
    name. A request waits `timeout` seconds at most for the store, the index or the embedder, and is then a miss.
    `clock` gives Unix time.
    """

    policies: str
    target: float | None
    judge: str | Judge
    seed: int | None
    embedder: str | Embedder
    verifier: Verifier | Literal["model", "off"]
    judge_backend: Backend | None
    judge_model: str | None
    timeout: float
    clock: Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Opening:
    """All choices about a cache before it is opened.

    `data` is a folder or a store URL; the fields of `CacheOptions` have the same meaning here. `verifiers` makes
    verifiers in place of `verifier`. `noise` is how often the judge errs. `words` says when a language model is asked
    for its word, if the pack does not. `shared`: other workers serve from the same store, and `workers` is how many
    share the grant of first answers. `sink` takes log lines, `hot_bytes` bounds the answers in memory, and `owned`
    backends are closed with the cache. `decisions` says how many decisions are recorded, `undo` for how many seconds a
    deletion can be undone; with `share_memos` tenants share parsed and embedded texts. `common` are the parts of an
    open cache, for one beside it.
    """

    data: str
    policies: str = "default"
    target: float | None = None
    judge: str | Judge = "exact"
    seed: int | None = None
    embedder: str | Embedder = "default"
    verifier: Verifier | Literal["model", "off"] = "model"
    verifiers: Callable[[Pack, Meter], Verifiers] | None = None
    judge_backend: Backend | None = None
    judge_model: str | None = None
    timeout: float = PATIENCE
    clock: Callable[[], float] = time.time
    hot_bytes: int = 256 << 20
    seal_keys: str | None = None
    prices: Path | None = None
    sink: Callable[[bytes], object] | None = None
    noise: LabelNoise = FAITHFUL
    words: WordTerms = _NO_WORDS
    shared: bool = False
    workers: int = 1
    owned: tuple[Backend, ...] = ()
    decisions: DecisionTerms = EVERY_DECISION
    undo: float = 86400.0
    share_memos: bool = False
    common: CommonParts | None = None

    def __post_init__(self) -> None:
        if self.target is not None and not 0.0 < self.target < 1.0:
            raise ConfigError(f"target={self.target}: the error per hit is a rate between 0 and 1, such as 0.01")
        if not 0.0 < self.timeout < float("inf"):
            raise ConfigError(f"timeout={self.timeout}: the time to wait is in seconds and above 0, such as 2.0")

    @property
    def folder(self) -> Path | None:
        """The data folder, None where `data` is a URL."""
        return None if "://" in self.data else Path(self.data)


async def open_components(opening: Opening) -> Components:
    """Open a cache and start its background work. Raises ConfigError, StoreError or EmbedError."""
    async with AsyncExitStack() as closing:
        for backend in opening.owned:
            closing.push_async_callback(backend.close)
        pack = load(opening.policies)
        if opening.target is not None:
            pack = pack.with_target(opening.target)
        folder, clock = opening.folder, opening.clock
        snapshot = None if folder is None else folder / "index"
        prices = read_prices(opening.prices, clock=clock).naming(pack.models)
        common = opening.common or CommonParts.of(opening.data, folder, opening.embedder, opening.seal_keys)
        store, embedder, priors, meter = common.store, common.embedder, common.priors, common.meter
        common.hold()
        closing.push_async_callback(common.release)
        judge = _judge(opening, embedder)
        await common.open()
        categorizer = await categorizer_of(pack, embedder)
        verifiers = _verifiers(opening, pack, meter)
        closing.push_async_callback(verifiers.close)
        partitions = await load_partitions(snapshot, embedder, store)
        index = IndexOwner(partitions)
        closing.push_async_callback(index.close)
        registry = EntryRegistry(shared_capacity.quotas(pack, lambda category: POLICIES[pack.of(category).eviction]()))
        quorum = Quorum(pack, registry, store.salt)
        live = LiveEntries(store, registry, HotEntries(opening.hot_bytes), index, salt=store.salt)
        anew = partial(fill, live, store, pack, embedder_id=embedder.id)
        last = await anew(held=partitions.ids(), now=clock())

        def strategy() -> ByCategory:
            grants, english = 1.0 / opening.workers, reads_english_alone(embedder)
            return ByCategory(pack, noise=opening.noise, priors=priors, grants=grants, english=english)

        freshness = LearnedFreshness(pack, embedder_id=embedder.id)
        wordings = WordingTier(pack)
        if any(one.semantic or Edit.TYPO in wordings.kinds(name) for name, one in pack.categories.items()):
            await asyncio.to_thread(warm)
        tiers = LearningTiers(wordings, JudgedTier(pack, noise=opening.noise, grants=1.0 / opening.workers))
        judged_by = judge_id(judge, opening.judge_model, opening.noise)
        origins = LabelOrigins(embedder.id, judged_by, opening.words.model or None)
        log = LabelLog(store, strategy(), freshness, tiers, pack, meter, origins=origins)
        await log.restore(strategy)

        rng, background = random.Random(opening.seed), TaskSet(meter, "cache")
        faults = GuardedCalls(meter, patience=opening.timeout)
        # Not from `rng`: two workers of one seed must not make the same ids.
        maker = EntryMaker(
            pack,
            freshness,
            prices,
            embedder_id=embedder.id,
            clock=clock,
            new_id=lambda: secrets.randbits(63),
            askers=quorum.askers_of,
            wording=partial(digest_of, salt=store.salt),
        )
        event_log = EventLog(store, meter, sink=opening.sink)
        kept = store if isinstance(store, OperatorStore) else None
        decisions = DecisionLog(kept, log.strategy, pack, terms=opening.decisions, clock=clock)
        event_log.attach(decisions.flush)
        profitability = ProfitabilityMonitor(pack)

        def paid(bill: Bill, billed_for: BilledFor) -> None:
            event_log.note(overhead(bill, billed_for, prices, at=clock()))

        timed = TimedJudge(judge, meter, ended=lambda: event_log.noted, clock=clock, paid=paid)
        verdicts = Verdicts(store, live, profitability, meter)
        asking = Asking(tiers.judged, verifiers, prices, meter, paid, background.start, *opening.words)
        search = WiderSearch(pack, live, quorum, embedder_id=embedder.id, salt=store.salt)
        judged = JudgedLookup(pack, log.strategy, asking, search, verdicts, log, clock=clock, draw=rng.random)
        learner = Learner(store, log, timed, verdicts, live, meter, clock=clock, read=verifiers.read)
        maintenance = Maintenance(store, live, learner, log.strategy, pack, meter, embedder_id=embedder.id, clock=clock)
        maintenance.begin(last, anew)
        await maintenance.gauge()
        if snapshot is not None:
            closing.push_async_callback(
                lambda: write_snapshot(snapshot, index, embedder_id=embedder.id, head=maintenance.seen)
            )
        closing.push_async_callback(event_log.close)
        closing.push_async_callback(learner.close)
        closing.push_async_callback(maintenance.close)
        placement = Placement(pack, categorizer, Embedding(embedder, faults), store.salt)
        near = NeighbourSearch(live, faults)
        turns = TurnChains(placement.embedding, log.strategy, wordings, verifiers)
        conversations = ConversationLookup(placement, near, turns, wordings, quorum, clock=clock, draw=rng.random)
        components = Components(
            common=common,
            pack=pack,
            store=store,
            embedder=embedder,
            live=live,
            categorizer=categorizer,
            strategy=log.strategy,
            freshness=freshness,
            judge=judge,
            verifiers=verifiers,
            prices=prices,
            profitability=profitability,
            event_log=event_log,
            decisions=decisions,
            meter=meter,
            faults=faults,
            exact=ExactLookup(pack, registry, quorum, clock=clock),
            wordings=WordingLookup(
                pack, live, wordings, quorum, embedder_id=embedder.id, salt=store.salt, clock=clock, draw=rng.random
            ),
            judged=judged,
            lookup=SemanticLookup(
                placement, log.strategy, profitability, near, conversations, quorum, clock=clock, draw=rng.random
            ),
            quorum=quorum,
            writer=EntryWriter(store, live, maker, learner, faults, meter, worth_in(pack)),
            learner=learner,
            feedback=Feedback(
                store,
                live,
                event_log,
                learner,
                meter,
                clock=clock,
                later=background.start if opening.shared else None,
                undo=opening.undo,
            ),
            maintenance=maintenance,
            background=background,
            clock=clock,
            rng=rng,
            new_id=maker.new_id,
            shared=opening.shared,
            undo=opening.undo,
            share_memos=opening.share_memos,
            closing=closing.pop_all(),
        )
    event_log.start()
    learner.start()
    maintenance.start()
    return components


async def open_from(
    settings: Settings,
    *,
    clock: Callable[[], float],
    sink: Callable[[bytes], object] | None = None,
    judge_backend: Backend | None = None,
    upstream: Backend | None = None,
    common: CommonParts | None = None,
) -> Components:
    """Open a cache as the settings say. Raises SemcacheError.

    The judge "llm" asks `judge_backend`, or a backend of its own without one; a judge of a plug-in gets the same.
    Verifiers are opened if there is an `upstream`, which they may ask. `common` are the parts of an open cache.
    """
    keys = settings.store.seal_keys

    def verifiers(pack: Pack, meter: Meter) -> Verifiers:
        if upstream is None:
            return Verifiers({}, meter=meter)
        return open_verifiers(settings, pack, upstream, meter=meter)

    opening = Opening(
        data=settings.store_url if settings.store.url else str(settings.data),
        policies=settings.policies,
        judge=settings.cache.judge,
        embedder=spec_of(settings.embedder, settings.data),
        clock=clock,
        seed=settings.cache.seed,
        target=settings.cache.target,
        hot_bytes=settings.cache.hot_bytes,
        timeout=settings.cache.timeout,
        seal_keys=keys.get_secret_value() if keys else None,
        prices=settings.prices,
        sink=sink,
        verifiers=verifiers,
        judge_backend=judge_backend,
        judge_model=settings.judge.model,
        noise=LabelNoise(settings.judge.false_yes, settings.judge.false_no),
        words=_words(settings, upstream),
        shared=settings.server.workers > 1 or settings.store_url.startswith("postgresql"),
        workers=settings.server.workers,
        decisions=DecisionTerms(**settings.decisions.model_dump()),
        undo=settings.store.undo,
        share_memos=settings.cache.share_memos,
        common=common,
    )
    if asks(settings.cache.judge) and judge_backend is None:
        own = backend_for(settings, settings.judge, None, timeout=settings.judge.timeout)
        opening = replace(opening, judge_backend=own, owned=(own,))
    return await open_components(opening)


def _words(settings: Settings, upstream: Backend | None) -> WordTerms:
    """Return the terms of asking a language model; `auto` is `after` where the server may ask its upstream."""
    chosen = settings.verdicts
    mode = chosen.mode
    if mode == "auto":
        mode = "after" if upstream is not None and may_ask(settings) else "off"
    return WordTerms(mode, chosen.model or settings.verifier.model, chosen.budget, chosen.opted_out)


def read_prices(path: Path | None, *, clock: Callable[[], float] = time.time) -> Prices:
    """Return list prices with those of a YAML file, if there is one, before them, as `prices.own_prices` reads it.

    Raises ConfigError.
    """
    if path is None:
        return Prices(clock=clock)
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: the file of prices cannot be read: {error}") from error
    return Prices(own_prices(table, path), clock=clock)


def _judge(opening: Opening, embedder: Embedder) -> Judge:
    if not isinstance(opening.judge, str):
        return opening.judge
    return open_judge(
        opening.judge,
        embedder=embedder,
        verifier=None if isinstance(opening.verifier, str) else opening.verifier,
        backend=opening.judge_backend,
        model=opening.judge_model,
    )


def _verifiers(opening: Opening, pack: Pack, meter: Meter) -> Verifiers:
    if opening.verifiers is not None:
        return opening.verifiers(pack, meter)
    return verifiers_for_library(opening.verifier, pack, opening.folder, meter=meter)
