"""SentenceKV (Zhu et al. 2025, section 3): one vector a sentence stays hot, its keys and values wait in host memory.

While the model reads on, each head's queries of the sentence being said are averaged and compared with the mean keys of
the sentences; those that fit into the budget are fetched, best first. Knows where sentences end, no word of them.
Invariant: nothing is lost, hence agnostic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from semcache.engine.cache_argument import cache_argument
from semcache.engine.press.observed_attention import attending
from semcache.engine.press.press_protocol import ObservedLayer, QuerySource

if TYPE_CHECKING:
    import torch


class SentenceKV:
    """The last `recent` tokens stay hot, beside the protected ones. Sentences end at the positions `closes`."""

    name = "sentencekv"
    asks = QuerySource.NOBODY
    agnostic = True

    def __init__(self, closes: Iterable[int] = (), recent: int = 8) -> None:
        self._closes, self._recent = tuple(closes), recent

    def press(self, seen: ObservedLayer) -> Any:
        """Group tokens by the sentences that end within the text."""
        import torch

        from eval.kv.sentence_layer import SentenceLayer

        ends = torch.zeros(seen.tokens, dtype=torch.bool, device=seen.keys.device)
        ends[[at for at in self._closes if at < seen.tokens]] = True
        return SentenceLayer(seen, ends, recent=self._recent)


def read_on(module: Any, ids: torch.Tensor, cache: Any, *, ends: Sequence[int] = ()) -> torch.Tensor:
    """Read (batch, m) more ids on a cache, pressed or not; (batch, m, vocabulary) logits.

    A layer that fetches does so once a pass; after a pass that closes with one of the tokens `ends` it asks anew.
    """
    import torch

    with torch.inference_mode(), attending(module):
        out = module(ids, use_cache=True, observer=_Fetch(cache), **cache_argument(module, cache))
    if int(ids[0, -1]) in ends:
        for layer in cache.layers:
            if hasattr(layer, "said"):
                layer.said()
    logits: torch.Tensor = out.logits
    return logits


class _Fetch:
    """Lets layers fetch what queries ask for."""

    def __init__(self, cache: Any) -> None:
        self._layers = cache.layers

    def __call__(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        fetch = getattr(self._layers[layer], "fetch", None)
        if fetch is None:
            return key, value
        fetched: tuple[torch.Tensor, torch.Tensor] = fetch(query, key, value)
        return fetched
