"""The verifier's head: two texts that an encoder has read are compared token by token, and judged together.

Each token is set beside what it is softly aligned to in the other text (Parikh et al. 2016, "A decomposable attention
model", sections 3.1 and 3.2), so that a single exchanged word shows however much the rest agrees; a small transformer
then reads the comparisons of both texts side by side (composition, as in Chen et al. 2017, "Enhanced LSTM", section
3.3). The encoder is frozen: a text is read once, whatever it is compared with.

Functions of named weights, all `head.*`; needs torch. Knows no data and no training. Invariant: padding changes no
logit but by rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tensor: TypeAlias = Any
Weights: TypeAlias = dict[str, Tensor]
Arrays: TypeAlias = "Mapping[str, NDArray[np.float32]]"

WIDTH, INNER, UNITS, LAYERS = 96, 192, 64, 2
STEEP, LEVEL = 10.0, 0.8  # at the start the logit rises with the cosine of the two meanings, through 0 at LEVEL
ALONG = 32.0  # tokens that count as one unit of distance
OFF = 100.0  # what puts padding out of reach
_EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Shape:
    """The encoder has `layers`, of `heads` each; the states after the first `tapped` of them are compared."""

    layers: int
    tapped: int
    heads: int

    def __post_init__(self) -> None:
        if not 0 < self.tapped <= self.layers:
            raise InvalidArgument(f"the tapped layer {self.tapped} must be one of the encoder's {self.layers}")


def sizes(hidden: int) -> dict[str, tuple[int, ...]]:
    """The shape of every weight of the head, for an encoder of this width."""
    linear = {
        "enter": (WIDTH, 3 * hidden + 3),
        "inner": (UNITS, 2 * WIDTH + 1),
        "outer": (1, UNITS),
    }
    for layer in range(LAYERS):
        linear |= {f"layer.{layer}.attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        linear[f"layer.{layer}.attention.output.dense"] = (WIDTH, WIDTH)
        linear[f"layer.{layer}.intermediate.dense"] = (INNER, WIDTH)
        linear[f"layer.{layer}.output.dense"] = (WIDTH, INNER)
    found: dict[str, tuple[int, ...]] = {"head.sharpness": (1,), "head.likeness": (1,), "head.sides": (2, WIDTH)}
    for name, size in linear.items():
        found |= {f"head.{name}.weight": size, f"head.{name}.bias": size[:1]}
    for name in (
        "norm",
        *(f"layer.{at}.{part}.LayerNorm" for at in range(LAYERS) for part in ("attention.output", "output")),
    ):
        found |= {f"head.{name}.weight": (WIDTH,), f"head.{name}.bias": (WIDTH,)}
    return found


def begin(hidden: int, seed: int, known: Arrays | None = None) -> Weights:
    """The weights of a head to train: those that are `known`, the rest drawn at random."""
    import torch

    rng = torch.Generator().manual_seed(seed)
    weights = {}
    for name, size in sorted(sizes(hidden).items()):
        if known is not None and name in known:
            weights[name] = torch.tensor(known[name])
        elif name == "head.sharpness":
            weights[name] = torch.tensor([10.0])
        elif name == "head.likeness":
            weights[name] = torch.tensor([STEEP])
        elif "norm" in name.lower():
            weights[name] = torch.ones(size) if name.endswith("weight") else torch.zeros(size)
        elif len(size) == 2:
            weights[name] = torch.randn(size, generator=rng) * size[1] ** -0.5
        else:
            weights[name] = torch.zeros(size)
    return weights


def judge(
    weights: Weights, heads: int, states: Tensor, mask: Tensor, meanings: Tensor, *, dropout: float = 0.0
) -> Tensor:
    """Logits (n,) of pairs.

    `states` (n, 2, tokens, hidden) are those of the tapped layer, `mask` (n, 2, tokens) says which are tokens, and
    `meanings` (n, 2, hidden) are the embeddings of the whole texts. `dropout` is for training.
    """
    import torch
    from torch.nn import functional

    n, _, tokens, _ = states.shape
    unit = functional.normalize(states, dim=3)
    share = mask.to(states.dtype)
    sides = [_compared(weights, unit, share, here) for here in (0, 1)]
    x = functional.dropout(torch.cat(sides, dim=1), dropout)
    joint = share.reshape(n, 2 * tokens)
    off = (joint - 1.0) * OFF
    for layer in range(LAYERS):
        x = _layer(weights, heads, x, off, f"head.layer.{layer}")
    mean = (x * joint[:, :, None]).sum(dim=1) / joint.sum(dim=1, keepdim=True)
    cosine = (meanings[:, 0] * meanings[:, 1]).sum(dim=1, keepdim=True)
    pooled = torch.cat([mean, (x + off[:, :, None]).amax(dim=1), cosine], dim=1)
    inner = functional.gelu(_linear(weights, functional.dropout(pooled, dropout), "head.inner"))
    return (_linear(weights, inner, "head.outer") + weights["head.likeness"] * (cosine - LEVEL))[:, 0]


def _compared(weights: Weights, unit: Tensor, share: Tensor, here: int) -> Tensor:
    """One side's tokens beside what they are aligned to, (n, tokens, WIDTH); `unit` has rows of length 1."""
    import torch
    from torch.nn import functional

    own, other = unit[:, here], unit[:, 1 - here]
    off = ((share[:, 1 - here] - 1.0) * OFF)[:, None, :]
    cosines = own @ other.transpose(1, 2)
    links = torch.softmax(cosines * weights["head.sharpness"] + off, dim=2)
    along = (torch.arange(own.shape[1], dtype=own.dtype) / ALONG)[None, :, None].expand(len(own), -1, 1)
    scale = own.shape[2] ** 0.5
    x, y = own * scale, links @ other * scale
    best = (cosines + off).amax(dim=2, keepdim=True)
    features = torch.cat([x, (x - y).abs(), x * y, best, along, links @ along], dim=2)
    entered = _linear(weights, features, "head.enter") + weights["head.sides"][here]
    return _norm(weights, functional.gelu(entered), "head.norm")


def _layer(weights: Weights, heads: int, x: Tensor, off: Tensor, prefix: str) -> Tensor:
    from torch.nn import functional

    n, tokens, width = x.shape
    q, k, v = (
        _linear(weights, x, f"{prefix}.attention.self.{part}").reshape(n, tokens, heads, -1).transpose(1, 2)
        for part in ("query", "key", "value")
    )
    attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=off[:, None, None, :])
    attended = attended.transpose(1, 2).reshape(n, tokens, width)
    y = _linear(weights, attended, f"{prefix}.attention.output.dense")
    x = _norm(weights, x + y, f"{prefix}.attention.output.LayerNorm")
    inner = functional.gelu(_linear(weights, x, f"{prefix}.intermediate.dense"))
    return _norm(weights, x + _linear(weights, inner, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")


def _linear(weights: Weights, x: Tensor, name: str) -> Tensor:
    from torch.nn import functional

    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Weights, x: Tensor, name: str) -> Tensor:
    from torch.nn import functional

    return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], _EPSILON)
