"""A chunk of text with the keys and values that it had where it was computed.

Knows tokens, positions and what stood before. Invariant: keys carry the rotation of `start` and what follows; they are
never turned in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semcache.engine.press.observed_attention import read_steps
from semcache.engine.steps import Steps, finished
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """`ids` from position `start`, with `data` of (layers, 2, KV heads, tokens, dim)."""

    ids: tuple[int, ...]
    start: int
    data: torch.Tensor

    def part(self, first: int, stop: int) -> Chunk:
        """The tokens from `first` up to `stop`."""
        return replace(self, ids=self.ids[first:stop], start=self.start + first, data=self.data[..., first:stop, :])

    @property
    def bytes(self) -> int:
        """Bytes of keys and values."""
        return int(self.data.numel() * self.data.element_size())


@dataclass(frozen=True, slots=True, eq=False)
class PlacedChunk:
    """A chunk to be used at position `at` of a prompt; `exact` when all that stood before it is the same there."""

    at: int
    chunk: Chunk
    exact: bool = False


def encode(module: Any, ids: Sequence[int], *, prefix: Sequence[int] = ()) -> Chunk:
    """Compute a chunk behind a prefix alone.

    A prefix that all chunks share takes the attention that first tokens gather (APE, section 4.1). Raises
    InvalidArgument for an empty chunk.
    """
    import torch

    with torch.inference_mode():
        return finished(encode_steps(module, ids, prefix=prefix))


def encode_steps(
    module: Any, ids: Sequence[int], *, prefix: Sequence[int] = (), piece: int | None = None
) -> Steps[Chunk]:
    """Do the same in steps of `piece` tokens; to be run in inference mode."""
    import torch
    from transformers import DynamicCache

    if not ids:
        raise InvalidArgument("a chunk without tokens has no keys to keep: leave it out")
    cache = DynamicCache(config=module.config)
    yield from read_steps(module, torch.tensor([[*prefix, *ids]], device=module.device), cache, piece)
    return chunk_from_cache(cache, ids, len(prefix))


def chunk_from_cache(cache: Any, ids: Sequence[int], start: int) -> Chunk:
    """The chunk `ids` from position `start` of a cache of one text."""
    import torch

    stop = start + len(ids)
    data = torch.stack([torch.stack([x.keys[0, :, start:stop], x.values[0, :, start:stop]]) for x in cache.layers])
    return Chunk(tuple(ids), start, data)


def check_placement(ids: Sequence[int], placed: Sequence[PlacedChunk]) -> None:
    """Raise InvalidArgument unless chunks lie within the prompt, in order, apart, on their own tokens."""
    end = 0
    for one in placed:
        stop = one.at + len(one.chunk.ids)
        if one.at < end or stop > len(ids):
            raise InvalidArgument(f"chunk at {one.at} to {stop} overlaps another or leaves the {len(ids)} tokens")
        if tuple(ids[one.at : stop]) != one.chunk.ids:
            raise InvalidArgument(f"chunk at {one.at} has other tokens than the prompt there")
        if one.exact and one.at != one.chunk.start:
            raise InvalidArgument(f"chunk at {one.at} was computed at {one.chunk.start}: it cannot be exact there")
        end = stop
