"""Keys and values written in fewer bytes come back as promised."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the extra `engine`")

from semcache.engine.kv_codec import CODECS, GROUP, decoded, encoded  # noqa: E402

DTYPES = ("float32", "bfloat16", "float16")


def block(seed: int, tokens: int, dtype: str = "float32", *, near: float = 0.1) -> Any:
    """Neighbours differ little, channels much."""
    drawn = torch.Generator().manual_seed(seed)
    steps = near * torch.randn(2, 2, 3, tokens, 8, generator=drawn)
    return ((steps.cumsum(3) + 1) * 10 ** torch.randn(2, 2, 3, 1, 8, generator=drawn)).to(getattr(torch, dtype))


def there_and_back(data: Any, codec: str) -> Any:
    return decoded(encoded(data, codec), codec, shape=tuple(data.shape), dtype=data.dtype)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.integers(1, 40), st.sampled_from(DTYPES), st.sampled_from(["raw", "lossless"]))
def test_nothing_is_lost_bit_for_bit(seed: int, tokens: int, dtype: str, codec: str) -> None:
    data = block(seed, tokens, dtype)
    data[0, 0, 0, 0, :3] = torch.tensor([-0.0, float("inf"), float("nan")])
    assert torch.equal(there_and_back(data, codec).view(torch.uint8), data.view(torch.uint8))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.integers(1, 40), st.sampled_from([("int8", 127), ("int4", 7)]))
def test_numbers_are_off_by_half_a_step_of_their_channel(seed: int, tokens: int, codec: tuple[str, int]) -> None:
    data = block(seed, tokens)
    name, most = codec
    firsts = data[..., ::GROUP, :]
    coarse = firsts.abs().amax(3, keepdim=True) / 127
    from_first = (data - firsts.repeat_interleave(GROUP, 3)[..., :tokens, :]).abs().amax(3, keepdim=True)
    step = (from_first + coarse / 2) / most
    allowed = 1.01 * torch.maximum(step, coarse) / 2 + 127 * 2**-25
    assert bool(((there_and_back(data, name) - data).abs() <= allowed).all())


def test_fewer_bits_are_fewer_bytes() -> None:
    for dtype in DTYPES:
        data = block(1, 32, dtype)
        sizes = [len(encoded(data, codec)) for codec in CODECS]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == data.nbytes
        assert sizes[3] < 0.4 * sizes[0]


@pytest.mark.parametrize("codec", ["lossless", "int8", "int4"])
def test_bytes_of_something_else_are_refused(codec: str) -> None:
    data = block(1, 8)
    content = encoded(data, codec)
    with pytest.raises(ValueError):
        decoded(content[:-9], codec, shape=tuple(data.shape), dtype=data.dtype)
    with pytest.raises(ValueError):
        decoded(content, codec, shape=(9, 9, *data.shape[2:]), dtype=data.dtype)
