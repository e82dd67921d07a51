"""Prefill with chunks anywhere in a prompt, a few of their tokens computed anew (CacheBlend).

After Yao et al. 2025, section 4. Keys are rotated to their new positions. Layer by layer only some tokens go on: those
that no chunk covers, and those that `choose` picks among the covered, whose keys and values replace the old ones. All
others are read as they were computed elsewhere, without the text that stands before them here. Knows a decoder's parts
(embeddings, layers, rotary embedding, norm, head), one prompt at a time. Invariant: when every token goes on, the
result is that of a full prefill; otherwise it says that it is approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from semcache.engine.cache_argument import cache_argument
from semcache.engine.chunks.chunk import PlacedChunk, check_placement
from semcache.engine.chunks.rope import frequencies, rotated
from semcache.engine.press.observed_attention import attending
from semcache.engine.steps import Steps, finished
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    import torch


class Choose(Protocol):
    """Picks the tokens that go on."""

    def __call__(self, layer: int, covered: torch.Tensor, deviation: Callable[[], torch.Tensor]) -> torch.Tensor:
        """Those of the positions `covered` (c,), all still computed up to this layer, that go through it.

        `deviation` computes how far their keys and values in this layer are from the old ones, (c,).
        """
        ...


@dataclass(frozen=True, slots=True)
class Blended:
    """A transformers cache to go on from, and (vocabulary,) logits of the last token.

    `computed` is the share of (token, layer) pairs that were computed; answers from an `approximate` one must stay out
    of exact tiers.
    """

    cache: Any
    logits: torch.Tensor
    computed: float
    approximate: bool


class HighDeviation:
    """The share `fraction` of tokens whose keys and values deviate most, from layer `first` on; below it all tokens."""

    def __init__(self, fraction: float, *, first: int = 1) -> None:
        if not 0 <= fraction <= 1:
            raise InvalidArgument(f"fraction {fraction!r} is no share of tokens: give 0 to 1")
        self._fraction, self._first = fraction, first
        self._all = 0

    def __call__(self, layer: int, covered: torch.Tensor, deviation: Callable[[], torch.Tensor]) -> torch.Tensor:
        """The tokens that deviate most."""
        if layer == 0:
            self._all = len(covered)
        if self._fraction == 1 or (layer < self._first and self._fraction > 0):
            return covered
        count = min(len(covered), round(self._fraction * self._all))
        if count == len(covered) or count == 0:
            return covered[:count]
        picked: torch.Tensor = covered[deviation().topk(count).indices.sort().values]
        return picked


class Fixed:
    """The same tokens in all layers, known beforehand."""

    def __init__(self, positions: Sequence[int]) -> None:
        self._positions = positions

    def __call__(self, layer: int, covered: torch.Tensor, deviation: Callable[[], torch.Tensor]) -> torch.Tensor:  # noqa: ARG002
        """Those of the covered that were named."""
        import torch

        named = torch.tensor(list(self._positions), dtype=covered.dtype, device=covered.device)
        return covered[torch.isin(covered, named)]


def blend(module: Any, ids: Sequence[int], placed: Sequence[PlacedChunk], choose: Choose) -> Blended:
    """Prefill `ids` with the help of chunks. Raises InvalidArgument when they do not fit the prompt.

    The last token is always computed, for its logits.
    """
    import torch

    with torch.inference_mode(), attending(module):
        return finished(blend_steps(module, ids, placed, choose))


def blend_steps(module: Any, ids: Sequence[int], placed: Sequence[PlacedChunk], choose: Choose) -> Steps[Blended]:
    """Do the same in steps of a layer; to be run in inference mode and `attending`."""
    import torch
    from transformers import Cache

    if not ids:
        raise InvalidArgument("a prompt without tokens cannot be computed: give at least one")
    check_placement(ids, placed)
    decoder, total = module.get_decoder(), len(ids)
    device = module.device
    layers = _laid(module, placed, total)
    cache = Cache(layers=list(layers))
    covered = torch.zeros(total, dtype=torch.bool, device=device)
    exact = torch.zeros(total, dtype=torch.bool, device=device)
    for one in placed:
        span = slice(one.at, one.at + len(one.chunk.ids))
        covered[span], exact[span] = not one.exact, one.exact
    exact[-1] = covered[-1] = False
    rows = (~exact).nonzero().flatten()
    at = torch.arange(total, device=device)
    spent = 0
    hidden = decoder.embed_tokens(torch.tensor([list(ids)], device=device)[:, rows])
    for depth, (block, layer) in enumerate(zip(decoder.layers, layers, strict=True)):
        states = _LayerStates(decoder, block, hidden, rows, depth)
        mine = covered[rows]
        go = ~mine
        picked = choose(depth, rows[mine], partial(states.deviation, mine, layer))
        go |= torch.isin(rows, picked)
        if states.seen is not None:  # computed to compare: as good as computed to use
            layer.rows = rows
            layer.update(*states.seen)
        hidden, rows = hidden[:, go], rows[go]
        layer.rows = rows
        hidden = _through(decoder, block, hidden, rows, at[None] <= rows[:, None], cache)
        spent += len(rows)
        layer.rows = None
        yield
    logits = module.lm_head(decoder.norm(hidden[:, -1]))[0].float()
    full = spent == int((~exact).sum()) * len(layers)
    return Blended(cache, logits, spent / (total * len(layers)), approximate=bool(covered.any()) and not full)


class _LayerStates:
    """The keys and values that one layer would compute."""

    def __init__(self, decoder: Any, block: Any, hidden: torch.Tensor, rows: torch.Tensor, depth: int) -> None:
        self._decoder, self._block, self._hidden, self._rows, self._depth = decoder, block, hidden, rows, depth
        self.seen: tuple[torch.Tensor, torch.Tensor] | None = None

    def deviation(self, mine: torch.Tensor, old: Any) -> torch.Tensor:
        """Squared distance of keys and values, over all heads, of the rows marked `mine` (section 4.2)."""
        import torch
        from transformers import Cache

        from semcache.engine.chunks.writable_layers import PeekLayer

        peek: Any = PeekLayer()
        some = torch.ones(len(self._rows), 1, dtype=torch.bool, device=self._rows.device)
        self._block.self_attn(
            hidden_states=self._block.input_layernorm(self._hidden),
            position_embeddings=self._decoder.rotary_emb(self._hidden, position_ids=self._rows[None]),
            attention_mask=some,
            **cache_argument(self._block.self_attn, Cache(layers=[peek] * (self._depth + 1))),
        )
        new = self.seen = (peek.keys, peek.values)
        rows = self._rows[mine]
        off: list[torch.Tensor] = [
            (one[:, :, mine] - was[:, :, rows]).float().pow(2).sum((0, 1, 3))
            for one, was in zip(new, (old.keys, old.values), strict=True)
        ]
        return off[0] + off[1]


def _through(
    decoder: Any, block: Any, hidden: torch.Tensor, rows: torch.Tensor, mask: torch.Tensor, cache: Any
) -> torch.Tensor:
    """A layer for some rows, which write their keys and values and then see all before them."""
    out = block(
        hidden,
        attention_mask=mask,
        position_ids=rows[None],
        use_cache=True,
        position_embeddings=decoder.rotary_emb(hidden, position_ids=rows[None]),
        **cache_argument(block, cache),
    )
    found: torch.Tensor = out[0] if isinstance(out, tuple) else out
    return found


def _laid(module: Any, placed: Sequence[PlacedChunk], total: int) -> list[Any]:
    """A layer for each of the model's, with the chunks at their places and nothing elsewhere."""
    import torch

    from semcache.engine.chunks.writable_layers import ScatterLayer

    config = module.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    size = (config.num_hidden_layers, 2, heads, total, dim)
    data = torch.zeros(size, dtype=module.dtype, device=module.device)
    angles = frequencies(module)
    for one in placed:
        span = slice(one.at, one.at + len(one.chunk.ids))
        given = one.chunk.data.to(module.device)
        data[:, 0, :, span] = (
            rotated(given[:, 0], one.at - one.chunk.start, angles) if one.at != one.chunk.start else given[:, 0]
        )
        data[:, 1, :, span] = given[:, 1]
    return [ScatterLayer(layer[0][None], layer[1][None]) for layer in data]
