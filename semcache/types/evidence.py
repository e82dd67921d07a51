"""Evidence of a category: labels, pending judgements, and where a strategy stands.

Knows nothing of how labels come about or what is made of them, and of judges only their names. Invariant: every value
is frozen, and none holds a prompt or an answer: entries are named by their ids, requests by their digests.

Units as in `types`: scores are cosine similarities, probabilities and rates lie in [0, 1], times are Unix seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

JUDGES = ("exact", "normalised", "verifier", "llm")  # those that are built in, by the names that settings use
JUDGE_PATIENCE = 20.0  # seconds that a comparison may take its judge
TWO_SIDED_95 = 1.959963984540054  # standard deviations of a normal variable


class LabelSource(StrEnum):
    """The ways in which a label comes about."""

    FEEDBACK = "feedback"  # a person said so
    AUDIT = "audit"  # the backend was asked although the answer had been served
    MISS = "miss"  # the backend was asked because nothing was served, and its answer was compared with a neighbour's
    VERDICT = "verdict"  # a language model was asked if the answer fits, and no fresh answer was there to tell
    REASKED = (
        "reasked"  # the backend was asked the very same again: it says how fast answers change, nothing of likeness
    )
    UNDECIDED = "undecided"  # an audit that no verdict came of: no more is known than that the answer was served
    WITHDRAWN = "withdrawn"  # a person took back what a label of feedback with the same entry and request says


class State(StrEnum):
    """The degrees to which a strategy's promise for a category is backed by evidence."""

    FIXED = "fixed"  # the strategy learns nothing
    PROVISIONAL = "provisional"  # by what shipped with the pack, with a margin, under dense audits
    CERTIFIED = "certified"  # by audits of this traffic
    CLOSED = "closed"  # audits have shown too many errors: nothing is served by meaning
    INFEASIBLE = "infeasible"  # no level that serves anything can meet the target on this traffic


@dataclass(frozen=True, slots=True)
class Label:
    """One row of the label log: an entry's answer is right for a request, or wrong.

    `answer` is the answer class of the entry (the id of its first entry), `exact` the digest of the request,
    `features` and `p_correct` are those at the time of the decision. `chance` is the probability with which a request
    like this was chosen to be labelled: 1 for a miss, the audit rate for an audit, 0 for feedback, which is no sample.
    `origin` is a mark of the promise under which an audited hit was served, or of a report that several workers have
    labelled, which counts once; older labels have none.

    A label that is UNDECIDED teaches nothing about its pair, and its `correct` means nothing; a certificate takes its
    answer for a wrong one.

    A label that is REASKED says whether the backend still gave the same answer: its `features` are how old the answer
    was, in seconds, and the place of the prompt's volatility in `Volatility`.
    """

    at: float
    category: str
    tenant: str
    entry_id: int
    answer: int
    exact: bytes
    score: float
    features: tuple[float, ...]
    p_correct: float
    correct: bool
    source: LabelSource
    served: bool
    chance: float = 1.0
    seq: int = 0  # place in the log; 0 before it has one
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A comparison that a judge still owes, of the answers of two entries.

    The question is: is the answer of `label.entry_id` right, where `fresh_id` was answered? `label.correct` means
    nothing yet. Both entries live in the store; if one is gone no verdict can be given, and an audit stays undecided.
    `model` is asked what the judge cannot tell, "" for none.
    """

    id: int
    fresh_id: int
    label: Label
    tries: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The texts that a judge is shown: the request, the cached prompt and answer, and the fresh answer."""

    question: str
    cached_question: str
    cached: str
    fresh: str


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with a two-sided 95% confidence interval."""

    estimate: float
    low: float
    high: float


def wilson(count: float, of: float) -> Interval:
    """The share `count / of` with its score interval (Wilson, JASA 22, 1927); [0, 1] when nothing was counted."""
    if of <= 0:
        return Interval(0.0, 0.0, 1.0)
    share, spread = count / of, TWO_SIDED_95 * TWO_SIDED_95 / of
    middle = (share + spread / 2) / (1 + spread)
    half = TWO_SIDED_95 / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    # At either end the interval closes on the estimate but for rounding.
    return Interval(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


@dataclass(frozen=True, slots=True)
class ClassStanding:
    """The audits of one class of tenants in a category; fields as in `Standing`."""

    name: str
    closed: bool
    certified: float | None
    audits: int
    wrong: int
    error: Interval
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """A strategy's knowledge of a category, for operators.

    `risk` is the largest 1 - P(correct) that is served now (None: the strategy estimates none), `score` the lowest
    score. `certified` is the error per hit that audits have certified at `confidence`, None before they have.
    `labels` counts all labels, `audits` those of served answers drawn by chance and `wrong` the errors among them.
    `undecided` are further audits, of which no verdict came: `certified` takes them for wrong. `error` is the error per
    hit that the others show, `classes` what they show of the tenants.
    """

    strategy: str
    state: State
    target: float
    score: float
    risk: float | None = None
    certified: float | None = None
    confidence: float | None = None
    labels: int = 0
    audits: int = 0
    wrong: int = 0
    audit_rate: float = 0.0
    error: Interval | None = None
    note: str = ""
    classes: tuple[ClassStanding, ...] = ()
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class LadderRung:
    """The evidence for one level of a certificate's ladder, in natural logarithms of wealth."""

    level: float
    log_wealth: float
    passed: bool


@dataclass(frozen=True, slots=True)
class CertificateEvidence:
    """The wealth of the bettors behind a certificate, in natural logarithms, beside what is `log_enough`.

    `log_target` is that against "the error exceeds the target", `log_excess` that against "the error keeps it".
    `needed` is how many more audits without an error the target's certificate takes.
    """

    log_enough: float
    log_target: float
    log_excess: float
    needed: int
    ladder: tuple[LadderRung, ...]
