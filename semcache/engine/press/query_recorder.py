"""A recorder of the queries of a text, from which the attention of its tokens is known.

Knows transformers caches and models with full attention. Invariant: changes nothing of what the model computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semcache.engine.press.observed_attention import read_steps
from semcache.engine.press.press_protocol import ObservedLayer
from semcache.engine.steps import Steps

if TYPE_CHECKING:
    import torch


class QueryRecorder:
    """An observer to pass to the model with each piece of a text."""

    def __init__(self) -> None:
        self._queries: dict[int, list[torch.Tensor]] = {}

    def __call__(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep the queries."""
        self._queries.setdefault(layer, []).append(query)
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
        import torch

        queries = self._queries.get(layer)
        full = cache.layers[layer]
        attention = module.get_decoder().layers[layer].self_attn
        return ObservedLayer(
            layer=layer,
            layers=len(cache.layers),
            keys=full.keys[:, :, :tokens],
            values=full.values[:, :, :tokens],
            queries=None if queries is None else torch.cat(queries, dim=2),
            behind=behind,
            protected=protected,
            scale=float(getattr(attention, "scaling", attention.head_dim**-0.5)),
            keep=keep,
        )


def attention_steps(module: Any, ids: torch.Tensor, piece: int | None = None) -> Steps[tuple[Any, torch.Tensor]]:
    """A cache of (1, n) ids and how they attended, (n, n), the mean over layers and heads.

    In steps of `piece` tokens, or of a layer; to be run in inference mode and `attending`.
    """
    import torch
    from transformers import DynamicCache

    watch, cache, tokens = QueryRecorder(), DynamicCache(config=module.config), ids.shape[1]
    yield from read_steps(module, ids, cache, piece, observer=watch)
    nothing = torch.zeros(tokens, dtype=torch.bool, device=ids.device)
    total = ids.new_zeros(tokens, tokens, dtype=torch.float32)
    for layer in range(len(cache.layers)):
        seen = watch.observed(module, cache, layer, tokens=tokens, keep=1.0, protected=nothing)
        rows = [some.mean((0, 1, 2)) for some in seen.attention_pieces(tokens)]
        total += torch.cat(rows) / len(cache.layers)
        yield
    return cache, total
