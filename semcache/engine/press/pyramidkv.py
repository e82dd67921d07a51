"""PyramidKV (Cai et al. 2024, section 3.2): SnapKV with more tokens in the lower layers, fewer in the upper.

Budgets fall by the same number from layer to layer. Knows SnapKV's scores and the number of a layer. Invariant: the
sum over layers is what SnapKV would keep, up to rounding.
"""

from __future__ import annotations

from semcache.engine.press.press_protocol import ObservedLayer
from semcache.engine.press.snapkv import SnapKV


class PyramidKV(SnapKV):
    """The top layer keeps at least the `steep`-th part of an even share."""

    name = "pyramidkv"

    def __init__(self, window: int = 16, kernel: int = 5, steep: float = 4.0) -> None:
        super().__init__(window, kernel)
        self._steep = steep

    def budget(self, seen: ObservedLayer) -> int:
        """A share that falls from layer to layer; none keeps more than there is, nor fewer than the protected."""
        safe = int(seen.protected.sum())
        even = seen.budget - safe
        most = seen.tokens - safe
        least = max(even / self._steep, 2 * even - most)
        slope = 2 * (even - least) / max(1, seen.layers - 1)
        return safe + max(1, round(2 * even - least - slope * seen.layer)) if seen.layers > 1 else seen.budget
