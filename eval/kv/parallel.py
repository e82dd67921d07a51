"""Chunks side by side, none computed anew (APE: Yang et al. 2025, section 4).

All chunks were computed behind the same prefix and keep their positions, which overlap; the question stands behind the
longest. How it attends to them: `semcache.engine.attention_merge`.
Knows one request at a time. Invariant: one chunk, temperature 1 and scale 1 give the answer of a full prefill.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semcache.engine.attention_merge import ParallelSpan, attend_parallel
from semcache.engine.cache_argument import cache_argument
from semcache.engine.chunks.blend import Blended
from semcache.engine.chunks.chunk import Chunk
from semcache.engine.press.observed_attention import causal
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    import torch

NAME = "semcache_parallel"


def parallel(
    module: Any,
    prefix: Chunk,
    chunks: Sequence[Chunk],
    question: Sequence[int],
    *,
    temperature: float = 0.9,
    scale: float = 0.9,
) -> Blended:
    """Answer from chunks, each computed behind `prefix`. Raises InvalidArgument for chunks of another prefix."""
    import torch
    from transformers import Cache

    from semcache.engine.press.pressed_layer import PressedLayer

    if not question:
        raise InvalidArgument("a question without tokens cannot be computed: give at least one")
    if not (0 < temperature <= 1 and 0 < scale <= 1):
        raise InvalidArgument(f"temperature {temperature!r} and scale {scale!r} must be more than 0 and at most 1")
    start = len(prefix.ids)
    if wrong := [chunk.start for chunk in chunks if chunk.start != start]:
        raise InvalidArgument(f"a chunk was computed at {wrong[0]}, not behind the prefix of {start} tokens")
    data = torch.cat([prefix.data, *(chunk.data for chunk in chunks)], dim=-2).to(module.device)
    seen = start + max((len(chunk.ids) for chunk in chunks), default=0)
    where = [*range(start), *(start + at for chunk in chunks for at in range(len(chunk.ids)))]
    positions = torch.tensor(where, device=module.device).expand(1, data.shape[2], -1)
    layers: list[Any] = [PressedLayer(layer[0][None], layer[1][None], positions, seen) for layer in data]
    cache = Cache(layers=layers)
    sides = ParallelSpan(start, data.shape[-2], temperature, scale)
    logits = read_on(module, torch.tensor([list(question)], device=module.device), cache, sides)[0, -1]
    total = data.shape[-2] + len(question)
    return Blended(
        cache, logits.float(), len(question) / total, approximate=len(chunks) > 1 or (temperature, scale) != (1, 1)
    )


def read_on(module: Any, ids: torch.Tensor, cache: Any, sides: ParallelSpan) -> torch.Tensor:
    """Read (1, m) more ids; (1, m, vocabulary) logits."""
    import torch
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, parallel_attention)
    before = module.config._attn_implementation
    module.set_attn_implementation(NAME)
    try:
        with torch.inference_mode():
            logits: torch.Tensor = module(ids, use_cache=True, sides=sides, **cache_argument(module, cache)).logits
    finally:
        module.set_attn_implementation(before)
    return logits


def parallel_attention(
    module: Any,  # noqa: ARG001 - all layers attend alike
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001 - all of the cache is past
    scaling: float | None = None,
    dropout: float = 0.0,  # noqa: ARG001 - nothing is trained here
    *,
    sides: ParallelSpan,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """transformers' attention interface for one request: (1, heads, tokens, dim) in, (1, tokens, heads, dim) out."""
    heads, tokens, dim = query.shape[1:]
    groups = key.shape[1]
    scale = dim**-0.5 if scaling is None else scaling
    q = query[0].reshape(groups, heads // groups * tokens, dim)
    unseen = ~causal(tokens, key.shape[2], query.device).repeat(heads // groups, 1)
    out = attend_parallel(q, key[0], value[0], scale, sides, unseen)
    return out.to(query.dtype).view(1, heads, tokens, dim).transpose(1, 2).contiguous(), None
