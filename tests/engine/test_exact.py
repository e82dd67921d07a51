"""Shared, batched, chunked, drafted or preempted, an answer has the words of a plain full prefill."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.engine_models import KINDS
from semcache.engine import EngineConfig
from tests.engine.nursery import Reference, an_engine, ids, job, metric, work

Folder = Callable[..., Path]


@pytest.mark.parametrize("kind", KINDS)
def test_logits_of_shared_pages_are_those_of_a_full_prefill(folder: Folder, kind: str) -> None:
    """Sequences that share pages, one token each or many, in one batch: within 1e-4 of transformers in float32."""
    torch = pytest.importorskip("torch")
    from semcache.engine.decoder import open_decoder
    from semcache.engine.kv_tensor import KVTensor
    from semcache.engine.packing import SequenceSlice

    decoder, reference = open_decoder(EngineConfig(str(folder(kind)))), Reference(folder(kind)).model
    store = KVTensor(decoder.shape, pages=32, block=4)
    prefix = list(ids(1, 16))
    shared = [7, 3, 4, 9]
    decoder.logits([SequenceSlice(prefix[:5], 0, shared, 0)], store, share=1)
    decoder.logits([SequenceSlice(prefix[5:], 5, shared, 0)], store, share=1)
    tails = [list(ids(seed, length)) for seed, length in ((2, 3), (3, 9), (4, 6), (5, 1))]
    tables = [[*shared, 10, 11, 12], [*shared, 20, 13, 21], [*shared, 14, 15, 16], [*shared, 17, 18, 19]]
    for tail, table in zip(tails, tables, strict=True):
        if len(tail) > 1:
            decoder.logits([SequenceSlice(tail[:-1], 16, table, 0)], store, share=1)
    alone = list(ids(6, 10))
    decoder.logits([SequenceSlice(alone[:-1], 0, [1, 30, 2], 0)], store, share=1)
    batch = [SequenceSlice(tail[-1:], 15 + len(tail), table, 1) for tail, table in zip(tails, tables, strict=True)]
    batch.append(SequenceSlice(alone[-1:], 9, [1, 30, 2], 1))
    batch.append(SequenceSlice(prefix[:6], 0, [28, 29], 2))
    texts = [prefix + tail for tail in tails] + [alone]
    for share in (1, 10**6):
        seen = decoder.logits(batch, store, share=share)
        with torch.inference_mode():
            for row, text in enumerate(texts):
                whole = reference(torch.tensor([text])).logits[0, -1]
                torch.testing.assert_close(seen[row], whole, atol=1e-4, rtol=1e-4)
            whole = reference(torch.tensor([prefix[:6]])).logits[0, -2:]
            torch.testing.assert_close(seen[len(texts) :], whole, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["alone", "shared", "beside"])
def test_attention_in_sixteen_bits_errs_no_more_than_the_rounding_of_its_input_and_output(kind: str) -> None:
    """Scores are products of 16-bit numbers; rounding those again costs three to ten times the error."""
    torch = pytest.importorskip("torch")
    from semcache.engine.attention_merge import ParallelSpan, attend, attend_parallel, merge

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, rows, 64).mul(2).to(torch.bfloat16) for rows in (8, 512, 512))
    scale = 64**-0.5
    exact = torch.softmax(q.double() @ k.double().transpose(-1, -2) * scale, -1) @ v.double()
    if kind == "alone":
        seen = attend(q, k, v, scale)[0]
    elif kind == "shared":
        halves = [attend(q, k[:, part], v[:, part], scale) for part in (slice(0, 300), slice(300, 512))]
        seen = merge(*halves[0], *halves[1])
    else:
        seen = attend_parallel(q, k, v, scale, ParallelSpan(100, 300, 1.0, 1.0), None)
    off, rounding = (seen - exact).abs().max(), (exact.bfloat16().double() - exact).abs().max()
    assert off < rounding / 50
    assert (seen.to(torch.bfloat16).double() - exact).abs().max() < 1.05 * rounding


@pytest.mark.parametrize("kind", KINDS)
def test_shared_pages_in_bfloat16_are_as_near_to_the_model_as_its_own_attention(folder: Folder, kind: str) -> None:
    """Against float32 of the same weights, sequences that share a prefix are no further off than transformers is."""
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    from semcache.engine.decoder import open_decoder
    from semcache.engine.kv_tensor import KVTensor
    from semcache.engine.packing import SequenceSlice

    path = str(folder(kind))
    decoder = open_decoder(EngineConfig(path, dtype="bfloat16"))
    half = AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16)
    exact = AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).float()
    store = KVTensor(decoder.shape, pages=64, block=4)
    prefix, shared = list(ids(1, 64)), list(range(16))
    decoder.logits([SequenceSlice(prefix, 0, shared, 0)], store, share=1)
    tails = [list(ids(seed, 6)) for seed in range(2, 8)]
    batch = []
    for at, tail in enumerate(tails):
        table = [*shared, 16 + 2 * at, 17 + 2 * at]
        decoder.logits([SequenceSlice(tail[:-1], 64, table, 0)], store, share=1)
        batch.append(SequenceSlice(tail[-1:], 69, table, 1))
    seen = decoder.logits(batch, store, share=1)
    with torch.inference_mode():
        texts = torch.tensor([prefix + tail for tail in tails])
        truth, own = exact(texts).logits[:, -1], half(texts).logits[:, -1].float()
    assert (seen - truth).square().mean() < 1.5 * (own - truth).square().mean()


@pytest.mark.parametrize("kind", KINDS)
def test_a_busy_engine_says_what_the_model_says_alone(folder: Folder, kind: str) -> None:
    reference, rng = Reference(folder(kind)), random.Random(3)
    shared = ids(11, 61)
    jobs = [job(f"j{at}", shared[: rng.randrange(20, 61)] + ids(at, rng.randrange(1, 30))) for at in range(7)]
    engine = an_engine(folder(kind), draft=6)
    said = work(engine, jobs)
    again = work(engine, [job(f"again{one.id}", one.ids) for one in jobs])
    for one in jobs:
        assert said[one.id].text == reference.says(one.ids, 12)
        assert again[f"again{one.id}"].text == said[one.id].text
        assert again[f"again{one.id}"].spent.cached == (len(one.ids) - 1) // 8 * 8


def test_a_cache_smaller_than_the_work_makes_sequences_take_turns(folder: Folder) -> None:
    reference = Reference(folder())
    engine = an_engine(folder(), cache_bytes=16 * 8 * 512)  # 16 pages of 8 tokens
    jobs = [job(f"j{at}", ids(at, 30 + at), max_tokens=40) for at in range(5)]
    said = work(engine, jobs)
    assert metric(engine, "semcache_engine_preempted_total") > 0
    for one in jobs:
        assert said[one.id].text == reference.says(one.ids, 40)


def test_a_prompt_is_computed_once_for_all_who_ask_for_it_together(folder: Folder) -> None:
    engine = an_engine(folder())
    prompt = ids(5, 81)
    said = work(engine, [job(f"j{at}", prompt, max_tokens=4) for at in range(6)])
    assert len({one.text for one in said.values()}) == 1
    assert sum(one.spent.cached for one in said.values()) == 5 * 80
    assert metric(engine, "semcache_engine_computed_tokens_total") == 81 + 5 + 6 * 3


def test_tenants_share_nothing(folder: Folder) -> None:
    engine = an_engine(folder())
    prompt = ids(5, 40)
    cached = [
        work(engine, [job(f"j{at}", prompt, tenant=tenant)])[f"j{at}"].spent.cached
        for at, tenant in enumerate(["acme", "other", "acme", "", "other"])
    ]
    assert cached == [0, 0, 32, 0, 32]
