"""Weights that a step computes with as they will be written, on the grid of the folder.

What is computed and its gradient are of the rounded weights, what is learned moves the whole ones, where changes
smaller than the grid add up: training makes up for the rounding by itself (Jacob et al. 2018, "Quantization and
training of neural networks for efficient integer-arithmetic-only inference", section 3; gradients pass as if nothing
were rounded: Bengio et al. 2013). Needs torch. Invariant: beside the steps the weights are the whole ones.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def on_grid(weights: Sequence[Any], levels: int) -> Iterator[None]:
    """The weights (out, in) are on the grid of `levels` within this context, and what they were after it."""
    import torch

    whole = [weight.detach().clone() for weight in weights]
    round_nearest(weights, levels)
    try:
        yield
    finally:
        with torch.no_grad():
            for weight, kept in zip(weights, whole, strict=True):
                weight.copy_(kept)


def round_nearest(weights: Sequence[Any], levels: int) -> None:
    """Round each weight in place to one of 2 `levels` + 1 values of its row, of which the largest is at an end."""
    import torch

    with torch.no_grad():
        for weight in weights:
            step = weight.abs().amax(dim=1, keepdim=True).div_(levels).clamp_(min=torch.finfo(weight.dtype).tiny)
            weight.div_(step).round_().mul_(step)
