"""Packing: the layout of sequences in one batch, and the tokens that each row attends to.

Knows token ids, positions and pages, nothing of requests or of the model's layers. Invariant: the pages of a slice hold
all tokens before it, and have room for its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semcache.engine.attention import BatchLayout, SequenceSpan, SharedPrefixGroup
from semcache.engine.attention_merge import ParallelSpan
from semcache.engine.kv_tensor import KVTensor, page_index

if TYPE_CHECKING:
    import torch

_SHORT = 512  # tokens of a sequence's own up to which padding many of them costs less than a call for each


@dataclass(frozen=True, slots=True)
class SequenceSlice:
    """The tokens `ids` of a sequence, from its place `start` on; `pages` hold the whole sequence.

    Logits are wanted of the last `wanted` tokens. Positions are places plus `shift`; within `sides` documents lie side
    by side.
    """

    ids: list[int]
    start: int
    pages: Sequence[int]
    wanted: int
    shift: int = 0
    sides: ParallelSpan | None = None


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """A batch: (1, tokens) ids and positions, how attention reads it, and the rows whose logits are wanted."""

    ids: torch.Tensor
    positions: torch.Tensor
    packing: BatchLayout
    wanted: torch.Tensor


def pack(pieces: Sequence[SequenceSlice], store: KVTensor, *, share: int) -> PackedBatch:
    """Lay out slices in their order.

    Sequences with one token each attend together to the prefix that they share, from `share` tokens on.
    """
    import torch

    device, block = store.shape.device, store.block
    ids: list[int] = []
    positions: list[int] = []
    slots: list[int] = []
    wanted: list[int] = []
    spans: list[SequenceSpan] = []
    singles: list[tuple[int, SequenceSlice]] = []
    for piece in pieces:
        first, last = len(ids), len(ids) + len(piece.ids)
        ids.extend(piece.ids)
        places = range(piece.start, piece.start + len(piece.ids))
        positions.extend(at + piece.shift for at in places)
        slots.extend(piece.pages[at // block] * block + at % block for at in places)
        wanted.extend(range(last - piece.wanted, last))
        if len(piece.ids) == 1 and piece.sides is None:
            singles.append((first, piece))
        else:
            spans.append(_span(first, piece, store))
    groups: list[SharedPrefixGroup] = []
    for shared, members in _prefix_groups(singles, block=block, share=share):
        if len(members) == 1:
            spans.append(_span(*members[0], store))
        else:
            groups.append(_prefix_group(members, shared, store))

    def index(values: list[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.long, device=device)

    packing = BatchLayout(store, index(slots), tuple(spans), tuple(groups))
    return PackedBatch(index(ids)[None], index(positions)[None], packing, index(wanted))


def _span(row: int, piece: SequenceSlice, store: KVTensor) -> SequenceSpan:
    import torch

    rows, length = len(piece.ids), piece.start + len(piece.ids)
    pages = page_index(piece.pages[: -(-length // store.block)], store.shape.device)
    mask = None
    if rows > 1:
        mask = torch.zeros(rows, length, dtype=store.shape.dtype, device=store.shape.device)
        mask[:, piece.start :].fill_(-torch.inf).triu_(1)
    return SequenceSpan(row, row + rows, pages, length, mask, piece.sides)


def _prefix_groups(
    singles: Sequence[tuple[int, SequenceSlice]], *, block: int, share: int
) -> list[tuple[int, list[tuple[int, SequenceSlice]]]]:
    """Group sequences that attend together, with the number of pages that they share.

    Long ones that share nothing are alone.
    """
    families: dict[int, list[tuple[int, SequenceSlice]]] = {}
    for row, piece in singles:
        families.setdefault(piece.pages[0], []).append((row, piece))
    groups: list[tuple[int, list[tuple[int, SequenceSlice]]]] = []
    rest: list[tuple[int, SequenceSlice]] = []
    for members in families.values():
        common = shared_pages([list(piece.pages[: piece.start // block]) for _, piece in members])
        if len(members) > 1 and common * block >= share:
            groups.append((common, members))
        else:
            rest.extend(members)
    together = [member for member in rest if member[1].start < _SHORT]
    groups.extend((0, [member]) for member in rest if member[1].start >= _SHORT)
    if together:
        groups.append((0, together))
    return groups


def shared_pages(tables: Sequence[list[int]]) -> int:
    """The length of the longest common prefix of page tables."""
    first, last = min(tables), max(tables)
    for at, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return at
    return min(len(first), len(last))


def _prefix_group(members: Sequence[tuple[int, SequenceSlice]], shared: int, store: KVTensor) -> SharedPrefixGroup:
    import torch

    device, block = store.shape.device, store.block
    tails = [piece.pages[shared : piece.start // block + 1] for _, piece in members]
    width = max(map(len, tails))
    own = torch.tensor([piece.start + 1 - shared * block for _, piece in members], device=device)
    unseen = torch.arange(width * block, device=device)[None] >= own[:, None]
    # Padding repeats a page of the sequence's own: any page would do, as nobody sees it.
    padded = [[*tail, *[tail[-1]] * (width - len(tail))] for tail in tails]
    prefix = page_index(members[0][1].pages[:shared], device) if shared else None
    rows = torch.tensor([row for row, _ in members], device=device)
    return SharedPrefixGroup(rows, prefix, shared * block, torch.tensor(padded, device=device), unseen)
