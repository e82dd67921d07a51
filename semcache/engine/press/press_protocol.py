"""The protocol of a press, and the layer that it compresses.

A press makes a smaller layer from the keys and values that a prefill left in one layer. Knows shapes, no method.
Invariant: keys keep the rotation of their true position; a press that is `agnostic` never sees a question.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch


class QuerySource(enum.Enum):
    """The queries that a press needs."""

    NOBODY = "nobody"
    TEXT = "the text's own"
    REPETITION = "those of the text, read once more"


@dataclass(frozen=True, slots=True)
class ObservedLayer:
    """A layer after a prefill of n tokens.

    `keys` and `values` are (batch, KV heads, n, dim), keys rotated; `queries` (batch, heads, m, dim) are those that the
    press asked for: the last m tokens' own, or, with `behind`, those of m tokens that came after all n. `protected`
    (n,) marks tokens that must stay as they are. `scale` is that of scores. `keep` is the share of bytes to keep, in
    (0, 1).
    """

    layer: int
    layers: int
    keys: torch.Tensor
    values: torch.Tensor
    queries: torch.Tensor | None
    behind: bool
    protected: torch.Tensor
    scale: float
    keep: float

    @property
    def tokens(self) -> int:
        """The number of tokens, n."""
        return int(self.keys.shape[2])

    @property
    def budget(self) -> int:
        """The number of tokens that may stay: the protected ones, and `keep` of the others, at least one."""
        safe = int(self.protected.sum())
        return safe + max(1, round(self.keep * (self.tokens - safe)))

    def attention(self, rows: int) -> torch.Tensor:
        """Attention of the last `rows` queries: (batch, KV heads, queries that share one, rows, n), in float32.

        Softmax over the n tokens alone: the tokens behind them do not matter for which of them to keep.
        """
        return next(self.attention_pieces(rows, at_once=rows))

    def attention_pieces(self, rows: int, *, at_once: int = 256) -> Iterator[torch.Tensor]:
        """The same, `at_once` rows after the others: all of them together would be n times n for every head."""
        import torch

        assert self.queries is not None
        queries = self.queries[:, :, -rows:]
        batch, _, rows, dim = queries.shape
        at = torch.arange(self.tokens, device=queries.device)
        for first in range(0, rows, at_once):
            some = queries[:, :, first : first + at_once]
            shared = some.reshape(batch, self.keys.shape[1], -1, some.shape[2], dim)
            scores = torch.einsum("bhgmd,bhnd->bhgmn", shared, self.keys).float() * self.scale
            if not self.behind:
                seen = at[None] <= at[-rows:, None][first : first + at_once]
                scores = scores.masked_fill(~seen, -torch.inf)
            yield scores.softmax(-1)


class Press(Protocol):
    """A method to keep less of a layer.

    `agnostic`: the layer that it keeps serves any question to come, as its paper means it.
    """

    name: str
    asks: QuerySource
    agnostic: bool

    def press(self, seen: ObservedLayer) -> Any:
        """Return a transformers cache layer with `bytes` and `positions`.

        Raises InvalidArgument when `keep` is out of reach.
        """
        ...
