"""Incremental detokenization of one choice: tokens in, text out, up to a stop string.

Knows how tokens become text and which scores belong to which text. Invariant: scores come out with the text of their
tokens, in order, and none of a token that a stop string cut away whole.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from semcache.engine.job import TokenScore
from semcache.engine.stop_strings import StopFilter
from semcache.engine.tokenizer import StreamDecoder


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text that may be passed on, with the scores of its tokens."""

    text: str = ""
    scores: tuple[TokenScore, ...] = ()


class Detokenizer:
    """The detokenizer of a choice. With `scored` False no scores come out."""

    def __init__(self, reader: StreamDecoder, stops: tuple[str, ...], *, scored: bool) -> None:
        self._reader, self._filter, self._scored = reader, StopFilter(stops), scored
        self._read = self._passed = 0  # letters
        self._held: deque[tuple[int, int, TokenScore]] = deque()  # from letter, to letter

    @property
    def stopped(self) -> bool:
        """True if a stop string has ended the text."""
        return self._filter.stopped

    def feed(self, score: TokenScore) -> DecodedText:
        """Add a token."""
        start, piece = self._read, self._reader.feed(score.token)
        self._read += len(piece)
        if self._scored:
            self._held.append((start, self._read, score))
        return self._pass(self._filter.feed(piece))

    def flush(self) -> DecodedText:
        """The text that was held back, when no more tokens come."""
        if self.stopped:
            return DecodedText()
        rest = self._filter.feed(self._reader.flush())
        return self._pass(rest + self._filter.flush(), last=True)

    def _pass(self, text: str, *, last: bool = False) -> DecodedText:
        self._passed += len(text)
        scores = []
        while self._held:
            start, stop, score = self._held[0]
            if not (last or stop <= self._passed or (self.stopped and start < self._passed)):
                break
            self._held.popleft()
            scores.append(score)
        return DecodedText(text, tuple(scores))
