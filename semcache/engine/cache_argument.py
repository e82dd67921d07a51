"""The keyword under which a transformers module takes its cache.

transformers renamed `past_key_values` to `cache` in 5.24. Invariant: the name is the module's own, read from its
signature, so modules written for either version work.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import signature
from typing import Any


def cache_argument(module: Any, cache: Any) -> dict[str, Any]:
    """`cache` as a keyword argument of a model, a layer or an attention module."""
    kind: Any = type(module)
    return {_name(kind): cache}


@lru_cache(maxsize=64)
def _name(kind: Any) -> str:
    return "cache" if "cache" in signature(kind.forward).parameters else "past_key_values"
