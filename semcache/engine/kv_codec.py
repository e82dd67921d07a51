"""Keys and values in fewer bytes, for a disk: without loss, or as differences in 8 or 4 bits.

After CacheGen (Liu et al. 2024, section 5.2): tokens near each other have similar keys and values, so that each is
stored as its difference from the first token of its group, coarser than that token itself, channel by channel, and the
integers are compressed by their statistics (here deflate in the place of an arithmetic coder). A group is `GROUP`
tokens. Without loss, the bytes of numbers are laid out by significance and deflated.
Knows tensors, nothing of files or keys. Invariant: "raw" and "lossless" give back what was given bit for bit; otherwise
a number is off by at most half a step of its channel, which is 1/254 (int8) or 1/14 (int4) of the range of its
differences, and half a step of a 254th of the range of its group's first tokens.
"""

from __future__ import annotations

import math
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

CODECS = ("raw", "lossless", "int8", "int4")
GROUP = 8
_LEVEL = 1  # of deflate: more costs ten times the time for a twentieth of the bytes
_MOST = {"int8": 127, "int4": 7}


def encoded(data: torch.Tensor, codec: str) -> bytes:
    """(layers, 2, heads, tokens, dim) numbers as bytes; of "raw" they are the numbers."""
    import numpy as np
    import torch

    data = data.contiguous()
    if codec in ("raw", "lossless"):
        plain = data.view(torch.uint8).numpy().reshape(-1)
        if codec == "raw":
            return bytes(plain.data)
        return zlib.compress(np.ascontiguousarray(plain.reshape(-1, data.element_size()).T).tobytes(), _LEVEL)
    numbers = data.float().numpy()
    padded = np.concatenate([numbers, np.repeat(numbers[..., -1:, :], -numbers.shape[3] % GROUP, 3)], 3)
    grouped = padded.reshape(*numbers.shape[:3], -1, GROUP, numbers.shape[4])
    anchors, anchor_scale = _integers(grouped[..., 0, :], 127, axes=(3,))
    rest = grouped[..., 1:, :] - (anchors * anchor_scale)[..., None, :]
    deltas, scale = _integers(rest, _MOST[codec], axes=(3, 4))
    # Channel by channel, so that what is alike lies together.
    parts = [anchor_scale.astype("<f2"), scale.astype("<f2"), np.moveaxis(anchors, 3, -1).astype(np.int8)]
    parts.append(_packed(np.moveaxis(deltas, -1, 3).astype(np.int8), codec))
    return zlib.compress(b"".join(np.ascontiguousarray(part).tobytes() for part in parts), _LEVEL)


def decoded(content: bytes, codec: str, *, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """The numbers that were encoded. Raises ValueError for bytes that are not of this codec and shape."""
    import numpy as np
    import torch

    try:
        raw = content if codec == "raw" else zlib.decompress(content)
    except zlib.error as error:
        raise ValueError(f"it cannot be decompressed: {error}") from error
    if codec in ("raw", "lossless"):
        plain = np.frombuffer(raw, np.uint8)
        if len(plain) != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{len(plain)} bytes are no {tuple(shape)} numbers of {dtype}")
        if codec == "lossless":
            plain = plain.reshape(dtype.itemsize, -1).T.reshape(-1)
        found: torch.Tensor = torch.from_numpy(np.array(plain)).view(dtype).reshape(shape)
        return found
    layers, two, heads, tokens, dim = shape
    groups = -(-tokens // GROUP)
    channels, lead = layers * two * heads * dim, (layers, two, heads)
    sizes = [2 * channels, 2 * channels, channels * groups]
    cuts = [sum(sizes[:at]) for at in range(len(sizes) + 1)]
    head = [raw[start:stop] for start, stop in pairwise(cuts)]
    anchor_scale = np.frombuffer(head[0], "<f2").astype(np.float32).reshape(*lead, 1, dim)
    scale = np.frombuffer(head[1], "<f2").astype(np.float32).reshape(*lead, 1, 1, dim)
    anchors = np.moveaxis(np.frombuffer(head[2], np.int8).reshape(*lead, dim, groups), -1, 3) * anchor_scale
    deltas = _unpacked(raw[cuts[-1] :], codec, channels * groups * (GROUP - 1)).reshape(*lead, dim, groups, GROUP - 1)
    rest = np.moveaxis(deltas, 3, -1) * scale + anchors[..., None, :]
    whole = np.concatenate([anchors[..., None, :], rest], 4).reshape(*lead, groups * GROUP, dim)[..., :tokens, :]
    numbers: torch.Tensor = torch.from_numpy(np.ascontiguousarray(whole, dtype=np.float32)).to(dtype)
    return numbers


def _integers(numbers: Any, most: int, *, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Integers from -most to most, and the step of each channel."""
    import numpy as np

    # A little more, so that the step, rounded to 16 bits, is not too small for the largest.
    step = np.abs(numbers).max(axes, keepdims=True) / most * (1 + 2**-10)
    scale = np.clip(step, 2.0**-24, 65504).astype(np.float16).astype(np.float32)
    return np.clip(np.rint(numbers / scale), -most, most), scale


def _packed(numbers: Any, codec: str) -> Any:
    """Two integers of four bits a byte."""
    import numpy as np

    if codec == "int8":
        return numbers
    flat = (numbers.reshape(-1) + 8).astype(np.uint8)
    flat = np.concatenate([flat, np.zeros(len(flat) % 2, np.uint8)])
    return flat[::2] | flat[1::2] << 4


def _unpacked(content: bytes, codec: str, count: int) -> Any:
    import numpy as np

    if codec == "int8":
        return np.frombuffer(content, np.int8)
    pairs = np.frombuffer(content, np.uint8)
    both = np.stack([pairs & 15, pairs >> 4], 1).reshape(-1)[:count]
    return both.astype(np.int8) - 8
