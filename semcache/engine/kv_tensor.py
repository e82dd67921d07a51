"""Keys and values of every page and layer, in one tensor.

Knows tensors and page numbers, not whose they are. A page holds `block` tokens of all layers; per layer the pages lie
one behind the other, so that neighbouring pages are one view and others are gathered.
Invariant: a page that is read back is bit for bit what was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from semcache.errors import ConfigError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class KVShape:
    """The shape of the keys and values of one token: `layers` × 2 × `heads` × `dim` numbers of `dtype`."""

    layers: int
    heads: int
    dim: int
    dtype: torch.dtype
    device: torch.device

    @property
    def token_bytes(self) -> int:
        """Bytes of one token's keys and values."""
        item: int = self.dtype.itemsize
        return self.layers * 2 * self.heads * self.dim * item


class KVTensor:
    """`pages` pages of `block` tokens. Raises ConfigError when that does not fit into memory."""

    def __init__(self, shape: KVShape, *, pages: int, block: int) -> None:
        import torch

        self.shape, self.pages, self.block = shape, pages, block
        size = (shape.layers, 2, shape.heads, pages, block, shape.dim)
        try:
            self._data = torch.zeros(size, dtype=shape.dtype, device=shape.device)
        except (RuntimeError, MemoryError) as error:
            need = pages * block * shape.token_bytes
            raise ConfigError(
                f"no memory for a KV cache of {need:,} bytes on {shape.device}: make it smaller"
            ) from error

    def write(self, layer: int, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Put (heads, tokens, dim) keys and values into `slots`: page × block + offset of each token."""
        flat = self._data[layer].flatten(2, 3)
        flat[0].index_copy_(1, slots, keys)
        flat[1].index_copy_(1, slots, values)

    def read(self, layer: int, pages: PageRun | torch.Tensor, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The first `tokens` of some pages, as (heads, tokens, dim) keys and values. A view for a `PageRun`."""
        data = self._data[layer]
        if isinstance(pages, PageRun):
            flat = data[:, :, pages.start : pages.start + pages.count].flatten(2, 3)
        else:
            flat = data.index_select(2, pages).flatten(2, 3)
        return flat[0, :, :tokens], flat[1, :, :tokens]

    def put_at(self, pages: Sequence[int], first: int, data: torch.Tensor) -> None:
        """Write the places from `first` on of keys and values into their `pages`.

        `data` is (layers, 2, heads, places, dim). Raises ValueError for another shape.
        """
        import torch

        layers, _, heads, count, dim = data.shape
        if (layers, heads, dim) != (self.shape.layers, self.shape.heads, self.shape.dim):
            raise ValueError(f"keys and values of {tuple(data.shape)} are not of this model")
        places = range(first, count)
        slots = torch.tensor([pages[at // self.block] * self.block + at % self.block for at in places])
        slots, given = slots.to(self.shape.device), data.to(self.shape.device, self.shape.dtype)
        for layer in range(layers):
            self.write(layer, slots, given[layer, 0, :, first:], given[layer, 1, :, first:])

    def copy(self, source: int, target: int) -> None:
        """Copy a page: a sequence does so before it writes into a page that others hold."""
        self._data[:, :, :, target] = self._data[:, :, :, source]

    def take_out(self, page: int) -> torch.Tensor:
        """A page on its own, (layers, 2, heads, block, dim), in host memory."""
        return self._data[:, :, :, page].to("cpu", copy=True).contiguous()

    def put_in(self, page: int, data: torch.Tensor) -> None:
        """Write a page that `take_out` gave. Raises ValueError for another shape or dtype."""
        room = self._data[:, :, :, page]
        if data.shape != room.shape or data.dtype != room.dtype:
            raise ValueError(f"a page of {tuple(room.shape)} {room.dtype} was given {tuple(data.shape)} {data.dtype}")
        room.copy_(data)


@dataclass(frozen=True, slots=True)
class PageRun:
    """Neighbouring pages."""

    start: int
    count: int


def page_index(pages: Sequence[int], device: torch.device) -> PageRun | torch.Tensor:
    """Pages as a run if they are neighbours, else as an index tensor."""
    import torch

    if pages[-1] - pages[0] == len(pages) - 1 and all(b - a == 1 for a, b in pairwise(pages)):
        return PageRun(pages[0], len(pages))
    return torch.tensor(pages, dtype=torch.long, device=device)
