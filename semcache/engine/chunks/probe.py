"""A probe that a model's prompts can be assembled from chunks, run once for a model.

Knows that keys are rotated as `rope` does and that layers can be gone through one by one as `blend` does; a model that
scales, caps or rotates in another way is refused instead of answering wrongly. Invariant: a model that passes gives its
own logits for a prompt that is assembled from a moved chunk and computed in full.
"""

from __future__ import annotations

import math
from typing import Any

from semcache.engine.chunks.blend import HighDeviation, blend
from semcache.engine.chunks.chunk import PlacedChunk, encode
from semcache.engine.chunks.rope import frequencies, rotated
from semcache.errors import ConfigError

_TOLERANCE = {"float32": 1e-3, "float16": 0.05, "bfloat16": 0.2}  # relative to the norm
_MOVED = 5  # positions


def probe_chunks(module: Any) -> None:
    """Raise ConfigError for a model whose chunks cannot be reused."""
    import torch

    kind = module.config.model_type
    allowed = _TOLERANCE.get(str(module.dtype).removeprefix("torch."), 0.2)
    ids = [(7 * at + 3) % module.config.vocab_size for at in range(12)]
    angles = frequencies(module)
    here = encode(module, ids[_MOVED:])
    there = encode(module, ids[_MOVED:], prefix=ids[:_MOVED])
    moved = rotated(here.data[0, 0], _MOVED, angles)  # the first layer's keys depend on token and position alone
    if (off := _off(moved, there.data[0, 0])) > allowed:
        raise ConfigError(
            f"a model of type {kind!r} turns its keys in another way (off by {off:.2g}): reuse prefixes alone"
        )
    try:
        made = blend(module, ids, [PlacedChunk(_MOVED, here)], HighDeviation(1.0)).logits
    except (AttributeError, TypeError, RuntimeError) as error:
        raise ConfigError(
            f"a model of type {kind!r} cannot be gone through layer by layer: reuse prefixes alone"
        ) from error
    with torch.inference_mode():
        whole = module(torch.tensor([ids], device=module.device), use_cache=False).logits[0, -1]
    if (off := _off(made, whole)) > allowed:
        raise ConfigError(f"a model of type {kind!r} is more than its layers (off by {off:.2g}): reuse prefixes alone")


def _off(found: Any, true: Any) -> float:
    """The distance, relative to the norm; infinite where a value is no number."""
    off = float((found.float() - true.float()).norm() / true.float().norm().clamp(min=1e-6))
    return off if math.isfinite(off) else math.inf
