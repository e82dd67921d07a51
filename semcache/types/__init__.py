"""The values that flow through the cache, from the bytes of a request to the row that records its outcome.

Knows nothing of HTTP, storage, clocks or models, and imports nothing of this package.
Invariant: every value is frozen; a decision is a sum type, matched exhaustively with `assert_never`.

Units, once for the whole package: scores are cosine similarities in [-1, 1], higher is closer; probabilities are
in [0, 1]; times are Unix seconds; durations are seconds; money is US dollars.
"""

from typing import TYPE_CHECKING

from semcache.types.answer_outcome import Admission, Assembled, Discard, Recorded, Store
from semcache.types.enumerations import Endpoint, Outcome, Why
from semcache.types.evidence import (
    JUDGES,
    TWO_SIDED_95,
    ClassStanding,
    Comparison,
    Interval,
    Judgement,
    Label,
    LabelSource,
    Standing,
    State,
    wilson,
)
from semcache.types.incoming_request import CacheKey, Controls, Frame, Request, Scope, Traits
from semcache.types.lookup_decision import (
    Candidate,
    Conflict,
    Decision,
    Forward,
    Lookup,
    Neighbour,
    Serve,
    Timings,
    Verdict,
    Verify,
)
from semcache.types.operator_record import AdminAction, DecisionRecord, Deletion, expiry_action
from semcache.types.store_row import ALL_OTHERS, ApiKey, Change, ChangeKind, Rejection, Selector
from semcache.types.stored_entry import Card, Entry, Staleness, Usage, Volatility, parse_id, public_id

if TYPE_CHECKING:
    # Arrays are for annotations alone: importing this package does not import numpy.
    from semcache.types.stored_entry import Matrix as Matrix
    from semcache.types.stored_entry import Vector as Vector

__all__ = [
    "ALL_OTHERS",
    "JUDGES",
    "TWO_SIDED_95",
    "AdminAction",
    "Admission",
    "ApiKey",
    "Assembled",
    "CacheKey",
    "Candidate",
    "Card",
    "Change",
    "ChangeKind",
    "ClassStanding",
    "Comparison",
    "Conflict",
    "Controls",
    "Decision",
    "DecisionRecord",
    "Deletion",
    "Discard",
    "Endpoint",
    "Entry",
    "Forward",
    "Frame",
    "Interval",
    "Judgement",
    "Label",
    "LabelSource",
    "Lookup",
    "Neighbour",
    "Outcome",
    "Recorded",
    "Rejection",
    "Request",
    "Scope",
    "Selector",
    "Serve",
    "Staleness",
    "Standing",
    "State",
    "Store",
    "Timings",
    "Traits",
    "Usage",
    "Verdict",
    "Verify",
    "Volatility",
    "Why",
    "expiry_action",
    "parse_id",
    "public_id",
    "wilson",
]
