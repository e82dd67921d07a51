"""A lookup: the neighbours it found, the opinions of guards and strategies on them, and what was decided.

Invariant: every value is frozen; a decision is a sum type, matched exhaustively with `assert_never`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from semcache.types.enumerations import Outcome, Why
from semcache.types.former_names import FormerName
from semcache.types.incoming_request import CacheKey, Request
from semcache.types.stored_entry import Card

if TYPE_CHECKING:
    from semcache.types.stored_entry import Vector


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds spent per stage of one request; a stage that did not run is 0."""

    key: float = 0.0
    embed: float = 0.0
    search: float = 0.0
    guard: float = 0.0
    store: float = 0.0
    upstream: float = 0.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entry near a query; `score` is the cosine similarity in [-1, 1]."""

    entry_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Conflict:
    """A guard's finding against two texts that share an answer. `detail` names the two readings, for logs and tests.

    A `veto` forbids serving; what is no veto is a doubt that lowers P(correct). A veto is `arguable` where so much of
    the wording differs that a guard may have misread it: a verifier that has read both texts may say otherwise.
    """

    guard: str
    detail: str
    veto: bool = True
    arguable: bool = False

    @property
    def final(self) -> bool:
        """True of a veto that no verifier may overrule."""
        return self.veto and not self.arguable


@dataclass(frozen=True, slots=True)
class Candidate:
    """A neighbour whose card is known, with what the guards found against it and the features of `features.NAMES`.

    `around` are the first of them, which tell of the neighbourhood and are known before any text is read.
    """

    card: Card
    score: float
    conflicts: tuple[Conflict, ...] = ()
    features: tuple[float, ...] = ()
    around: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A threshold's opinion of one candidate.

    `audit` is the probability with which the backend should be asked all the same, to learn from it; `verify` asks
    for a verifier's verdict on a candidate that is not served without one, save where the verifier does not read such
    texts and likeness `alone` is sure enough. `risk` is the 1 - P(correct) that such a verdict may leave, None: the
    target.
    """

    serve: bool
    p_correct: float
    audit: float = 0.0
    verify: bool = False
    why: Why = Why.BELOW_THRESHOLD
    risk: float | None = None
    alone: bool = False

    @property
    def sure(self) -> bool:
        """True if it is served, or would be if it needed no verifier's verdict: nothing likelier need be looked for."""
        return self.serve or self.alone


@dataclass(frozen=True, slots=True)
class Serve:
    """Replay entry `card.id`.

    `edit` is the kind of edit by which the wordings of both prompts are equal, "" for a hit that is not by wording.
    `word` is the P(yes) of the language model on whose verdict it is served, None where none was needed.
    """

    card: Card
    how: Literal[Outcome.EXACT, Outcome.SEMANTIC, Outcome.PLAN]
    score: float
    p_correct: float
    audit: bool = False
    chance: float = 0.0  # with which this answer was chosen, or passed over, for an audit
    features: tuple[float, ...] = ()
    stale: bool = False  # its time is over; it is served while the backend is asked anew
    edit: str = ""
    word: float | None = None

    @property
    def why(self) -> Why:
        """The reason for the outcome."""
        if self.word is not None:
            return Why.JUDGED
        return Why.WORDING if self.edit else Why(self.how.value)


@dataclass(frozen=True, slots=True)
class Verify:
    """Ask a verifier whether entry `card.id` answers the request; serve it if so, forward if not, or without a verdict.

    `chance` is the probability with which it is audited if it is served, `risk` the 1 - P(correct) that may be left
    then, None: the target. One whose time is over is served as `stale`. Where the verifier does not read such texts, it
    is served if likeness `alone` is sure enough. Where the verdict is not enough, `then` is asked about, None: nothing.
    """

    card: Card
    score: float
    p_correct: float
    features: tuple[float, ...] = ()
    chance: float = 0.0
    risk: float | None = None
    stale: bool = False
    alone: bool = False
    then: Verify | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """Ask the backend. `outcome` is MISS when the cache was consulted and BYPASS when it was not.

    `p_correct` is what the strategy gave `nearest`, None when it was not asked. `others` are further candidates whose
    answers are worth comparing with the backend's, of other answer classes than `nearest`.
    """

    why: Why
    outcome: Literal[Outcome.MISS, Outcome.BYPASS, Outcome.NEAR] = Outcome.MISS
    nearest: Candidate | None = None
    p_correct: float | None = None
    others: tuple[Candidate, ...] = ()


Decision: TypeAlias = Serve | Verify | Forward


@dataclass(frozen=True, slots=True)
class Lookup:
    """A request, the key it was looked up under, and what was decided.

    `key` and `partition` are None / b"" when the request was bypassed or could not be keyed. The vector is kept so that
    a later store does not embed twice. `verified` is what a verifier's verdict cost, None where nobody was asked.
    """

    request_id: str
    request: Request
    key: CacheKey | None
    category: str
    decision: Decision
    partition: bytes = b""
    vector: Vector | None = None
    timings: Timings = Timings()
    verified: float | None = None
    shelf = FormerName("partition")
