"""Causal attention over cache layers of any length, with an observer of its queries, keys and values.

transformers makes one mask for all layers, from the first; here each layer has its own, so that layers may keep
different numbers of tokens. Everything in the cache is the past of every new token, whatever was taken out of it. Knows
nothing of presses or chunks. Invariant: without an observer and with nothing taken out, it is the model's own
attention.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from semcache.engine.cache_argument import cache_argument
from semcache.engine.steps import Steps

if TYPE_CHECKING:
    import torch

NAME = "semcache_observed"


class Observer(Protocol):
    """A callback that sees each layer's queries before they attend."""

    def __call__(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values to attend to, from (batch, heads, new tokens, dim) queries and the cache's keys."""
        ...


@contextmanager
def attending(module: Any) -> Iterator[Any]:
    """Let a transformers model attend in this way within a block. Not for two threads at once."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, observed_attention)
    before = module.config._attn_implementation
    module.set_attn_implementation(NAME)
    try:
        yield module
    finally:
        module.set_attn_implementation(before)


def read_steps(
    module: Any, ids: torch.Tensor, cache: Any, piece: int | None, *, observer: Observer | None = None
) -> Steps[torch.Tensor]:
    """Read (batch, n) ids on a cache, `piece` tokens a step or all in one; gives the last one's logits."""
    given: dict[str, Any] = {} if observer is None else {"observer": observer}
    out, size = None, piece or ids.shape[1]
    for first in range(0, ids.shape[1], size):
        some = ids[:, first : first + size]
        out = module(some, use_cache=True, logits_to_keep=1, **cache_argument(module, cache), **given)
        yield
    assert out is not None
    logits: torch.Tensor = out.logits
    return logits


def observed_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,  # noqa: ARG001 - nothing is trained here
    *,
    observer: Observer | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention by transformers' interface: (batch, heads, tokens, dim) in, (batch, tokens, heads, dim) out."""
    from torch.nn.functional import scaled_dot_product_attention

    if observer is not None:
        key, value = observer(module.layer_idx, query, key, value)
    mask = attention_mask
    if mask is None and query.shape[2] > 1:
        mask = causal(query.shape[2], key.shape[2], query.device)
    out = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling, enable_gqa=True)
    return out.transpose(1, 2).contiguous(), None


def causal(rows: int, tokens: int, device: torch.device) -> torch.Tensor:
    """(rows, tokens), True where one of the last `rows` of `tokens` tokens sees another."""
    import torch

    return torch.ones(rows, tokens, dtype=torch.bool, device=device).tril_(tokens - rows)
