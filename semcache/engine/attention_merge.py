"""Attention over parts of the keys that a query sees, merged by log-sum-exp.

Parts that are merged as they are give attention over all, exactly (Hydragen: Juravsky et al. 2024, eq. 4). Documents
side by side, of which none has seen another, give a query as many near neighbours as there are documents; so attention
to them is sharpened by a temperature T, and their weight against the rest corrected by a scale S: log-sum-exp over them
with scores / T, times T, plus log S (APE: Yang et al. 2025, section 4, as in the authors' code). Knows queries, keys
and values, neither pages nor models. Invariant: T = S = 1 is plain attention.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class ParallelSpan:
    """Places `start` to `stop`, in which documents lie side by side; `temperature` and `scale` in (0, 1]."""

    start: int
    stop: int
    temperature: float
    scale: float


def attend_parallel(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, sides: ParallelSpan, unseen: torch.Tensor | None
) -> torch.Tensor:
    """Attention of (…, rows, dim) over (…, tokens, dim), in float32, with the documents of `sides` side by side.

    `unseen` (rows, tokens) marks the tokens that a row must not see.
    """
    import torch

    start, stop, heat = sides.start, sides.stop, sides.temperature

    def rest(x: torch.Tensor, axis: int) -> torch.Tensor:
        return torch.cat([x.narrow(axis, 0, start), x.narrow(axis, stop, x.shape[axis] - stop)], axis)

    hidden = None if unseen is None else rest(unseen, -1)
    out, weight = attend(q, rest(k, -2), rest(v, -2), scale, hidden)
    if stop > start:
        side, lean = attend(q, k[..., start:stop, :], v[..., start:stop, :], scale / heat)
        out = merge(out, weight, side, lean * heat + math.log(sides.scale))
    return out


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, unseen: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of (…, rows, dim) over (…, tokens, dim), in float32, and the log of each row's sum of exponents.

    `unseen` marks the tokens that a row must not see. Queries, keys and values are multiplied in float32: scores that
    are rounded to 16 bits first have several times the error.
    """
    import torch

    scores = torch.matmul(q.float() * scale, k.float().transpose(-1, -2))
    if unseen is not None:
        scores = scores.masked_fill(unseen, -torch.inf)
    weight = torch.logsumexp(scores, dim=-1)
    shares = torch.exp(scores - weight.unsqueeze(-1))
    return torch.matmul(shares, v.float()), weight


def merge(a: torch.Tensor, a_weight: torch.Tensor, b: torch.Tensor, b_weight: torch.Tensor) -> torch.Tensor:
    """Attention over the union of two disjoint sets of tokens, from the attention over each (Hydragen, eq. 4)."""
    import torch

    whole = torch.logaddexp(a_weight, b_weight)
    return a * torch.exp(a_weight - whole).unsqueeze(-1) + b * torch.exp(b_weight - whole).unsqueeze(-1)
