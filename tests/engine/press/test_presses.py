"""The peculiarities of each press, on layers whose right answer is known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.engine.cache_argument import cache_argument
from semcache.engine.press import press_named
from semcache.engine.press.presses import PRESSES
from semcache.errors import ConfigError, InvalidArgument
from tests.engine.tiny import text, tiny

torch = pytest.importorskip("torch", reason="needs the extra `engine`")
pytest.importorskip("transformers", reason="needs the extra `engine`")

from semcache.engine.press.compress import press, read_on  # noqa: E402
from semcache.engine.press.press_protocol import ObservedLayer  # noqa: E402


def layer(
    tokens: int, *, loud: int = -1, keep: float = 0.25, number: int = 0, safe: tuple[int, ...] = ()
) -> ObservedLayer:
    """A layer of small random keys, where every query looks at the token `loud`."""
    made = torch.Generator().manual_seed(5)
    keys, values = (torch.randn(1, 2, tokens, 8, generator=made) * 0.1 for _ in range(2))
    queries = torch.ones(1, 4, tokens, 8)
    if loud >= 0:
        keys[:, :, loud] = 3.0
        values[:, :, loud] = 5.0
    protected = torch.zeros(tokens, dtype=torch.bool)
    protected[list(safe)] = True
    return ObservedLayer(number, 4, keys, values, queries, False, protected, 8**-0.5, keep)


def positions(made: Any) -> list[list[int]]:
    return made.positions[0].tolist()


def test_streaming_keeps_the_first_and_the_last() -> None:
    made = PRESSES["streaming"]().press(layer(40))
    assert positions(made) == [[0, 1, 2, 3, *range(34, 40)]] * 2


@pytest.mark.parametrize("name", ["h2o", "snapkv", "tova", "pyramidkv", "kvzip", "d2o"])
def test_the_token_that_all_look_at_stays(name: str) -> None:
    for loud in (1, 9, 20):
        assert all(loud in head for head in positions(PRESSES[name]().press(layer(64, loud=loud))))


def test_keydiff_keeps_the_key_that_differs() -> None:
    seen = layer(64)
    seen.keys[:] = torch.ones(8) + 0.01 * seen.keys
    seen.keys[:, :, 9] = -1.0
    assert all(9 in head for head in positions(PRESSES["keydiff"]().press(seen)))


def test_h2o_keeps_the_latest_for_half_of_its_budget() -> None:
    assert all(set(range(56, 64)) <= set(head) for head in positions(PRESSES["h2o"]().press(layer(64, loud=2))))


def test_pyramid_keeps_more_below_and_as_much_in_all() -> None:
    kept = [len(positions(PRESSES["pyramidkv"]().press(layer(200, number=number)))[0]) for number in range(4)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1]
    assert abs(sum(kept) - 4 * 50) <= 4


def test_lagkv_keeps_tokens_from_every_part() -> None:
    heads = positions(PRESSES["lagkv"]().press(layer(164, keep=0.5)))
    for head in heads:
        assert {0, 1, 2, 3} <= set(head)
        for part in range(4, 144, 20):
            assert set(range(part, part + 20)) & set(head)


def test_merging_moves_the_kept_towards_the_dropped_and_spares_the_protected() -> None:
    seen = layer(64, loud=9, safe=(3,))
    plain, merged = PRESSES["h2o"]().press(seen), PRESSES["d2o"]().press(seen)
    assert positions(plain) == positions(merged)
    assert not torch.equal(plain.values, merged.values)
    at = positions(merged)[0].index(3)
    assert torch.equal(merged.keys[0, 0, at], seen.keys[0, 0, 3])


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([2, 4, 8]), st.integers(1, 40), st.floats(0.01, 100), st.integers(0, 99))
def test_integers_are_off_by_at_most_half_a_step(bits: int, rows: int, spread: float, seed: int) -> None:
    from semcache.engine.press.quantised_layer import decoded, integers

    numbers = torch.randn(rows, 16, generator=torch.Generator().manual_seed(seed)) * spread
    coded = integers(numbers, bits)
    step = (numbers.amax(-1) - numbers.amin(-1)) / (2**bits - 1)
    assert ((decoded(coded, torch.float32) - numbers).abs() <= step[:, None] * 0.5 + 1e-4 * spread).all()
    assert coded.data.numel() == -(-rows * 16 * bits // 8)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@given(bits=st.sampled_from([2, 4, 8]), seed=st.integers(0, 99))
def test_a_half_precise_scale_costs_little_more(dtype: str, bits: int, seed: int) -> None:
    from semcache.engine.press.quantised_layer import decoded, integers

    numbers = torch.randn(64, 32, generator=torch.Generator().manual_seed(seed)).to(getattr(torch, dtype))
    exact = numbers.float()
    step = (exact.amax(-1) - exact.amin(-1)) / (2**bits - 1)
    off = (decoded(integers(numbers, bits), torch.float32) - exact).abs()
    assert (off <= step[:, None] * 0.75).all()


def test_fewer_bits_cost_more() -> None:
    model, ids, more = tiny(), text(1, 128), text(2, 5)
    exact = read_on(model, more, press(model, ids, PRESSES["kivi"](), keep=1.0).cache)
    off = []
    for keep in (8 / 32, 4 / 32, 2 / 32):
        made = press(model, ids, PRESSES["kivi"](), keep=keep)
        off.append(float((read_on(model, more, made.cache) - exact).norm()))
    assert off == sorted(off)


def test_too_few_bits_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="or use another press"):
        press(tiny(), text(1, 80), PRESSES["kivi"](), keep=0.01)


@pytest.mark.parametrize("name", ["streaming", "h2o", "keydiff", "kivi", "d2o"])
def test_transformers_itself_goes_on_from_a_pressed_cache(name: str) -> None:
    """Where all layers keep as many tokens, with the model's own attention and masks."""
    model, ids, more = tiny(), text(1, 80), text(2, 5)
    made, again = (press(model, ids, PRESSES[name](), keep=0.5) for _ in range(2))
    with torch.inference_mode():
        own = model(more, use_cache=True, **cache_argument(model, made.cache)).logits
    torch.testing.assert_close(own, read_on(model, more, again.cache), atol=1e-4, rtol=0)


def test_an_unknown_press_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="streaming, h2o"):
        press_named("zip")


@pytest.mark.parametrize("span", [range(-1, 3), range(5, 99), range(0, 8, 2)])
def test_a_span_outside_the_text_is_refused(span: range) -> None:
    with pytest.raises(InvalidArgument, match="protected span"):
        press(tiny(), text(1, 8), PRESSES["h2o"](), keep=0.5, protected=[span])
