"""Deciding on a request and its answer: categories, guards, strategies, verifiers and judges.

Knows only the values of `types`. Invariant: all but the judge and the verifier are pure; time and random numbers are
arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from semcache.types import Candidate, Conflict, Controls, Request, Verdict
from semcache.types.evidence import Comparison, Label, Standing

if TYPE_CHECKING:
    from semcache.types import Vector


class Categorizer(Protocol):
    """Puts a request into a category of the pack."""

    def by_rule(self, request: Request) -> str | None:
        """The category that the caller or a rule names, without an embedding; None when only the vector can tell."""
        ...

    def near(self, vector: Vector, text: str) -> Sequence[str]:
        """The categories of a prompt, nearest first, at least one: it is kept in the first, and sought in all."""
        ...


class Guard(Protocol):
    """A cheap check that two prompts cannot share an answer. Pure, symmetric, microseconds."""

    name: str

    def conflict(self, query: str, cached: str) -> Conflict | None:
        """The finding against these two texts, None when there is none."""
        ...


class Threshold(Protocol):
    """Decides whether a candidate is good enough, and learns from labels.

    Pure: `draw` is a uniform random number in [0, 1), and labels carry their time. Two instances that observed the same
    labels in the same order give the same P(correct): that is how workers share what is learned.
    """

    def floor(self, category: str, controls: Controls) -> float:
        """A score below which nothing is served, so that guards and features need not be asked."""
        ...

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        """For each candidate, True if it might be served or verified, whatever guards and the texts would tell.

        The candidates tell of their surroundings alone; those that are False are spared both.
        """
        ...

    def judge(
        self, candidate: Candidate, category: str, *, controls: Controls, draw: float, tenant: str = ""
    ) -> Verdict:
        """Its opinion of one candidate, for a request of `tenant`. Changes nothing.

        Asked before the guards are, and again if they find something: a finding must not make it more willing.
        """
        ...

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        """Take notice of one looked-up request: P(correct) of its best candidate (None without one), and its fate.

        `audited`: it was served and drawn for an audit. `candidate` is the one that was served, with its features; None
        for a miss.
        """
        ...

    def observe(self, label: Label) -> None:
        """Learn from a label."""
        ...

    def standing(self, category: str) -> Standing:
        """Where it stands, for operators."""
        ...

    def state(self) -> dict[str, Any]:
        """Everything it has learned, as JSON has it; {} when nothing."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for a state that is not its own."""
        ...


class Verifier(Protocol):
    """Says whether a cached answer fits a request, while the client waits."""

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        """P(same answer). An error means: do not serve."""
        ...


class Judge(Protocol):
    """Says whether two answers to the same question agree. `instant` ones need no waiting and no queue."""

    name: str
    instant: bool

    async def agree(self, comparison: Comparison) -> bool | None:
        """None when it cannot tell. Raises nothing but SemcacheError."""
        ...
