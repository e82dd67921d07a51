"""Opening a cache: its components are made and wired here, and filled from a store.

The composition root of the cache; decides nothing about requests.
Invariant: when `open_components` returns, every entry that was durable and unexpired can be found, and every label that
was durable is learned from; when it raises, nothing stays open.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from semcache.cache.asked_verdicts import Asking
from semcache.cache.common_parts import CommonParts
from semcache.cache.components import Components
from semcache.cache.conversation_lookup import ConversationLookup
from semcache.cache.decision_log import DecisionLog
from semcache.cache.disk_bound import DiskBound
from semcache.cache.entry_reader import EntryReader
from semcache.cache.exact_lookup import ExactLookup
from semcache.cache.judged_lookup import JudgedLookup
from semcache.cache.loading import fill, load_partitions, write_snapshot
from semcache.cache.maintenance import Anew, Maintenance, grace
from semcache.cache.neighbour_search import NeighbourSearch
from semcache.cache.opening_choices import Opening
from semcache.cache.placement import Embedding, Placement, categorizer_of
from semcache.cache.query import TermsMaker
from semcache.cache.quorum import Quorum
from semcache.cache.second_opinions import SecondOpinions
from semcache.cache.semantic_lookup import SemanticLookup
from semcache.cache.turn_chains import TurnChains
from semcache.cache.wider_search import WiderSearch
from semcache.cache.wording_lookup import WordingLookup
from semcache.cache.writing import EntryMaker, EntryWriter
from semcache.config.packs import Pack, load
from semcache.learning.changed_promises import LabelOrigins
from semcache.learning.feedback import Feedback
from semcache.learning.judged_comparisons import JudgedComparisons
from semcache.learning.judges import judge_id, open_judge
from semcache.learning.label_log import LabelLog
from semcache.learning.learner import Learner
from semcache.learning.missed_neighbours import MissedNeighbours
from semcache.learning.restored_log import LearningTerms, restored_log
from semcache.learning.served_hits import ServedHits
from semcache.learning.timed_judge import TimedJudge
from semcache.learning.verdict_effects import VerdictEffects
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.matching.verification import Verifiers
from semcache.models.verifiers import verifiers_for_library
from semcache.protocols import Categorizer, Embedder, Judge, OperatorStore, reads_english_alone
from semcache.request.wording import Edit, digest_of, warm
from semcache.retention.answer_worth import worth_in
from semcache.retention.eviction import POLICIES, shared_capacity
from semcache.runtime.bill import Bill, BilledFor
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.runtime.memo_scopes import MemoScopes
from semcache.runtime.task_set import TaskSet
from semcache.runtime.telemetry import Meter
from semcache.storage.accounting import overhead
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.event_log import EventLog
from semcache.storage.hot_entries import HotEntries
from semcache.storage.indexes.owner import IndexOwner
from semcache.storage.live_entries import LiveEntries
from semcache.storage.price_file import read_own_prices
from semcache.storage.prices import Prices
from semcache.types import Change

_LATEST = 1.5  # of its own time, in which a judge has to say so


async def open_components(opening: Opening) -> Components:
    """Open a cache and start its background work. Raises ConfigError, StoreError or EmbedError."""
    async with AsyncExitStack() as closing:
        for backend in opening.owned:
            closing.push_async_callback(backend.close)
        components = await _wired(await _opened(opening, closing), closing)
    components.event_log.start()
    components.learner.start()
    components.maintenance.start()
    components.disk.start()
    return components


class _KeptEntries(NamedTuple):
    """The entries that the store keeps, the last change that they show, and what reads all of them again."""

    live: LiveEntries
    last: Change | None
    anew: Anew


class _Opened(NamedTuple):
    """The parts that are opened first, which the others are wired to."""

    opening: Opening
    pack: Pack
    common: CommonParts
    prices: Prices
    judge: Judge
    categorizer: Categorizer
    kept: _KeptEntries
    quorum: Quorum
    faults: GuardedCalls
    entries: EntryReader
    verifiers: Verifiers
    log: LabelLog
    memos: MemoScopes


class _Learning(NamedTuple):
    """The parts that ask for verdicts and learn from answers."""

    judged: JudgedLookup
    learner: Learner


class _Lookups(NamedTuple):
    """The parts that look a request up: by identity, by wording and by meaning."""

    exact: ExactLookup
    wordings: WordingLookup
    semantic: SemanticLookup


async def _opened(opening: Opening, closing: AsyncExitStack) -> _Opened:
    """Open the pack, the store and the models, and read what the store keeps."""
    pack = opening.policies if isinstance(opening.policies, Pack) else load(os.fspath(opening.policies))
    if opening.target is not None:
        pack = pack.with_target(opening.target)
    own = opening.prices if isinstance(opening.prices, Mapping) else read_own_prices(opening.prices)
    prices = Prices(own, pack.models, clock=opening.clock)
    common = opening.common or CommonParts.of(opening.data, opening.folder, opening.embedder, opening.seal_keys)
    common.hold()
    closing.push_async_callback(common.release)
    judge = _judge(opening, common.embedder)
    await common.open()
    categorizer = await categorizer_of(pack, common.embedder)
    kept = await _kept_entries(opening, pack, common, closing)
    quorum = Quorum(pack, kept.live.registry, common.store.salt)
    faults = GuardedCalls(common.meter, patience=opening.timeout)
    entries = EntryReader(common.store, kept.live, faults, common.meter)
    verifiers = _verifiers(opening, pack, entries, common.meter)
    closing.push_async_callback(verifiers.close)
    log = await _restored_labels(opening, pack, common, judge)
    memos = MemoScopes(opening.share_memos)
    return _Opened(
        opening, pack, common, prices, judge, categorizer, kept, quorum, faults, entries, verifiers, log, memos
    )


async def _wired(opened: _Opened, closing: AsyncExitStack) -> Components:
    """Make the other parts, and wire all of them together; what is to be closed leaves `closing` with them."""
    opening, pack, common, log = opened.opening, opened.pack, opened.common, opened.log
    store, embedder, meter, live, clock = common.store, common.embedder, common.meter, opened.kept.live, opening.clock
    rng, background = random.Random(opening.seed), TaskSet(meter, "cache")
    maker = _maker(opened)
    event_log = EventLog(store, meter, sink=opening.sink)
    decisions = _decision_log(opened)
    event_log.attach(decisions.flush)
    profitability = ProfitabilityMonitor(pack)
    judged, learner = _learning(opened, event_log, profitability, background, rng)
    lookups = _lookups(opened, profitability, rng)
    disk = DiskBound(store, live, meter, most=opening.max_bytes, grace=grace(pack), clock=clock)
    later = background.start if opening.shared else None
    feedback = Feedback(store, live, event_log, learner, meter, clock=clock, later=later, undo=opening.undo)
    return Components(
        common=common,
        pack=pack,
        store=store,
        embedder=embedder,
        live=live,
        categorizer=opened.categorizer,
        strategy=log.strategy,
        freshness=log.freshness,
        judge=opened.judge,
        verifiers=opened.verifiers,
        prices=opened.prices,
        profitability=profitability,
        event_log=event_log,
        decisions=decisions,
        meter=meter,
        faults=opened.faults,
        exact=lookups.exact,
        wordings=lookups.wordings,
        judged=judged,
        lookup=lookups.semantic,
        quorum=opened.quorum,
        entries=opened.entries,
        writer=EntryWriter(store, live, maker, learner, opened.faults, meter, worth_in(pack)),
        learner=learner,
        feedback=feedback,
        maintenance=await _maintenance(opened, learner, event_log, disk, closing),
        disk=disk,
        background=background,
        clock=clock,
        rng=rng,
        new_id=maker.new_id,
        shared=opening.shared,
        undo=opening.undo,
        memos=opened.memos,
        closing=closing.pop_all(),
    )


def _maker(opened: _Opened) -> EntryMaker:
    store, embedder = opened.common.store, opened.common.embedder
    return EntryMaker(
        opened.pack,
        opened.log.freshness,
        opened.prices,
        embedder_id=embedder.id,
        clock=opened.opening.clock,
        # Not from the seed: two workers of one seed must not make the same ids.
        new_id=lambda: secrets.randbits(63),
        askers=opened.quorum.askers_of,
        wording=partial(digest_of, salt=store.salt),
    )


def _decision_log(opened: _Opened) -> DecisionLog:
    opening, store = opened.opening, opened.common.store
    records = store if isinstance(store, OperatorStore) else None
    return DecisionLog(records, opened.log.strategy, opened.pack, terms=opening.decisions, clock=opening.clock)


def _learning(
    opened: _Opened,
    event_log: EventLog,
    profitability: ProfitabilityMonitor,
    background: TaskSet,
    rng: random.Random,
) -> _Learning:
    opening, pack, common, log = opened.opening, opened.pack, opened.common, opened.log
    store, meter, live, clock = common.store, common.meter, opened.kept.live, opening.clock

    def paid(bill: Bill, billed_for: BilledFor) -> None:
        event_log.note(overhead(bill, billed_for, opened.prices, at=clock()))

    effects = VerdictEffects(store, live, profitability, meter)
    asking = Asking(log.judged, opened.verifiers, opened.prices, meter, paid, background.start, *opening.verdicts)
    search = WiderSearch(pack, live, opened.quorum, embedder_id=common.embedder.id, salt=store.salt)
    judged = JudgedLookup(pack, log.strategy, asking, search, effects, log, clock=clock, draw=rng.random)
    second = SecondOpinions(judged.asked, judged.modes, opening.second_backend, patience=opening.judge_timeout)
    timed = TimedJudge(
        opened.judge,
        meter,
        ended=lambda: event_log.noted,
        clock=clock,
        patience=_LATEST * opening.judge_timeout,
        paid=paid,
        second=second,
    )
    missed = MissedNeighbours(log, live.registry, opened.memos, opened.verifiers.read)
    comparisons = JudgedComparisons(log, timed, effects, live, meter, memos=opened.memos, clock=clock)
    served = ServedHits(log, meter, clock=clock)
    return _Learning(judged, Learner(store, log, missed, comparisons, served, meter, clock=clock))


async def _maintenance(
    opened: _Opened, learner: Learner, event_log: EventLog, disk: DiskBound, closing: AsyncExitStack
) -> Maintenance:
    """Begin to follow the store where its entries were read; at the end, the index is written last."""
    opening, common, kept = opened.opening, opened.common, opened.kept
    embedder_id, strategy = common.embedder.id, opened.log.strategy
    maintenance = Maintenance(
        common.store,
        kept.live,
        learner,
        strategy,
        opened.pack,
        common.meter,
        embedder_id=embedder_id,
        clock=opening.clock,
    )
    maintenance.attach(sweep=disk.keep)
    maintenance.begin(kept.last, kept.anew)
    await maintenance.gauge()
    if (snapshot := _snapshot(opening)) is not None and not opening.looks:
        closing.push_async_callback(
            lambda: write_snapshot(snapshot, kept.live.index, embedder_id=embedder_id, head=maintenance.seen)
        )
    closing.push_async_callback(event_log.close)
    closing.push_async_callback(learner.close)
    closing.push_async_callback(maintenance.close)
    closing.push_async_callback(disk.close)
    return maintenance


def _lookups(opened: _Opened, profitability: ProfitabilityMonitor, rng: random.Random) -> _Lookups:
    pack, log, quorum, live = opened.pack, opened.log, opened.quorum, opened.kept.live
    salt, embedder = opened.common.store.salt, opened.common.embedder
    placement = Placement(pack, opened.categorizer, Embedding(embedder, opened.faults), salt)
    near = NeighbourSearch(live, opened.faults)
    turns = TurnChains(placement.embedding, log.strategy, log.wordings, opened.verifiers)
    terms = TermsMaker(pack, live.registry, clock=opened.opening.clock, draw=rng.random)
    conversations = ConversationLookup(placement, near, turns, log.wordings, quorum, terms)
    return _Lookups(
        ExactLookup(live.registry, quorum, terms),
        WordingLookup(pack, live, log.wordings, quorum, terms, embedder_id=embedder.id, salt=salt),
        SemanticLookup(placement, log.strategy, profitability, near, conversations, quorum, terms),
    )


def _snapshot(opening: Opening) -> Path | None:
    """Where the index is written at the end; None for a cache without a folder."""
    return None if opening.folder is None else opening.folder / "index"


async def _kept_entries(opening: Opening, pack: Pack, common: CommonParts, closing: AsyncExitStack) -> _KeptEntries:
    """Read the store's entries, helped by the snapshot of the index. Raises StoreError."""
    store, embedder = common.store, common.embedder
    partitions = await load_partitions(_snapshot(opening), embedder, store)
    registry = EntryRegistry(shared_capacity.quotas(pack, lambda category: POLICIES[pack.of(category).eviction]()))
    index = IndexOwner(partitions)
    closing.push_async_callback(index.close)
    live = LiveEntries(store, registry, HotEntries(opening.hot_bytes), index, salt=store.salt)
    anew = partial(fill, live, store, pack, embedder_id=embedder.id)
    return _KeptEntries(live, await anew(held=partitions.places(), now=opening.clock()), anew)


