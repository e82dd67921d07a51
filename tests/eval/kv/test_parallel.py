"""Chunks side by side: exact with nothing beside, without an order, and of one prefix."""

from __future__ import annotations

import pytest

from semcache.engine.attention_merge import ParallelSpan
from semcache.errors import InvalidArgument
from tests.engine.tiny import logits, text, tiny

torch = pytest.importorskip("torch", reason="needs the extra `engine`")
pytest.importorskip("transformers", reason="needs the extra `engine`")

from eval.kv.parallel import parallel, read_on  # noqa: E402
from semcache.engine.chunks.chunk import encode  # noqa: E402

KINDS = ("Llama", "Qwen2", "Qwen3", "Mistral")
PREFIX, FIRST, SECOND, ASKED = (text(seed, size)[0].tolist() for seed, size in ((1, 8), (2, 30), (3, 33), (4, 5)))


@pytest.mark.parametrize("kind", KINDS)
def test_one_chunk_side_by_side_with_nothing_is_a_full_prefill(kind: str) -> None:
    model = tiny(kind)
    prefix, chunk = encode(model, PREFIX), encode(model, FIRST, prefix=PREFIX)
    made = parallel(model, prefix, [chunk], ASKED, temperature=1.0, scale=1.0)
    whole = logits(model, torch.tensor([[*PREFIX, *FIRST, *ASKED]]))[0, -1]
    assert not made.approximate
    torch.testing.assert_close(made.logits, whole, atol=1e-4, rtol=0)


def test_chunks_side_by_side_have_no_order() -> None:
    model, more = tiny(), text(8, 2)
    prefix, sides = encode(model, PREFIX), [encode(model, ids, prefix=PREFIX) for ids in (FIRST, SECOND)]
    one, other = (parallel(model, prefix, given, ASKED) for given in (sides, sides[::-1]))
    assert one.approximate
    torch.testing.assert_close(one.logits, other.logits, atol=1e-4, rtol=0)
    span = ParallelSpan(8, 8 + len(FIRST) + len(SECOND), 0.9, 0.9)
    torch.testing.assert_close(*(read_on(model, more, made.cache, span) for made in (one, other)), atol=1e-4, rtol=0)


def test_chunks_of_another_prefix_are_not_put_side_by_side() -> None:
    model = tiny()
    with pytest.raises(InvalidArgument, match="behind the prefix"):
        parallel(model, encode(model, PREFIX), [encode(model, FIRST)], ASKED)
