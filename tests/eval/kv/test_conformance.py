"""The presses that only the comparison knows keep the engine's conditions too, where their layout allows them."""

from __future__ import annotations

from typing import Any

import pytest

from eval.kv.presses import HERE
from eval.kv.sentencekv import SentenceKV
from semcache.engine.cache_argument import cache_argument
from semcache.engine.press.press_protocol import Press
from tests.engine.tiny import text, tiny

torch = pytest.importorskip("torch", reason="needs the extra `engine`")
pytest.importorskip("transformers", reason="needs the extra `engine`")

from eval.kv.sentencekv import read_on  # noqa: E402
from semcache.engine.press.compress import press  # noqa: E402
from tests.engine.press.test_conformance import (  # noqa: E402, F401 - collected here with the presses below
    SAFE,
    TOKENS,
    pressed,
    test_a_share_out_of_range_is_refused,
    test_a_text_of_protected_tokens_alone_is_left_as_it_is,
    test_keeping_everything_changes_nothing,
    test_short_texts_are_pressed_too,
    test_what_is_stored_is_pressed_without_a_question,
)


@pytest.fixture(params=list(HERE))
def by(request: pytest.FixtureRequest) -> Press:
    return SentenceKV(range(5, TOKENS, 6)) if request.param == "sentencekv" else HERE[request.param]()


@pytest.mark.parametrize("keep", [0.25, 0.5])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_no_more_is_held_than_asked_for(by: Press, keep: float, dtype: str) -> None:
    if by.name == "fp8" and dtype == "bfloat16" and keep < 0.5:
        pytest.skip("eight bits are half of bfloat16")
    full = pressed(by, 1.0, dtype=dtype)
    made = pressed(by, keep, dtype=dtype)
    beside = {"fp8": 32 + 0.3 * TOKENS, "sentencekv": TOKENS / 5}  # the latest tokens and scales; a vector a sentence
    allowed = sum(map(len, SAFE)) + beside.get(by.name, 0) + keep * TOKENS + 1
    assert made.approximate
    assert made.bytes <= full.bytes * allowed / TOKENS
    assert made.bytes < full.bytes


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_protected_tokens_stay_bit_for_bit_at_their_positions(by: Press, dtype: str) -> None:
    full, made = pressed(by, 1.0, dtype=dtype), pressed(by, 0.25 if by.name != "fp8" else 0.5, dtype=dtype)
    want = [at for span in SAFE for at in span]
    for layer, whole in zip(made.cache.layers, full.cache.layers, strict=True):
        coded = layer.positions.shape[-1] - layer.keys.shape[2]
        for head in range(layer.keys.shape[1]):
            where = layer.positions[0, head, coded:].tolist()
            at = [where.index(one) for one in want]
            torch.testing.assert_close(layer.keys[0, head, at], whole.keys[0, head, want], atol=0, rtol=0)
            torch.testing.assert_close(layer.values[0, head, at], whole.values[0, head, want], atol=0, rtol=0)


@pytest.mark.parametrize("kind", ["Llama", "Qwen3"])
def test_positions_are_those_of_the_text(by: Press, kind: str) -> None:
    """Later tokens stand where they would stand in the text: in one pass, or one token at a time."""
    model, more = tiny(kind), text(2, 4)
    made, again = pressed(by, 0.5, kind=kind), pressed(by, 0.5, kind=kind)
    assert made.cache.get_seq_length() == TOKENS
    if by.name == "sentencekv":
        return  # it asks for sentences anew at every pass
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


def layer_of(tokens: int, *, loud: int, keep: float) -> Any:
    from tests.engine.press.test_presses import layer

    return layer(tokens, loud=loud, keep=keep)


@pytest.mark.parametrize("loud", [1, 9, 20])
def test_caote_keeps_the_token_that_all_look_at(loud: int) -> None:
    made = HERE["caote"]().press(layer_of(64, loud=loud, keep=0.25))
    assert all(loud in head for head in made.positions[0].tolist())


def test_fewer_bits_than_eight_are_refused() -> None:
    from semcache.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="or use another press"):
        press(tiny(), text(1, 80), HERE["fp8"](), keep=0.1)


@pytest.mark.parametrize(("towards", "fetched"), [(1, True), (-1, False)])
def test_a_sentence_is_fetched_where_it_is_asked_for_and_not_elsewhere(towards: int, fetched: bool) -> None:
    seen = layer_of(60, loud=27, keep=0.2)
    made = SentenceKV(range(5, 60, 6)).press(seen)
    keys, values = made.update(torch.zeros(1, 2, 1, 8), torch.zeros(1, 2, 1, 8))
    got, _ = made.fetch(towards * torch.ones(1, 4, 1, 8), keys, values)
    assert any(torch.equal(row, seen.keys[0, 0, 27]) for row in got[0, 0]) == fetched
    assert got.shape[2] <= seen.budget + 1


def test_transformers_itself_goes_on_from_a_cache_of_floats() -> None:
    model, ids, more = tiny(), text(1, 80), text(2, 5)
    made, again = (press(model, ids, HERE["fp8"](), keep=0.5) for _ in range(2))
    with torch.inference_mode():
        own = model(more, use_cache=True, **cache_argument(model, made.cache)).logits
    torch.testing.assert_close(own, read_on(model, more, again.cache), atol=1e-4, rtol=0)
