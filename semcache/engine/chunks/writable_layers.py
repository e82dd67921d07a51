"""Cache layers that are written in the middle.

Imports torch and transformers at the top because it subclasses them; only functions import this module.
Invariant: rows that are not written stay as they were given.
"""

from __future__ import annotations

from typing import Any

import torch

from semcache.engine.press.pressed_layer import DynamicLayer


class ScatterLayer(DynamicLayer):
    """(1, KV heads, n, dim) keys and values of a whole prompt; an update overwrites the `rows` given."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        super().__init__()
        self.lazy_initialization(keys, values)
        self.keys, self.values = keys, values
        self.rows: torch.Tensor | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Overwrite, and give the whole prompt; once `rows` is None, append like any other layer."""
        if self.rows is None:
            return super().update(key_states, value_states, *args, **kwargs)
        self.keys.index_copy_(2, self.rows, key_states)
        self.values.index_copy_(2, self.rows, value_states)
        return self.keys, self.values


class PeekLayer(DynamicLayer):
    """Takes new keys and values and lets the model attend to the first alone, whose output nobody reads."""

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *args: Any,  # noqa: ARG002 - transformers passes more
        **kwargs: Any,  # noqa: ARG002
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep what is new."""
        self.keys, self.values = key_states, value_states
        return key_states[:, :, :1], value_states[:, :, :1]
