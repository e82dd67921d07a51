"""Cache layers whose text is stored in fewer bits and decoded when it is read.

Integers of 2, 4 or 8 bits with minimum and scale, packed into bytes. Protected and latest tokens are stored as they
are, behind the coded ones; the order of tokens in a cache does not matter, as keys carry their positions. Imports torch
at the top, like `pressed_layer`. Knows no press. Invariant: a number is off by at most half of its group's step, in
bfloat16 by three quarters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from semcache.engine.press.press_protocol import ObservedLayer
from semcache.engine.press.pressed_layer import PressedLayer, held


@dataclass(frozen=True, slots=True)
class Coded:
    """Numbers in few bits: packed integers, with the `scale` and `least` of each group; `shape` is that of the numbers.

    They are grouped along the last dimension, of which there are whole groups.
    """

    data: torch.Tensor
    scale: torch.Tensor
    least: torch.Tensor
    shape: torch.Size
    bits: int

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return held(self.data, self.scale, self.least)


def integers(numbers: torch.Tensor, bits: int) -> Coded:
    """Code (…, group) numbers as integers between the least and the largest of their group (KIVI, eq. 1)."""
    grouped = numbers.float()
    least, most = grouped.amin(-1, keepdim=True), grouped.amax(-1, keepdim=True)
    # The scale is stored in the numbers' own type: they are coded by what it is there.
    tiny = torch.finfo(numbers.dtype).tiny
    scale = ((most - least) / (2**bits - 1)).clamp(min=tiny).to(numbers.dtype).float()
    whole = ((grouped - least) / scale).round().clamp(0, 2**bits - 1).to(torch.uint8).flatten()
    per = 8 // bits
    whole = torch.cat([whole, whole.new_zeros(-len(whole) % per)]).view(-1, per)
    shifts = torch.arange(0, 8, bits, dtype=torch.uint8, device=whole.device)
    packed = (whole << shifts).sum(-1, dtype=torch.uint8)
    return Coded(packed, scale.to(numbers.dtype), least.to(numbers.dtype), numbers.shape, bits)


def decoded(coded: Coded, dtype: torch.dtype) -> torch.Tensor:
    """The numbers again, up to half a step."""
    shifts = torch.arange(0, 8, coded.bits, dtype=torch.uint8, device=coded.data.device)
    whole = (coded.data.unsqueeze(-1) >> shifts) & (2**coded.bits - 1)
    numbers = whole.flatten()[: coded.shape.numel()].view(coded.shape).float()
    found: torch.Tensor = (numbers * coded.scale.float() + coded.least.float()).to(dtype)
    return found


class CodedLayer(PressedLayer):
    """A text that a subclass codes, in whole groups of `group` tokens.

    The protected and the last `recent` tokens are in `keys` and `values` as they are.
    """

    def __init__(self, seen: ObservedLayer, *, group: int, recent: int) -> None:
        plain = seen.protected.clone()
        plain[max(0, seen.tokens - recent) :] = True
        rest = (~plain).nonzero().flatten()
        plain[rest[len(rest) - len(rest) % group :]] = True  # groups are whole
        at, coded = plain.nonzero().flatten(), (~plain).nonzero().flatten()
        where = torch.cat([coded, at]).expand(*seen.keys.shape[:2], -1)
        super().__init__(seen.keys[:, :, at], seen.values[:, :, at], where, seen.tokens)
        self._coded = len(coded)
        self.bytes += self.encode(seen.keys[:, :, coded], seen.values[:, :, coded])

    def encode(self, keys: torch.Tensor, values: torch.Tensor) -> int:
        """Code the keys and values that are not stored as they are; returns the bytes that this takes."""
        raise NotImplementedError

    def decode(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The coded keys and values again, approximately."""
        raise NotImplementedError

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append, and return all: the coded decoded, then those as they are, then the new."""
        plain_keys, plain_values = super().update(key_states, value_states, *args, **kwargs)
        keys, values = self.decode()
        return torch.cat([keys, plain_keys], 2), torch.cat([values, plain_values], 2)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """The sizes as if everything stood right before the new tokens."""
        kept = self.keys.shape[-2] + self._coded
        return kept + query_length, self.seen - kept


class QuantisedLayer(CodedLayer):
    """A text in integers of `bits` bits: keys by channel within a group of tokens, values by token."""

    def __init__(self, seen: ObservedLayer, *, bits: int, group: int, recent: int) -> None:
        self._bits, self._group = bits, group
        super().__init__(seen, group=group, recent=recent)

    def encode(self, keys: torch.Tensor, values: torch.Tensor) -> int:
        """Code keys by channel and values by token."""
        grouped = keys.reshape(*keys.shape[:2], -1, self._group, keys.shape[3]).transpose(-1, -2)
        self._keys, self._values = integers(grouped, self._bits), integers(values, self._bits)
        return self._keys.bytes + self._values.bytes

    def decode(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The coded keys and values again, off by at most half a step."""
        keys = decoded(self._keys, self.keys.dtype).transpose(-1, -2).flatten(2, 3)
        return keys, decoded(self._values, self.keys.dtype)
