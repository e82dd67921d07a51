"""Stop strings: a text that arrives in pieces is cut at the first of them.

Knows text alone. Invariant: text that was let through never contains a stop string, nor the beginning of one that could
still be completed; however the text is divided into pieces, the same text comes out.
"""

from __future__ import annotations

from collections.abc import Sequence


class StopFilter:
    """A filter that passes text up to the first of `stops`, none of them empty."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.stopped = False

    def feed(self, piece: str) -> str:
        """The text that is safe to pass on. After a stop string, `stopped` is True and nothing more comes."""
        if self.stopped:
            return ""
        text = self._held + piece
        # The stop that is complete first ends the text, as it would have had the text come letter by letter.
        ends = [(at + len(stop), at) for stop in self._stops if (at := text.find(stop)) >= 0]
        if ends:
            self.stopped = True
            self._held = ""
            end = min(ends)[0]
            return text[: min(at for found, at in ends if found == end)]
        keep = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """The text that was held back, when no more comes."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """The length of the longest end of `text` that begins `stop` without completing it."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if stop.startswith(text[-length:]):
            return length
    return 0
