"""Prefill and compression of a text by a press.

Rules, from "The Pitfalls of KV Cache Compression" and SCBench: a text that is stored for others to share is compressed
once, when it is first stored, by a press that is agnostic and without a question in sight; spans of instructions are
never compressed; the caller stores the result under a key of its own. Knows transformers models and presses, not where
results are stored. Invariant: `keep` 1 gives the cache of a plain prefill; the model's next position is the true one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semcache.engine.cache_argument import cache_argument
from semcache.engine.press.observed_attention import attending, read_steps
from semcache.engine.press.press_protocol import Press, QuerySource
from semcache.engine.press.query_recorder import QueryRecorder
from semcache.engine.steps import Steps, finished
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class PressedCache:
    """A transformers cache to go on from, and (batch, 1, vocabulary) logits of the last token.

    It is `approximate` when it is less than was computed; answers from it must then stay out of exact tiers. `bytes`
    are those of its keys and values.
    """

    cache: Any
    logits: torch.Tensor
    approximate: bool
    bytes: int


def press(
    module: Any,
    ids: torch.Tensor,
    by: Press,
    *,
    keep: float,
    protected: Sequence[range] = (),
    stored: bool = False,
) -> PressedCache:
    """Prefill (batch, n) ids of equal length and keep the share `keep` of what is not in `protected` positions.

    `stored` says that others will ask questions of the result. Raises InvalidArgument for a share outside (0, 1], a
    span outside the text, and a press that must not be used on a stored text.
    """
    import torch

    with torch.inference_mode(), attending(module):
        return finished(press_steps(module, ids, by, keep=keep, protected=protected, stored=stored))


def press_steps(
    module: Any,
    ids: torch.Tensor,
    by: Press,
    *,
    keep: float,
    protected: Sequence[range] = (),
    stored: bool = False,
    piece: int | None = None,
) -> Steps[PressedCache]:
    """Do the same in steps of `piece` tokens, or of a layer; to be run in inference mode and `attending`."""
    from transformers import Cache, DynamicCache

    safe = _checked(ids, by, keep, protected, stored=stored)
    asks = QuerySource.NOBODY if keep == 1 else by.asks
    watch, cache = QueryRecorder(), DynamicCache(config=module.config)
    observer = watch if asks is QuerySource.TEXT else None
    logits = yield from read_steps(module, ids, cache, piece, observer=observer)
    if keep == 1 or bool(safe.all()):
        return PressedCache(cache, logits, approximate=False, bytes=_bytes(cache))
    behind = asks is QuerySource.REPETITION
    if behind:
        yield from read_steps(module, ids, cache, piece, observer=watch)
    layers = []
    for layer in range(len(cache.layers)):
        seen = watch.observed(module, cache, layer, tokens=ids.shape[-1], keep=keep, protected=safe, behind=behind)
        layers.append(by.press(seen))
        yield
    return PressedCache(Cache(layers=layers), logits, approximate=True, bytes=sum(layer.bytes for layer in layers))


def read_on(module: Any, ids: torch.Tensor, cache: Any) -> torch.Tensor:
    """Read (batch, m) more ids on a cache, pressed or not; (batch, m, vocabulary) logits."""
    import torch

    with torch.inference_mode(), attending(module):
        logits: torch.Tensor = module(ids, use_cache=True, **cache_argument(module, cache)).logits
    return logits


def _bytes(cache: Any) -> int:
    return sum(t.numel() * t.element_size() for layer in cache.layers for t in (layer.keys, layer.values))


def _checked(ids: torch.Tensor, by: Press, keep: float, protected: Sequence[range], *, stored: bool) -> torch.Tensor:
    """The protected tokens, marked. Raises InvalidArgument."""
    import torch

    tokens = ids.shape[-1]
    if not 0 < keep <= 1:
        raise InvalidArgument(f"keep {keep!r} is no share of the cache: give more than 0 and at most 1")
    if ids.ndim != 2 or not tokens:
        raise InvalidArgument(
            f"ids of shape {tuple(ids.shape)} are no text: give (batch, tokens) with at least one token"
        )
    if outside := [span for span in protected if span.start < 0 or span.stop > tokens or span.step != 1]:
        raise InvalidArgument(f"protected span {outside[0]!r} is not within the {tokens} tokens of the text")
    if stored and not by.agnostic:
        raise InvalidArgument(
            f"press {by.name!r} looks at the question, and a stored text has none: use one that is agnostic"
        )
    safe = torch.zeros(tokens, dtype=torch.bool, device=ids.device)
    for span in protected:
        safe[span.start : span.stop] = True
    return safe
