"""A recorder of the queries of a pass, from which the attention of a text's tokens is known.

Knows transformers caches and models with full attention. Invariant: changes nothing of what the model computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semcache.engine.press.press_protocol import ObservedLayer

if TYPE_CHECKING:
    import torch


class QueryRecorder:
    """An observer to pass to the model; `queries` are the last pass's, by layer."""

    def __init__(self) -> None:
        self.queries: dict[int, torch.Tensor] = {}

    def __call__(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep the queries."""
        self.queries[layer] = query
        return key, value

    def observed(
        self,
        module: Any,
        cache: Any,
        layer: int,
        *,
        tokens: int,
        keep: float,
        protected: torch.Tensor,
        behind: bool = False,
    ) -> ObservedLayer:
        """A layer's first `tokens` in the cache, with the recorded queries."""
        full = cache.layers[layer]
        attention = module.get_decoder().layers[layer].self_attn
        return ObservedLayer(
            layer=layer,
            layers=len(cache.layers),
            keys=full.keys[:, :, :tokens],
            values=full.values[:, :, :tokens],
            queries=self.queries.get(layer),
            behind=behind,
            protected=protected,
            scale=float(getattr(attention, "scaling", attention.head_dim**-0.5)),
            keep=keep,
        )


def attention_of(module: Any, ids: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """A cache of (1, n) ids and how they attended, (n, n), the mean over layers and heads."""
    import torch
    from transformers import DynamicCache

    from semcache.engine.press.observed_attention import attending

    watch, cache, tokens = QueryRecorder(), DynamicCache(config=module.config), ids.shape[1]
    with torch.inference_mode(), attending(module):
        module(ids, past_key_values=cache, use_cache=True, logits_to_keep=1, observer=watch)
    nothing = torch.zeros(tokens, dtype=torch.bool, device=ids.device)
    total = ids.new_zeros(tokens, tokens, dtype=torch.float32)
    for layer in range(len(cache.layers)):
        seen = watch.observed(module, cache, layer, tokens=tokens, keep=1.0, protected=nothing)
        total += seen.attention(tokens).mean((0, 1, 2)) / len(cache.layers)
    return cache, total
