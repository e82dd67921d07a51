"""A cache layer that fetches the sentences a query asks for from host memory.

Knows sentences as runs of tokens, and nothing of words. Imports torch at the top, like the layer that it extends.
Invariant: at most `budget` tokens of the text are hot at once; protected and latest tokens always are.
"""

from __future__ import annotations

import torch

from semcache.engine.press.press_protocol import ObservedLayer
from semcache.engine.press.pressed_layer import PressedLayer, held


class SentenceLayer(PressedLayer):
    """A text whose sentences `ends` (n,) closes: `keys` and `values` hold what is always hot.

    `bytes` are those in use at once, with the sentences' vectors.
    """

    def __init__(self, seen: ObservedLayer, ends: torch.Tensor, *, recent: int) -> None:
        hot = seen.protected.clone()
        room = seen.budget - int(hot.sum())
        hot[max(0, seen.tokens - min(recent, room // 2)) :] = True
        at, cold = hot.nonzero().flatten(), (~hot).nonzero().flatten()
        heads = seen.keys.shape[:2]
        super().__init__(seen.keys[:, :, at], seen.values[:, :, at], at.expand(*heads, -1), seen.tokens)
        sentence = torch.cat([ends.new_zeros(1), ends[:-1]]).cumsum(0)[cold]
        _, self._sentence, sizes = torch.unique_consecutive(sentence, return_inverse=True, return_counts=True)
        self._room = min(seen.budget - len(at), len(cold))
        self._cold_keys, self._cold_values = seen.keys[:, :, cold].to("cpu"), seen.values[:, :, cold].to("cpu")
        means = seen.keys.new_zeros(*heads, len(sizes), seen.keys.shape[-1], dtype=torch.float32)
        means.index_add_(2, self._sentence, seen.keys[:, :, cold].float())
        self._means = (means / sizes.unsqueeze(-1)).to(seen.keys.dtype)
        self._asked: torch.Tensor | None = None
        self._count = 0
        self.bytes += held(self._means) + 2 * self._room * seen.keys[:, :, 0].numel() * seen.keys.element_size()

    def fetch(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values that a pass with these queries attends to: fetched sentences, then all that are hot.

        Queries are (batch, heads, tokens, dim). Every head fetches as many tokens, so that they fit one tensor: of the
        last sentence only the first of them.
        """
        asked = query.reshape(query.shape[0], key.shape[1], -1, *query.shape[2:]).float().mean(2).sum(2)
        self._asked = asked if self._asked is None else self._asked + asked
        self._count += query.shape[2]
        scores = (self._means.float() @ (self._asked / self._count).unsqueeze(-1)).squeeze(-1)
        rank = scores.argsort(-1, descending=True).argsort(-1)[..., self._sentence]
        at = rank.argsort(dim=-1, stable=True)[..., : self._room].sort(-1).values
        at = at.unsqueeze(-1).expand(-1, -1, -1, key.shape[-1]).cpu()
        keys = self._cold_keys.gather(2, at).to(key.device)
        values = self._cold_values.gather(2, at).to(value.device)
        return torch.cat([keys, key], 2), torch.cat([values, value], 2)

    def said(self) -> None:
        """A sentence ended: the next one asks anew."""
        self._asked, self._count = None, 0
