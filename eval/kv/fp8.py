"""Eight-bit floats: every token as float8 (e4m3), scaled by token and head.

Knows numbers, no query, hence agnostic. Invariant: every token stays.
"""

from __future__ import annotations

from typing import Any

from semcache.engine.press.press_protocol import ObservedLayer, QuerySource
from semcache.errors import InvalidArgument


class Fp8:
    """The last `recent` tokens stay as they are."""

    name = "fp8"
    asks = QuerySource.NOBODY
    agnostic = True

    def __init__(self, recent: int = 32) -> None:
        self._recent = recent

    def press(self, seen: ObservedLayer) -> Any:
        """Raises InvalidArgument when `keep` is less than 8 bits."""
        from eval.kv.float_layer import FloatLayer

        native = seen.keys.element_size() * 8
        if seen.keep * native < 8:
            raise InvalidArgument(
                f"fp8 cannot keep {seen.keep:g} of {native}-bit values: at least {8 / native:g}, or use another press"
            )
        return FloatLayer(seen, recent=self._recent)
