"""One choice of a job while it is being worked on.

Knows its tokens, where their keys and values are, and how far they are computed. Mutable, and owned by the engine's
thread. Invariant: keys and values of the first `done` tokens are in `pages`; the blocks in `chain` are those of its
first pages; `done` is less than the number of tokens except while a step is under way.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from semcache.engine.drafts import Drafter
from semcache.engine.job import Finish, Job, TokenScore
from semcache.engine.merging import Sides
from semcache.engine.prefix import Block, chain_keys
from semcache.engine.shortcuts import Plan
from semcache.engine.voice import Voice

if TYPE_CHECKING:
    import torch


class Sequence:
    """`order` is that of arrival at second `arrived`; `root` is the key of the empty prefix of its tenant, or of its
    `plan` where it has one; `prompt` is how many of its tokens it began with."""

    def __init__(
        self,
        job: Job,
        choice: int,
        *,
        order: int,
        arrived: float,
        root: bytes,
        block: int,
        voice: Voice,
        drafter: Drafter,
        seed: int,
        plan: Plan | None = None,
    ) -> None:
        import torch

        self.job, self.choice, self.order = job, choice, order
        self.plan = plan
        self.tokens = list(job.ids if plan is None else plan.tokens)
        self.prompt = len(self.tokens)
        self.voice, self.drafter = voice, drafter
        self.generator: torch.Generator = torch.Generator().manual_seed(seed)
        self.counts: Counter[int] = Counter()
        self.pages: list[int] = []
        self.chain: list[Block] = []
        self.linked = True  # whether further blocks may be put into the tree
        self.done = 0
        self.cached = 0
        self.accepted = self.rejected = 0
        self.arrived = arrived
        self.passed = 0  # how often a later arrival was preferred
        self.charged = False
        self.ended: Finish | None = None
        self.error = ""
        self.forked = job.sampling.n == 1
        self.root, self._block = root, block
        self._keys: list[bytes] = []

    @property
    def generated(self) -> int:
        """How many tokens it has said."""
        return len(self.tokens) - self.prompt

    @property
    def slots(self) -> int:
        """How many sequences it is, or will be once its prompt is computed."""
        return 1 if self.forked else self.job.sampling.n

    @property
    def room(self) -> int:
        """How many tokens it may still say."""
        return self.job.sampling.max_tokens - self.generated

    def block_keys(self) -> list[bytes]:
        """Keys of its full blocks so far."""
        self._keys = chain_keys(self.root, self.tokens, self._block, known=self._keys)
        return self._keys

    def reusable(self) -> list[bytes]:
        """Keys of the blocks that it could take over: at least one token is left to compute, for its logits."""
        return self.block_keys()[: (len(self.tokens) - 1) // self._block]

    @property
    def shift(self) -> int:
        """By how much a token's position is more than its place in the pages."""
        return 0 if self.plan is None else self.plan.shift

    @property
    def sides(self) -> Sides | None:
        """The places in which texts lie side by side."""
        return None if self.plan is None else self.plan.sides

    @property
    def lossy(self) -> bool:
        """Whether its blocks may be stored in fewer bits."""
        return self.plan is not None

    @property
    def ready(self) -> bool:
        """Whether what has to be read the short way is there."""
        return self.plan is None or self.done >= self.plan.ready

    def say(self, score: TokenScore) -> None:
        """Append a token."""
        self.tokens.append(score.token)
        self.counts[score.token] += 1
        self.drafter.said(score.token)
