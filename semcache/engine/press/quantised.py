"""A cache layer whose text is stored in fewer bits and read as what it was.

Integers of 2, 4 or 8 bits with minimum and scale (packed into bytes), or 8-bit floats with a scale. Protected and
latest tokens are stored as they are, before and behind; the order of tokens in a cache does not matter, as keys carry
their positions. Imports torch at the top, like `layers`. Knows no press. Invariant: an integer is off by at most half
of its group's step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from semcache.engine.press.protocol import Observed
from semcache.engine.press.short_layers import PressedLayer, held

_FP8 = torch.float8_e4m3fn


@dataclass(frozen=True, slots=True)
class Coded:
    """Numbers in few bits: `data` with `scale` and, for integers, `least`; `shape` is that of the numbers.

    Integers are grouped along the last dimension, of which there are whole groups.
    """

    data: torch.Tensor
    scale: torch.Tensor
    least: torch.Tensor | None
    shape: torch.Size
    bits: int

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return held(self.data, self.scale, *([] if self.least is None else [self.least]))


def integers(numbers: torch.Tensor, bits: int) -> Coded:
    """Code (…, group) numbers as integers between the least and the largest of their group (KIVI, eq. 1)."""
    grouped = numbers.float()
    least, most = grouped.amin(-1, keepdim=True), grouped.amax(-1, keepdim=True)
    scale = ((most - least) / (2**bits - 1)).clamp(min=1e-8)
    whole = ((grouped - least) / scale).round().clamp(0, 2**bits - 1).to(torch.uint8).flatten()
    per = 8 // bits
    whole = torch.cat([whole, whole.new_zeros(-len(whole) % per)]).view(-1, per)
    shifts = torch.arange(0, 8, bits, dtype=torch.uint8, device=whole.device)
    packed = (whole << shifts).sum(-1, dtype=torch.uint8)
    return Coded(packed, scale.to(numbers.dtype), least.to(numbers.dtype), numbers.shape, bits)


def floats(numbers: torch.Tensor) -> Coded:
    """Code (…, dim) numbers as 8-bit floats, the largest of each dim at the largest float."""
    scale = (numbers.float().abs().amax(-1, keepdim=True) / torch.finfo(_FP8).max).clamp(min=1e-12)
    return Coded((numbers.float() / scale).to(_FP8), scale, None, numbers.shape, 8)


def decoded(coded: Coded, dtype: torch.dtype) -> torch.Tensor:
    """The numbers again, about."""
    if coded.least is None:
        return (coded.data.float() * coded.scale).to(dtype)
    shifts = torch.arange(0, 8, coded.bits, dtype=torch.uint8, device=coded.data.device)
    whole = (coded.data.unsqueeze(-1) >> shifts) & (2**coded.bits - 1)
    numbers = whole.flatten()[: coded.shape.numel()].view(coded.shape).float()
    found: torch.Tensor = (numbers * coded.scale.float() + coded.least.float()).to(dtype)
    return found


class QuantisedLayer(PressedLayer):
    """A text in `bits` bits, None for 8-bit floats. `keys` and `values` hold what is stored as it is."""

    def __init__(self, seen: Observed, *, bits: int | None, group: int, recent: int) -> None:
        plain = seen.protected.clone()
        plain[max(0, seen.tokens - recent) :] = True
        rest = (~plain).nonzero().flatten()
        plain[rest[len(rest) - len(rest) % group :]] = True  # groups are whole
        at, coded = plain.nonzero().flatten(), (~plain).nonzero().flatten()
        where = torch.cat([coded, at]).expand(*seen.keys.shape[:2], -1)
        super().__init__(seen.keys[:, :, at], seen.values[:, :, at], where, seen.tokens)
        self._group = group
        keys, values = seen.keys[:, :, coded], seen.values[:, :, coded]
        if bits is None:
            self._keys, self._values = floats(keys), floats(values)
        else:
            self._keys = integers(keys.reshape(*keys.shape[:2], -1, group, keys.shape[3]).transpose(-1, -2), bits)
            self._values = integers(values, bits)
        self._float = bits is None
        self._coded = len(coded)
        self.bytes += self._keys.bytes + self._values.bytes

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append, and give all: the coded decoded, then those as they are, then the new."""
        plain_keys, plain_values = super().update(key_states, value_states, *args, **kwargs)
        keys, values = decoded(self._keys, self.dtype), decoded(self._values, self.dtype)
        if not self._float:
            keys = keys.transpose(-1, -2).flatten(2, 3)
        return torch.cat([keys, plain_keys], 2), torch.cat([values, plain_values], 2)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """As if everything stood right before the new."""
        kept = self.keys.shape[-2] + self._coded
        return kept + query_length, self.seen - kept
