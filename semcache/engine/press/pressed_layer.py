"""Cache layers that hold less than they have seen.

These are transformers' own layers with another length than position: the model derives positions from
`get_seq_length`, which is the number of tokens seen, and masks from `get_mask_sizes`, which is what is there.
torch and transformers are imported at the top because they are subclassed; only functions import this module.
Invariant: new tokens are appended behind what is kept, at their true positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:

    class DynamicLayer:
        """The members of transformers' layer that are used, with the types that it does not declare."""

        keys: torch.Tensor
        values: torch.Tensor
        dtype: torch.dtype

        def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
            """Take over dtype and device of the first tokens."""

        def update(
            self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
        ) -> tuple[torch.Tensor, torch.Tensor]:
            """Append, and return all."""
            ...

        def crop(self, tokens_to_remove: int) -> None:
            """Take back the last tokens."""

else:
    from transformers.cache_utils import DynamicLayer


class PressedLayer(DynamicLayer):
    """The kept part of `seen` tokens: (batch, KV heads, kept, dim) keys and values.

    `positions` (batch, KV heads, kept) are where they stood. `bytes` are those of the kept, without tokens appended
    later.
    """

    is_croppable = False

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, positions: torch.Tensor, seen: int) -> None:
        super().__init__()
        self.lazy_initialization(keys, values)
        self.keys, self.values = keys.contiguous(), values.contiguous()
        self.positions, self.seen = positions, seen
        self.bytes = held(self.keys, self.values)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append, and return all."""
        self.seen += key_states.shape[-2]
        return super().update(key_states, value_states, *args, **kwargs)

    def get_seq_length(self) -> int:
        """Tokens seen, which is the position of the next."""
        return self.seen

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Length of the mask, and the position of its first column: as if the kept stood right before the new."""
        kept = self.keys.shape[-2]
        return kept + query_length, self.seen - kept

    def crop(self, tokens_to_remove: int) -> None:
        """Take back the last tokens, which were appended: a negative number, as in transformers."""
        super().crop(tokens_to_remove)
        self.seen += min(tokens_to_remove, 0)


def held(*tensors: torch.Tensor) -> int:
    """Bytes of tensors."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