async def _restored_labels(opening: Opening, pack: Pack, common: CommonParts, judge: Judge) -> LabelLog:
    """Have all learners know the labels of the store. Raises StoreError."""
    embedder = common.embedder
    judged_by = judge_id(judge, opening.judge_model, opening.noise)
    terms = LearningTerms(
        pack=pack,
        origins=LabelOrigins(embedder.id, judged_by, opening.verdicts.model or None),
        noise=opening.noise,
        priors=common.priors,
        grants=1.0 / opening.workers,
        english=reads_english_alone(embedder),
    )
    log = await restored_log(common.store, terms, common.meter)
    if any(one.semantic or Edit.TYPO in log.wordings.kinds(name) for name, one in pack.categories.items()):
        await asyncio.to_thread(warm)
    return log


def _judge(opening: Opening, embedder: Embedder) -> Judge:
    if not isinstance(opening.judge, str):
        return opening.judge
    return open_judge(
        opening.judge,
        embedder=embedder,
        verifier=None if isinstance(opening.verifier, str) else opening.verifier,
        backend=opening.judge_backend,
        model=opening.judge_model,
        timeout=opening.judge_timeout,
    )


def _verifiers(opening: Opening, pack: Pack, entries: EntryReader, meter: Meter) -> Verifiers:
    if opening.verifiers is not None:
        return opening.verifiers(pack, entries.read, meter)
    return verifiers_for_library(opening.verifier, pack, opening.folder, entries.read, meter=meter)
