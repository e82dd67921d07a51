"""A sequence: one choice of a job in progress.

Knows its tokens, the pages of their keys and values, and how far they are computed. Mutable, and owned by the engine's
thread. Invariant: keys and values of the first `done` tokens are in `pages`; the blocks in `chain` are those of its
first pages; `done` is less than the number of tokens except while a step is under way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from semcache.engine import sampler
from semcache.engine.approximate_prefill import PrefillPlan
from semcache.engine.attention_merge import ParallelSpan
from semcache.engine.chunk_reuse import Prefilled
from semcache.engine.constraint import Constraint
from semcache.engine.detokenizer import Detokenizer
from semcache.engine.drafter import Drafter
from semcache.engine.job import FinishReason, Job, TokenScore
from semcache.engine.prefix_tree import Block, chain_keys
from semcache.engine.steps import Steps

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class SequenceArrival:
    """The arrival of a sequence: its number among all, and the second by the engine's clock."""

    order: int
    seconds: float


class Sequence:
    """One choice of a job.

    `plan` says how its prompt is prefilled, and under which root key; `prompt` is how many of its tokens it began with.
    """

    def __init__(
        self,
        job: Job,
        choice: int,
        plan: PrefillPlan,
        *,
        arrival: SequenceArrival,
        block: int,
        detokenizer: Detokenizer,
        drafter: Drafter,
        seed: int,
    ) -> None:
        import torch

        self.job, self.choice, self.plan = job, choice, plan
        self.order, self.arrived = arrival.order, arrival.seconds
        self.tokens = list(plan.tokens)
        self.prompt = len(self.tokens)
        self.detokenizer, self.drafter = detokenizer, drafter
        self.generator: torch.Generator = torch.Generator().manual_seed(seed)
        self.counts: Counter[int] = Counter()
        self.pages: list[int] = []
        self.chain: list[Block] = []
        self.linked = True  # whether further blocks may be put into the tree
        self.done = 0
        self.cached = 0
        self.accepted = self.rejected = 0
        self.passed = 0  # how often a later arrival was preferred
        self.charged = False
        self.constraint: Constraint | None = None
        self.reading: Steps[Prefilled] | None = None  # its approximate prefill, once it has begun
        self.ended: FinishReason | None = None
        self.error, self.refused = "", False
        self.forked = job.sampling.n == 1
        self.root, self._block = plan.root, block
        self._keys: list[bytes] = []

    @property
    def generated(self) -> int:
        """The number of tokens generated."""
        return len(self.tokens) - self.prompt

    @property
    def slots(self) -> int:
        """The number of sequences that it is, or will be once its prompt is computed."""
        return 1 if self.forked else self.job.sampling.n

    @property
    def room(self) -> int:
        """The number of tokens that it may still generate."""
        return self.job.sampling.max_tokens - self.generated

    def block_keys(self) -> list[bytes]:
        """Keys of its full blocks so far."""
        self._keys = chain_keys(self.root, self.tokens, self._block, known=self._keys)
        return self._keys

    def reusable(self) -> list[bytes]:
        """Keys of the blocks that it could take over: at least one token is left to compute, for its logits."""
        return self.block_keys()[: (len(self.tokens) - 1) // self._block]

    @cached_property
    def given(self) -> frozenset[int]:
        """The tokens of its prompt, each once, where their repetition counts."""
        return frozenset(self.job.ids if self.job.sampling.repetition_penalty != 1 else ())

    @property
    def shift(self) -> int:
        """The difference between a token's position and its place in the pages."""
        return self.plan.shift

    @property
    def sides(self) -> ParallelSpan | None:
        """The places in which documents lie side by side."""
        return self.plan.sides

    @property
    def lossy(self) -> bool:
        """True if its blocks may be stored in fewer bits."""
        return self.plan.root != self.plan.exact

    @property
    def ready(self) -> bool:
        """True if the part that is prefilled approximately is there."""
        return self.done >= self.plan.ready

    def sampled(self, logits: torch.Tensor, best: int) -> TokenScore:
        """Draw its next token from the logits of one, of which `best` is the likeliest.

        Raises ValueError where they are no numbers.
        """
        allowed = self.constraint.allowed() if self.constraint is not None else None
        if self.constraint is not None or not sampler.plain(self.job.sampling):
            return sampler.choose(logits, self.job.sampling, self.counts, self.generator, self.given, allowed)
        if not bool(logits[best].isfinite()):
            raise ValueError("the model gave logits that are no numbers")
        return TokenScore(best, 0.0)

    def append(self, score: TokenScore) -> None:
        """Append a token."""
        self.tokens.append(score.token)
        self.counts[score.token] += 1
        self.drafter.said(score.token)
