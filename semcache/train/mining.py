"""Hard negatives: for a prompt, near prompts that are answered otherwise, found by faiss.

Knows vectors and answer classes, no model. Invariant: nothing is mined that pairs say to be the same, nor from so near
that it is likelier an unlabelled duplicate than a trap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from semcache.train.pairs import Pair
from semcache.train.text_identity import caseless

if TYPE_CHECKING:
    from semcache.types import Matrix

NEIGHBOURS = 32
CEILING = 0.95  # share of the positive's score above which a neighbour counts as an unlabelled duplicate
MADE = "mined"


def mine(
    positives: Sequence[Pair], vectors: Matrix, texts: Sequence[str], classes: Mapping[str, int], *, each: int = 1
) -> list[Pair]:
    """At most `each` hard negatives for the first text of every positive pair.

    `vectors` are the unit vectors of `texts`, shape (len(texts), dim); `classes` numbers the answers of caseless texts
    (`splits.numbered`). A neighbour is taken if its score is at most `CEILING` times the score of the positive, the
    rule of NV-Retriever (arXiv 2407.15831, section 3.2, TopK-PercPos).
    """
    faiss = import_module("faiss")
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, np.float32))
    place = {text: row for row, text in enumerate(texts)}
    anchors = [place[pair.one] for pair in positives]
    if not anchors:
        return []
    scores, rows = index.search(np.ascontiguousarray(vectors[anchors], np.float32), min(NEIGHBOURS, len(texts)))
    number = [classes.get(caseless(text), -1 - row) for row, text in enumerate(texts)]
    found = []
    for pair, near, these in zip(positives, scores, rows, strict=True):
        anchor = place[pair.one]
        most = CEILING * float(vectors[anchor] @ vectors[place[pair.two]])
        chosen = [
            row for score, row in zip(near, these, strict=True) if score <= most and number[row] != number[anchor]
        ]
        found += [Pair(pair.one, texts[row], False, made=MADE) for row in chosen[:each]]
    return found
