"""Attention of a packed batch over paged keys and values, with a shared prefix read once.

The tokens of all sequences stand in one row, so that every other layer of the model sees one matrix. A `SequenceSpan`
is one sequence with its own causal attention (a prefill chunk, a draft to verify); a `SharedPrefixGroup` is many
sequences with one token each: it attends to the pages that they share once for all of them, to their own pages apart,
and merges the two by log-sum-exp, which is exact (Hydragen: Juravsky et al. 2024, section 3.1; RelayAttention: Zhu et
al. 2024, eq. 6).
Knows nothing of requests. Invariant: a token sees exactly the tokens of its own sequence up to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semcache.engine.attention_merge import ParallelSpan, attend, attend_parallel, merge

if TYPE_CHECKING:
    import torch

    from semcache.engine.kv_tensor import KVTensor, PageRun

NAME = "semcache_paged"


@dataclass(frozen=True, slots=True)
class SequenceSpan:
    """Rows `start` to `stop` of the batch: the last of a sequence of `length` tokens in `pages`.

    `mask` (rows, length) is added to the scores, None where a single row sees everything; within `sides` documents lie
    side by side.
    """

    start: int
    stop: int
    pages: PageRun | torch.Tensor
    length: int
    mask: torch.Tensor | None
    sides: ParallelSpan | None = None


@dataclass(frozen=True, slots=True)
class SharedPrefixGroup:
    """`rows` (g,) of the batch: single tokens of g sequences that share the first `shared` tokens in `prefix`.

    `tails` (g, pages) are the pages behind, padded; `unseen` (g, pages × block) marks their tokens that belong to other
    sequences. Masking by a weight of zero would not do, since a page may have held values that are no numbers.
    """

    rows: torch.Tensor
    prefix: PageRun | torch.Tensor | None
    shared: int
    tails: torch.Tensor
    unseen: torch.Tensor


@dataclass(frozen=True, slots=True)
class BatchLayout:
    """The layout of the rows of a batch; `slots` are the places that each row's key and value are written to."""

    store: KVTensor
    slots: torch.Tensor
    spans: tuple[SequenceSpan, ...]
    prefix_groups: tuple[SharedPrefixGroup, ...]


def register() -> str:
    """Make the attention known to transformers and return its name. Idempotent."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, paged_attention)
    return NAME


def paged_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001 - the packing says who sees whom
    scaling: float | None = None,
    dropout: float = 0.0,  # noqa: ARG001 - nothing is trained here
    *,
    packing: BatchLayout,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention by transformers' interface: (1, heads, tokens, dim) in, (1, tokens, heads, dim) out."""
    layer, store = module.layer_idx, packing.store
    store.write(layer, packing.slots, key[0], value[0])
    heads, tokens, dim = query.shape[1:]
    groups = key.shape[1]
    scale = dim**-0.5 if scaling is None else scaling
    q = query[0].view(groups, heads // groups, tokens, dim)
    out = query.new_empty(tokens, groups, heads // groups, dim)
    for span in packing.spans:
        out[span.start : span.stop] = _span(q[:, :, span.start : span.stop], span, store, layer, scale)
    for group in packing.prefix_groups:
        out[group.rows] = _shared_prefix(q[:, :, group.rows], group, store, layer, scale)
    return out.view(1, tokens, heads, dim), None


def _span(q: torch.Tensor, span: SequenceSpan, store: KVTensor, layer: int, scale: float) -> torch.Tensor:
    """(groups, repeats, rows, dim) to (rows, groups, repeats, dim).

    The queries of a single row that share keys are stacked as rows.
    """
    from torch.nn.functional import scaled_dot_product_attention

    groups, repeats, rows, dim = q.shape
    keys, values = store.read(layer, span.pages, span.length)
    if span.sides is not None:
        unseen = None if span.mask is None else span.mask.isinf().repeat(repeats, 1)
        own = attend_parallel(q.reshape(groups, repeats * rows, dim), keys, values, scale, span.sides, unseen)
        return own.to(q.dtype).view(groups, repeats, rows, dim).permute(2, 0, 1, 3)
    if span.mask is None:
        stacked = q.reshape(1, groups, repeats * rows, dim)
        seen = scaled_dot_product_attention(stacked, keys[None], values[None], scale=scale)
        return seen.view(groups, repeats, rows, dim).permute(2, 0, 1, 3)
    # Views of the same keys for each repeat, so that the mask, which is long, is not repeated.
    size = (repeats, *keys.shape)
    seen = scaled_dot_product_attention(
        q.transpose(0, 1), keys.expand(size), values.expand(size), attn_mask=span.mask, scale=scale
    )
    return seen.permute(2, 1, 0, 3)


def _shared_prefix(
    q: torch.Tensor, group: SharedPrefixGroup, store: KVTensor, layer: int, scale: float
) -> torch.Tensor:
    """(groups, repeats, rows, dim) to (rows, groups, repeats, dim)."""
    groups, repeats, count, dim = q.shape
    width = group.tails.shape[1]
    keys, values = store.read(layer, group.tails.flatten(), group.tails.numel() * store.block)
    size = (groups, count, width * store.block, dim)
    mine = q.transpose(1, 2)
    own = values.reshape(size).masked_fill(group.unseen[None, :, :, None], 0)
    out, weight = attend(mine, keys.reshape(size), own, scale, group.unseen[:, None])
    if group.prefix is not None:
        keys, values = store.read(layer, group.prefix, group.shared)
        shared, shared_weight = attend(mine.reshape(groups, count * repeats, dim), keys, values, scale)
        out = merge(out, weight, shared.view(out.shape), shared_weight.view(weight.shape))
    return out.permute(1, 0, 2, 3).to(q.dtype)
