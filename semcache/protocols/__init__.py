"""The extension points: everything a plug-in author has to read.

Knows only the values of `types`. Under `tests/conformance/` are suites for embedders, indexes, stores, dialects,
backends, guards, strategies and eviction policies, which a new implementation joins with one line.
Invariant: implementations raise only errors of `semcache.errors` (an I/O plug-in wraps what it catches), and no method
here reads a clock or draws a random number: both are arguments.
"""

from semcache.protocols.entry_store import (
    EntryStore,
    KeyExpiryStore,
    KeyLimitStore,
    KeyStore,
    OutcomeLog,
    StoreLifecycle,
)
from semcache.protocols.match_decision import Categorizer, Guard, Judge, Threshold, Verifier
from semcache.protocols.operator_store import OperatorStore
from semcache.protocols.retention_policy import Eviction, Freshness
from semcache.protocols.store_content import ChangeFeed, Entries, Rejections, VectorBatch, Vectors, WordingStore
from semcache.protocols.store_learning import JudgementQueue, LabelStore, SavedStates
from semcache.protocols.upstream_backend import Backend, Outbound, Reply, WebSocket, WebSocketBackend, WebSocketTerms
from semcache.protocols.vector_search import Embedder, VectorIndex, longest_word, reads_english_alone
from semcache.protocols.wire_dialect import Assembler, Dialect

__all__ = [
    "Assembler",
    "Backend",
    "Categorizer",
    "ChangeFeed",
    "Dialect",
    "Embedder",
    "Entries",
    "EntryStore",
    "Eviction",
    "Freshness",
    "Guard",
    "Judge",
    "JudgementQueue",
    "KeyExpiryStore",
    "KeyLimitStore",
    "KeyStore",
    "LabelStore",
    "OperatorStore",
    "Outbound",
    "OutcomeLog",
    "Rejections",
    "Reply",
    "SavedStates",
    "StoreLifecycle",
    "Threshold",
    "VectorBatch",
    "VectorIndex",
    "Vectors",
    "Verifier",
    "WebSocket",
    "WebSocketBackend",
    "WebSocketTerms",
    "WordingStore",
    "longest_word",
    "reads_english_alone",
]
