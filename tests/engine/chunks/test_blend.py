"""Chunks anywhere in a prompt: exact when all is computed, marked when it is not, better the more is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.engine.cache_argument import cache_argument
from semcache.errors import ConfigError, InvalidArgument
from tests.engine.tiny import logits, text, tiny

torch = pytest.importorskip("torch", reason="needs the extra `engine`")
pytest.importorskip("transformers", reason="needs the extra `engine`")

from semcache.engine.chunks.alignment import align as aligned  # noqa: E402
from semcache.engine.chunks.blend import Fixed, HighDeviation, blend  # noqa: E402
from semcache.engine.chunks.chunk import Chunk, PlacedChunk, chunk_from_cache, encode  # noqa: E402
from semcache.engine.chunks.probe import probe_chunks  # noqa: E402
from semcache.engine.chunks.rope import frequencies, rotated  # noqa: E402
from semcache.engine.press.compress import press  # noqa: E402
from semcache.engine.press.streaming import StreamingLLM  # noqa: E402

KINDS = ("Llama", "Qwen2", "Qwen3", "Mistral")
PREFIX, FIRST, SECOND, ASKED = (text(seed, size)[0].tolist() for seed, size in ((1, 8), (2, 30), (3, 33), (4, 5)))
PROMPT = [*PREFIX, *FIRST, *SECOND, *ASKED]


def swapped(model: Any) -> list[PlacedChunk]:
    """The chunks of the prompt, each computed behind the prefix alone, the second before the first elsewhere."""
    return [
        PlacedChunk(0, encode(model, PREFIX), exact=True),
        PlacedChunk(8, encode(model, FIRST, prefix=PREFIX + SECOND[:10])),
        PlacedChunk(38, encode(model, SECOND, prefix=PREFIX)),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choose", [HighDeviation(1.0), Fixed(range(len(PROMPT)))])
def test_computing_everything_is_exact(kind: str, choose: Any) -> None:
    model = tiny(kind)
    made = blend(model, PROMPT, swapped(model), choose)
    whole = logits(model, torch.tensor([PROMPT]))[0, -1]
    assert not made.approximate
    torch.testing.assert_close(made.logits, whole, atol=1e-4, rtol=0)
    more = text(9, 3)
    with torch.inference_mode():
        seen = model(more, use_cache=True, **cache_argument(model, made.cache)).logits
    torch.testing.assert_close(
        seen, logits(model, torch.cat([torch.tensor([PROMPT]), more], 1))[:, -3:], atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_more_is_computed_the_smaller_the_error(kind: str) -> None:
    model = tiny(kind)
    whole = logits(model, torch.tensor([PROMPT]))[0, -1]
    off, spent = [], []
    for fraction in (0.0, 0.5, 1.0):
        made = blend(model, PROMPT, swapped(model), HighDeviation(fraction))
        assert made.approximate == (fraction < 1)
        off.append(float((made.logits - whole).norm()))
        spent.append(made.computed)
    assert off[0] > off[1] > off[2]
    assert spent == sorted(spent)
    assert spent[0] < 0.1


def test_what_deviates_is_computed_first() -> None:
    """A chunk that stands where it was computed has nothing to mend: all effort goes to the other."""
    model = tiny()
    true = encode(model, FIRST, prefix=PREFIX)
    given = [PlacedChunk(8, true), PlacedChunk(38, encode(model, SECOND, prefix=PREFIX))]
    chosen: list[int] = []

    class Watching(HighDeviation):
        def __call__(self, layer: int, covered: Any, deviation: Any) -> Any:
            picked = super().__call__(layer, covered, deviation)
            if layer == 1:
                chosen.extend(picked.tolist())
            return picked

    blend(model, PROMPT, given, Watching(0.4))
    assert chosen
    assert all(at >= 38 for at in chosen)


def test_a_prefix_alone_is_exact_and_not_computed() -> None:
    model = tiny()
    made = blend(model, PROMPT, [PlacedChunk(0, encode(model, PROMPT[:60]), exact=True)], HighDeviation(0.0))
    assert not made.approximate
    assert made.computed == pytest.approx(16 / 76)
    torch.testing.assert_close(made.logits, logits(model, torch.tensor([PROMPT]))[0, -1], atol=1e-4, rtol=0)


def test_the_last_token_is_computed_even_when_a_chunk_covers_it() -> None:
    model = tiny()
    made = blend(model, PROMPT, [PlacedChunk(0, encode(model, PROMPT), exact=True)], HighDeviation(0.0))
    torch.testing.assert_close(made.logits, logits(model, torch.tensor([PROMPT]))[0, -1], atol=1e-4, rtol=0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_blends_too(dtype: str) -> None:
    model = tiny("Llama", dtype)
    made = blend(model, PROMPT, swapped(model), HighDeviation(1.0))
    whole = logits(model, torch.tensor([PROMPT]))[0, -1]
    assert float((made.logits - whole).norm() / whole.norm()) < 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_models_that_can_be_blended_pass_the_probe(kind: str, dtype: str) -> None:
    probe_chunks(tiny(kind, dtype))


def test_a_model_that_is_more_than_its_layers_or_turns_otherwise_is_refused() -> None:
    import copy

    other = copy.deepcopy(tiny())
    plain = other.forward
    other.forward = lambda *args, **more: _louder(plain(*args, **more))
    with pytest.raises(ConfigError, match="more than its layers"):
        probe_chunks(other)
    other = copy.deepcopy(tiny())
    turn = other.model.rotary_emb.forward
    other.model.rotary_emb.forward = lambda hidden, position_ids: turn(hidden, position_ids * 2)
    with pytest.raises(ConfigError, match="turns its keys"):
        probe_chunks(other)


def _louder(out: Any) -> Any:
    out.logits = out.logits * 2
    return out


@settings(max_examples=25, deadline=None)
@given(st.integers(-400, 400), st.integers(-400, 400), st.integers(0, 50))
def test_moving_there_and_back_changes_nothing_and_keeps_lengths(by: int, then: int, seed: int) -> None:
    angles = frequencies(tiny())
    keys = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(seed))
    moved = rotated(keys, by, angles)
    torch.testing.assert_close(rotated(moved, -by, angles), keys, atol=1e-3, rtol=0)
    torch.testing.assert_close(rotated(moved, then, angles), rotated(keys, by + then, angles), atol=1e-3, rtol=0)
    torch.testing.assert_close(moved.norm(dim=-1), keys.norm(dim=-1), atol=1e-3, rtol=0)


def test_positions_that_depend_on_length_are_refused() -> None:
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=9,
        hidden_size=16,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0},
    )
    with pytest.raises(ConfigError, match="cannot be moved"):
        probe_chunks(transformers.LlamaForCausalLM(config))


def test_chunks_that_do_not_fit_are_refused() -> None:
    model = tiny()
    chunk = encode(model, FIRST, prefix=PREFIX)
    for some, message in (
        ([PlacedChunk(9, chunk)], "other tokens"),
        ([PlacedChunk(60, chunk)], "leaves"),
        ([PlacedChunk(8, chunk), PlacedChunk(20, chunk)], "overlaps"),
        ([PlacedChunk(8, Chunk(chunk.ids, 0, chunk.data), exact=True)], "cannot be exact"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            blend(model, PROMPT, some, HighDeviation(0.1))
    with pytest.raises(InvalidArgument, match="fraction"):
        HighDeviation(1.5)
    with pytest.raises(InvalidArgument, match="without tokens"):
        blend(model, [], [], HighDeviation(0.1))
    with pytest.raises(InvalidArgument, match="without tokens"):
        encode(model, [])


def test_chunks_are_not_changed_by_their_use() -> None:
    model = tiny()
    given = swapped(model)
    before = [one.chunk.data.clone() for one in given]
    first = blend(model, PROMPT, given, HighDeviation(0.3)).logits
    assert all(torch.equal(one.chunk.data, was) for one, was in zip(given, before, strict=True))
    assert torch.equal(first, blend(model, PROMPT, given, HighDeviation(0.3)).logits)


Tokens = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@given(Tokens, Tokens, st.integers(1, 6))
def test_runs_in_common_are_found_in_order(old: list[int], new: list[int], shortest: int) -> None:
    chunk = Chunk(tuple(old), 0, torch.zeros(1, 2, 1, len(old), 2))
    end = was = 0
    for one in aligned(new, chunk, shortest=shortest):
        size = len(one.chunk.ids)
        assert one.at >= end
        assert one.chunk.start >= was
        assert tuple(new[one.at : one.at + size]) == one.chunk.ids
        assert one.exact == (one.at == one.chunk.start == 0)
        end, was = one.at + size, one.chunk.start + size


def test_a_nearly_equal_prompt_is_helped_by_its_neighbour() -> None:
    model = tiny()
    old = [*PROMPT[:20], 5, 6, *PROMPT[22:40], 7, *PROMPT[40:]]
    cache = press(model, torch.tensor([old]), StreamingLLM(), keep=1.0).cache
    given = aligned(PROMPT, chunk_from_cache(cache, old, 0))
    assert sum(len(one.chunk.ids) for one in given) > 60
    full = blend(model, PROMPT, given, HighDeviation(1.0))
    torch.testing.assert_close(full.logits, logits(model, torch.tensor([PROMPT]))[0, -1], atol=1e-4, rtol=0)
    some = blend(model, PROMPT, given, HighDeviation(0.15))
    assert some.computed < 0.7
    assert some.approximate
