"""The fingerprint of a model: what keys and values depend on, beside the tokens.

Knows a configuration and tensors. Invariant: with `weights`, no two models whose weights or buffers differ in a single
bit have the same fingerprint, up to collisions of a 128-bit digest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_PIECE = 64 << 20  # bytes that are brought from the device at a time
_MOST_THREADS = 8


def fingerprint(facts: Mapping[str, Any], module: torch.nn.Module, *, weights: bool) -> str:
    """A digest over `facts`, and over every bit of the weights where blocks outlive the process that made them."""
    digest = hashlib.blake2b(json.dumps(facts, sort_keys=True, default=str).encode(), digest_size=16)
    if weights:
        named = [*module.named_parameters(), *module.named_buffers()]
        with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
            for (name, tensor), found in zip(named, pool.map(_digest, [one for _, one in named]), strict=True):
                digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} {found}\n".encode())
    return digest.hexdigest()


def _digest(tensor: torch.Tensor) -> str:
    import torch

    digest = hashlib.blake2b(digest_size=16)
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    for at in range(0, raw.numel(), _PIECE):
        digest.update(raw[at : at + _PIECE].cpu().numpy().data)
    return digest.hexdigest()
