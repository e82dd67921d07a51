"""Runs of tokens that two prompts have in common: reuse of a neighbour's keys and values (KVShare: Yang et al. 2025).

Runs of equal tokens are found by a longest-common-run alignment; the first run, from the first token on, is exact, the
others are moved, and the tokens between them are new. `blend` with `HighDeviation`, the paper's first stage, chooses
which of the moved tokens to compute anew. The neighbour must belong to the same tenant, which the caller's store
ensures. Knows tokens, nothing of models. Invariant: runs are in order in both prompts and do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from semcache.engine.chunks.chunk import Chunk, PlacedChunk


def align(ids: Sequence[int], neighbour: Chunk, *, shortest: int = 4) -> list[PlacedChunk]:
    """Parts of a whole prompt's chunk, for use in `ids`. Runs of fewer than `shortest` tokens are not worth it."""
    found = []
    for old, new, size in SequenceMatcher(None, neighbour.ids, ids, autojunk=False).get_matching_blocks():
        exact = old == new == 0 and neighbour.start == 0
        if size and (exact or size >= shortest):
            found.append(PlacedChunk(new, neighbour.part(old, old + size), exact=exact))
    return found
