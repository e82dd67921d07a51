"""The components of a cache: `opening` wires them once, the modules of `cache` use them, and they close together.

Invariant: the record is complete as soon as it exists, and `closing` closes every component in the reverse order of
opening.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from semcache.cache.common_parts import CommonParts
from semcache.cache.decision_log import DecisionLog
from semcache.cache.disk_bound import DiskBound
from semcache.cache.entry_reader import EntryReader
from semcache.cache.exact_lookup import ExactLookup
from semcache.cache.judged_lookup import JudgedLookup
from semcache.cache.maintenance import Maintenance
from semcache.cache.quorum import Quorum
from semcache.cache.semantic_lookup import SemanticLookup
from semcache.cache.wording_lookup import WordingLookup
from semcache.cache.writing import EntryWriter
from semcache.config.packs import Pack
from semcache.learning.feedback import Feedback
from semcache.learning.learner import Learner
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.matching.verification import Verifiers
from semcache.protocols import Categorizer, Embedder, EntryStore, Freshness, Judge, Threshold
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.runtime.memo_scopes import MemoScopes
from semcache.runtime.task_set import TaskSet
from semcache.runtime.telemetry import Meter
from semcache.storage.event_log import EventLog
from semcache.storage.live_entries import LiveEntries
from semcache.storage.prices import Prices


@dataclass(frozen=True, slots=True)
class Components:
    """All parts of a cache. `shared`: other workers serve from the same store.

    `undo` is how many seconds deletions can be undone.
    """

    common: CommonParts
    pack: Pack
    store: EntryStore
    embedder: Embedder
    live: LiveEntries
    categorizer: Categorizer
    strategy: Threshold
    freshness: Freshness
    judge: Judge
    verifiers: Verifiers
    prices: Prices
    profitability: ProfitabilityMonitor
    event_log: EventLog
    decisions: DecisionLog
    meter: Meter
    faults: GuardedCalls
    exact: ExactLookup
    wordings: WordingLookup
    judged: JudgedLookup
    lookup: SemanticLookup
    quorum: Quorum
    entries: EntryReader
    writer: EntryWriter
    learner: Learner
    feedback: Feedback
    maintenance: Maintenance
    disk: DiskBound
    background: TaskSet
    clock: Callable[[], float]
    rng: random.Random
    new_id: Callable[[], int]
    shared: bool
    undo: float
    memos: MemoScopes
    closing: AsyncExitStack
