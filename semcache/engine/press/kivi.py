"""Quantised layers after KIVI (Liu et al. 2024, section 3): keys by channel, values by token, the latest as they are.

Keys have channels with large values, so each channel of a group of tokens has a scale of its own; values are scaled by
token. Knows numbers, no query, hence agnostic. Invariant: every token stays.
"""

from __future__ import annotations

from typing import Any

from semcache.engine.press.press_protocol import ObservedLayer, QuerySource
from semcache.errors import InvalidArgument


class Kivi:
    """Keys and values in 8, 4 or 2 bits, whichever `keep` of the layer's own width allows.

    Tokens are in groups of `group`; the last `recent` tokens stay as they are.
    """

    name = "kivi"
    asks = QuerySource.NOBODY
    agnostic = True

    def __init__(self, group: int = 32, recent: int = 32) -> None:
        self._group, self._recent = group, recent

    def press(self, seen: ObservedLayer) -> Any:
        """Raises InvalidArgument when `keep` is less than 2 bits."""
        from semcache.engine.press.quantised_layer import QuantisedLayer

        native = seen.keys.element_size() * 8
        bits = next((bits for bits in (8, 4, 2) if bits <= seen.keep * native), None)
        if bits is None:
            raise InvalidArgument(
                f"kivi cannot keep {seen.keep:g} of {native}-bit values: at least {2 / native:g}, or use another press"
            )
        return QuantisedLayer(seen, bits=bits, group=self._group, recent=self._recent)
