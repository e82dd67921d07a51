"""Pairs of texts as rows of tokens: "[CLS] one [SEP] two [SEP]", and to which text each token belongs.

Knows a tokenizer and nothing of labels or models. Invariant: a pair has the same row whatever pairs are beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_TOKENS = 256  # of a pair; the rest is cut off


@dataclass(frozen=True, slots=True)
class TokenRow:
    """The tokens of a pair, and 0 or 1 for the text that each is of."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]


def rows(tokenizer: Any, pairs: Sequence[tuple[str, str]], longest: int = MAX_TOKENS) -> list[TokenRow]:
    """A row for each pair; `tokenizer` is one of the `tokenizers` library, of the BERT family."""
    return [
        TokenRow(tuple(one.ids[:longest]), tuple(one.type_ids[:longest])) for one in tokenizer.encode_batch(list(pairs))
    ]


def padded(some: Sequence[TokenRow]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`ids`, `kinds` and `mask`, each (n, tokens), as `cross_encoder_network.judge` takes them."""
    shape = len(some), max(len(row.ids) for row in some)
    ids, kinds, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for place, row in enumerate(some):
        ids[place, : len(row.ids)] = row.ids
        kinds[place, : len(row.ids)] = row.kinds
        mask[place, : len(row.ids)] = 1
    return ids, kinds, mask
