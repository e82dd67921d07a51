"""Speculative drafts of an answer, of which the model verifies several tokens in one pass.

The answer of a cached neighbour is the first source (it is followed where the model follows it, and found again after a
difference); the text so far is the second (prompt-lookup decoding: Saxena 2023; LLMA: Yang et al. 2023). Knows token
ids, nothing of models. A wrong draft costs time and never changes an answer. Invariant: the length of drafts grows
while they are right and shrinks to a probe while they are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

_GRAMS = (3, 2)
_PROBE = 2  # tokens guessed while guesses are wrong
_START = 8


class Drafter:
    """Drafts of one answer. `given` is a whole guessed answer, `most` the longest draft."""

    def __init__(self, prompt: Sequence[int], given: Sequence[int], most: int) -> None:
        self._given = list(given)
        self._given_index = _index(self._given)
        self._at: int | None = 0 if given else None
        self._most = most
        self._length = min(_START, most)
        self._text = list(prompt)
        self._prompt = len(self._text)
        self._grams: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def guess(self, room: int, *, look_back: bool = True) -> list[int]:
        """At most `room` tokens that may come next; the text so far is searched only to `look_back`."""
        length = min(self._length, room)
        if length <= 0:
            return []
        if self._at is not None and self._at < len(self._given):
            return self._given[self._at : self._at + length]
        if not look_back:
            return []
        self._index_text()
        for size in _GRAMS:
            found = self._grams.get(tuple(self._text[-size:])) if len(self._text) > size else None
            if found is not None:
                return self._text[found : found + length]
        return []

    def said(self, token: int) -> None:
        """Take notice of what the model said."""
        self._text.append(token)
        if not self._given:
            return
        if self._at is not None and self._at < len(self._given) and self._given[self._at] == token:
            self._at += 1
            return
        said = self._text[max(self._prompt, len(self._text) - max(_GRAMS)) :]
        places = [self._given_index.get(tuple(said[-size:])) for size in _GRAMS if len(said) >= size]
        self._at = next((at for at in places if at is not None), None)

    def judged(self, guessed: int, accepted: int) -> None:
        """Take notice of how many tokens of a guess were right."""
        if accepted == guessed:
            self._length = min(self._most, max(1, self._length) * 2)
        elif accepted * 2 < guessed:
            self._length = max(min(_PROBE, self._most), self._length // 2)

    def _index_text(self) -> None:
        """Enter every gram with what followed it; the newest has no continuation yet, and never finds itself."""
        for end in range(max(self._indexed, min(_GRAMS)), len(self._text)):
            for size in _GRAMS:
                if end >= size:
                    self._grams[tuple(self._text[end - size : end])] = end
        self._indexed = len(self._text)


def _index(ids: Sequence[int]) -> dict[tuple[int, ...], int]:
    """Where each gram that occurs once goes on."""
    found: dict[tuple[int, ...], int] = {}
    twice: set[tuple[int, ...]] = set()
    for size in _GRAMS:
        for end in range(size, len(ids)):
            gram = tuple(ids[end - size : end])
            if gram in found:
                twice.add(gram)
            found[gram] = end
    return {gram: end for gram, end in found.items() if gram not in twice}
