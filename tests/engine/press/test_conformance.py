"""The conditions of every press: protected spans, the budget, true positions, and nothing lost at 1."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.engine.press.press_protocol import Press
from semcache.engine.press.presses import PRESSES
from semcache.errors import InvalidArgument
from tests.engine.tiny import logits, text, tiny

torch = pytest.importorskip("torch", reason="needs the extra `engine`")
pytest.importorskip("transformers", reason="needs the extra `engine`")

from semcache.engine.press.compress import press, read_on  # noqa: E402

TOKENS, SAFE = 96, (range(6), range(40, 45))


@pytest.fixture(params=list(PRESSES))
def by(request: pytest.FixtureRequest) -> Press:
    return PRESSES[request.param]()


def pressed(
    by: Press, keep: float, *, dtype: str = "float32", rows: int = 1, safe: Any = SAFE, kind: str = "Llama"
) -> Any:
    return press(tiny(kind, dtype), text(1, TOKENS, rows), by, keep=keep, protected=safe)


@pytest.mark.parametrize(("dtype", "close"), [("float32", 1e-4), ("bfloat16", 0.5)])
@pytest.mark.parametrize("rows", [1, 3])
def test_keeping_everything_changes_nothing(by: Press, dtype: str, close: float, rows: int) -> None:
    made = pressed(by, 1.0, dtype=dtype, rows=rows)
    more = text(2, 7, rows)
    seen = read_on(tiny("Llama", dtype), more, made.cache).float()
    whole = logits(tiny("Llama", dtype), torch.cat([text(1, TOKENS, rows), more], 1))[:, TOKENS:]
    assert not made.approximate
    torch.testing.assert_close(seen, whole, atol=close, rtol=0)


@pytest.mark.parametrize("keep", [0.25, 0.5])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_no_more_is_held_than_asked_for(by: Press, keep: float, dtype: str) -> None:
    full = pressed(by, 1.0, dtype=dtype)
    made = pressed(by, keep, dtype=dtype)
    safe = sum(map(len, SAFE))
    plain = safe + (64 if by.name == "kivi" else 0)  # the latest tokens, and those that fill no group
    scales = 0.3 * TOKENS if by.name == "kivi" else 0
    allowed = plain + scales + keep * TOKENS + 1
    assert made.approximate
    assert made.bytes <= full.bytes * allowed / TOKENS
    assert made.bytes < full.bytes


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_protected_tokens_stay_bit_for_bit_at_their_positions(by: Press, dtype: str) -> None:
    full, made = pressed(by, 1.0, dtype=dtype), pressed(by, 0.25, dtype=dtype)
    want = [at for span in SAFE for at in span]
    for layer, whole in zip(made.cache.layers, full.cache.layers, strict=True):
        coded = layer.positions.shape[-1] - layer.keys.shape[2]
        for head in range(layer.keys.shape[1]):
            where = layer.positions[0, head, coded:].tolist()
            assert set(want) <= set(where)
            at = [where.index(one) for one in want]
            torch.testing.assert_close(layer.keys[0, head, at], whole.keys[0, head, want], atol=0, rtol=0)
            torch.testing.assert_close(layer.values[0, head, at], whole.values[0, head, want], atol=0, rtol=0)


@pytest.mark.parametrize("kind", ["Llama", "Qwen3"])
def test_positions_are_those_of_the_text(by: Press, kind: str) -> None:
    """Later tokens stand where they would stand in the text: in one pass, or one token at a time."""
    model, more = tiny(kind), text(2, 4)
    made, again = pressed(by, 0.5, kind=kind), pressed(by, 0.5, kind=kind)
    assert made.cache.get_seq_length() == TOKENS
    for layer in made.cache.layers:
        assert layer.positions.unique().max() < TOKENS
        assert all(len(head.unique()) == len(head) for head in layer.positions[0])
    at_once = read_on(model, more, made.cache)
    steps = [read_on(model, more[:, at : at + 1], again.cache) for at in range(more.shape[1])]
    assert made.cache.get_seq_length() == TOKENS + 4
    torch.testing.assert_close(torch.cat(steps, 1), at_once, atol=1e-4, rtol=0)


def test_each_row_of_a_batch_is_pressed_as_if_alone(by: Press) -> None:
    model, more = tiny(), text(2, 3, 3)
    together = read_on(model, more, pressed(by, 0.5, rows=3).cache)
    ids = text(1, TOKENS, 3)
    for row in range(3):
        made = press(model, ids[row : row + 1], by, keep=0.5, protected=SAFE)
        alone = read_on(model, more[row : row + 1], made.cache)
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-3, rtol=0)


def test_a_text_of_protected_tokens_alone_is_left_as_it_is(by: Press) -> None:
    made = pressed(by, 0.5, safe=(range(TOKENS),))
    assert not made.approximate


def test_what_is_stored_is_pressed_without_a_question(by: Press) -> None:
    if by.agnostic:
        assert press(tiny(), text(1, 64), by, keep=0.5, stored=True).approximate
    else:
        with pytest.raises(InvalidArgument, match="looks at the question"):
            press(tiny(), text(1, 64), by, keep=0.5, stored=True)


@pytest.mark.parametrize("keep", [0, -0.5, 1.5, float("nan")])
def test_a_share_out_of_range_is_refused(by: Press, keep: float) -> None:
    with pytest.raises(InvalidArgument, match="keep"):
        press(tiny(), text(1, 8), by, keep=keep)


@pytest.mark.parametrize("tokens", [1, 2, 5, 17])
def test_short_texts_are_pressed_too(by: Press, tokens: int) -> None:
    made = press(tiny(), text(3, tokens), by, keep=0.5)
    assert read_on(tiny(), text(4, 2), made.cache).isfinite().all()
    assert made.cache.get_seq_length() == tokens + 2
