"""SentenceKV (Zhu et al. 2025, section 3): one vector a sentence stays hot, its keys and values wait in host memory.

While the model reads on, each head's queries of the sentence being said are averaged and compared with the mean keys of
the sentences; those that fit into the budget are fetched, best first. Knows where sentences end, no word of them.
Invariant: nothing is lost, hence agnostic.
"""

from __future__ import annotations

from typing import Any

from semcache.engine.press.protocol import Asks, Observed


class SentenceKV:
    """The last `recent` tokens stay hot, beside the protected ones."""

    name = "sentencekv"
    asks = Asks.NOBODY
    agnostic = True

    def __init__(self, recent: int = 8) -> None:
        self._recent = recent

    def press(self, seen: Observed) -> Any:
        """Group tokens by the sentences that `ends` closes."""
        from semcache.engine.press.sentences import SentenceLayer

        return SentenceLayer(seen, recent=self._recent)
