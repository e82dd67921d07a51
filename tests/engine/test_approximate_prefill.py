"""Documents read the short way: what is kept for whom, what it costs others, and that exact answers stay exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.engine_models import make
from semcache.engine.approximate_prefill import STORED
from semcache.engine.disk_tier import DiskTier
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.job import Approximation, Delta, FinishReason, Job
from semcache.engine.offload import OffloadTiers
from semcache.errors import RequestRejected
from tests.engine.nursery import Reference, an_engine, ids, job, metric, work

Folder = Callable[..., Path]
HEAD, ONE, OTHER, ASK = ids(1, 8), ids(2, 40), ids(3, 32), ids(4, 6)
PROMPT = (*HEAD, *ONE, *OTHER, *ASK)
SPANS = (range(8, 48), range(48, 80))
WAYS = {
    "pressed": Approximation(SPANS, press="keydiff", keep=0.5),
    "blended": Approximation(SPANS, chunks="blend", recompute=0.3),
    "crafted": Approximation(SPANS, chunks="craft", alpha=0.5),
    "parallel": Approximation(SPANS, chunks="parallel"),
    "aligned": Approximation(SPANS, chunks="align", recompute=0.1),
}


def short(name: str, way: Approximation, prompt: Any = PROMPT, **given: Any) -> Job:
    return replace(job(name, prompt, **given), approximation=way)


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> Approximation:
    return WAYS[request.param]


def test_a_shortcut_never_touches_what_exact_jobs_say(folder: Folder, way: Approximation) -> None:
    """Before, beside and after, whichever is stored first."""
    exact = Reference(folder()).says(PROMPT, 12)
    for first in (True, False):
        engine = an_engine(folder())
        if first:
            work(engine, [short("a", way)])
        said = work(engine, [job("b", PROMPT), short("c", way), job("d", (*PROMPT, 9))])
        assert said["b"].text == exact
        assert said["b"].spent.cached == 0
        assert said["d"].text == Reference(folder()).says((*PROMPT, 9), 12)
        again = work(engine, [job("e", PROMPT), short("f", way)])
        assert again["e"].text == exact
        assert again["f"].text == said["c"].text


def test_what_was_stored_is_found_again_whatever_is_asked(folder: Folder, way: Approximation) -> None:
    engine = an_engine(folder())
    work(engine, [short("a", way)])
    before = metric(engine, "semcache_engine_shortcuts_total", way="press" if way.press else "chunks")
    said = work(engine, [short("b", way, (*PROMPT[:80], *ids(5, 9)))])["b"]
    assert said.spent.cached >= 80 - (0 if way.press else 8)
    assert metric(engine, "semcache_engine_shortcuts_total", way="press" if way.press else "chunks") == before


def test_tenants_share_nothing(folder: Folder, way: Approximation) -> None:
    engine = an_engine(folder())
    work(engine, [short("a", way, tenant="a")])
    moved = replace(way, documents=(range(8, 40), range(40, 80)))
    prompt = (*HEAD, *OTHER, *ONE, *ASK)
    said = work(engine, [short("b", way, tenant="b"), short("c", moved, prompt, tenant="b")])
    assert said["b"].spent.cached == 0
    if way.chunks:
        assert said["c"].spent.cached > 0  # its own documents, in another order
        assert work(engine, [short("d", moved, prompt, tenant="c")])["d"].spent.cached == 0


def test_documents_are_reused_in_any_order_and_more_recomputed_is_nearer_to_exact(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    engine = an_engine(make(tmp_path, layers=4))
    prompt, spans = (*HEAD, *OTHER, *ONE, *ASK), (range(8, 40), range(40, 80))
    work(engine, [short("first", Approximation(SPANS, chunks="blend", recompute=0.3))])
    exact = _kv(engine, job("exact", prompt))
    off = {}
    for share in (0.0, 0.3, 0.999):
        data = _kv(engine, short(f"s{share}", Approximation(spans, chunks="blend", recompute=share), prompt))
        off[share] = float((data - exact).norm() / exact.norm())
    assert off[0.0] > off[0.3] > off[0.999]
    torch.testing.assert_close(off[0.999], 0.0, atol=1e-3, rtol=0)


def test_texts_side_by_side_are_attended_to_as_in_one_request(folder: Folder) -> None:
    """Against the same without pages, the documents in the order in which they lie."""
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    from eval.kv.parallel import parallel, read_on
    from semcache.engine.attention_merge import ParallelSpan
    from semcache.engine.chunks.chunk import encode

    way = Approximation(SPANS, chunks="parallel", temperature=0.6, scale=0.8)
    said = work(an_engine(folder(), draft=4), [short("a", way, logprobs=0, draft=(7, 8)), job("b", PROMPT)])["a"]
    model = AutoModelForCausalLM.from_pretrained(folder())
    texts = [encode(model, text, prefix=HEAD) for text in (OTHER, ONE)]
    made = parallel(model, encode(model, HEAD), texts, ASK, temperature=0.6, scale=0.8)
    logits, tokens, sides = made.logits, [], ParallelSpan(8, 80, 0.6, 0.8)
    for _ in range(12):
        tokens.append(int(logits.argmax()))
        logits = read_on(model, torch.tensor([tokens[-1:]]), made.cache, sides)[0, -1]
    assert [score.token for delta in said.deltas for score in delta.scores] == tokens


@pytest.mark.parametrize("stop", [46, 48, 85])
def test_one_text_beside_nothing_is_exact(folder: Folder, stop: int) -> None:
    way = Approximation((range(8, stop),), chunks="parallel", temperature=1.0, scale=1.0)
    said = work(an_engine(folder()), [short("a", way)])["a"]
    assert said.text == Reference(folder()).says(PROMPT, 12)


def test_documents_in_their_context_cost_nothing_and_in_another_what_it_mattered(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    engine = an_engine(make(tmp_path, layers=4))
    prompt, spans = (*HEAD, *OTHER, *ONE, *ASK), (range(8, 40), range(40, 80))
    way = WAYS["crafted"]
    torch.testing.assert_close(_kv(engine, short("first", way)), _kv(engine, job("exact", PROMPT)))
    longer = replace(way, documents=(*SPANS, range(80, 86)))
    again = work(engine, [short("longer", longer, (*PROMPT[:80], *ids(5, 6), *ASK))])["longer"]
    assert again.spent.cached == 0  # one of its documents is new: all is computed, and kept
    nearly = replace(way, documents=(range(8, 47), range(47, 79)))
    part = (*HEAD, *ONE[:-1], *OTHER, *ASK)
    assert work(engine, [short("nearly", nearly, part)])["nearly"].spent.cached == 0
    same = replace(way, alpha=0.4)  # under a key of its own: it is put together, with nothing of documents computed
    assert work(engine, [short("same", same)])["same"].spent.cached == 72
    exact = _kv(engine, job("other", prompt))
    off = {}
    for alpha in (0.1, 0.9, 1e9):
        data = _kv(engine, short(f"a{alpha}", replace(way, documents=spans, alpha=alpha), prompt))
        off[alpha] = float((data - exact).norm() / exact.norm())
    assert off[0.1] > off[0.9] > off[1e9] - 1e-6
    torch.testing.assert_close(off[1e9], 0.0, atol=1e-5, rtol=0)


def test_craft_weighs_no_more_than_fits_in_memory(folder: Folder, monkeypatch: Any) -> None:
    monkeypatch.setattr("semcache.engine.chunk_reuse._WEIGHED", 1000)
    with pytest.raises(RequestRejected, match="at most"):
        an_engine(folder()).submit(short("a", WAYS["crafted"]))


def test_a_similar_prompt_spares_what_it_has_in_common(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    engine = an_engine(make(tmp_path, layers=4))
    work(engine, [short("first", Approximation(chunks="align"))])
    edited = (*PROMPT[:20], *ids(9, 3), *PROMPT[22:], 9)
    exact = _kv(engine, job("exact", edited))
    off = {}
    for share in (0.0, 0.3, 0.999):
        data = _kv(engine, short(f"s{share}", Approximation(chunks="align", recompute=share), edited))
        off[share] = float((data - exact).norm() / exact.norm())
    assert off[0.0] > off[0.3] > off[0.999]
    torch.testing.assert_close(off[0.999], 0.0, atol=1e-3, rtol=0)
    said = work(engine, [short("spared", Approximation(chunks="align", recompute=0.05), edited)])["spared"]
    assert 0 < said.spent.cached < 80
    other = short("other", Approximation(chunks="align"), ids(11, 86))
    assert work(engine, [other])["other"].text == work(engine, [job("b", ids(11, 86))])["b"].text


def _kv(engine: Any, asked: Job) -> Any:
    """Keys and values of a job's first 80 tokens, while it runs."""
    import torch

    engine.submit(asked)
    engine.step()
    (one,) = engine._running
    while one.done < 80:
        engine.step()
    data = torch.stack([engine._kv_cache.store.take_out(page) for page in one.pages[:10]])
    work(engine)
    return data


@pytest.mark.parametrize("press", STORED)
def test_pressed_text_takes_fewer_pages_at_true_positions(folder: Folder, press: str) -> None:
    """Against a transformers cache pressed in the same way, read on by transformers."""
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    from semcache.engine.press.compress import press as pressed
    from semcache.engine.press.compress import read_on
    from semcache.engine.press.presses import PRESSES

    engine = an_engine(folder())
    said = work(engine, [short("a", Approximation(SPANS, press=press, keep=0.5), logprobs=0)])["a"]
    assert engine._kv_cache.blocks == (40 + 6 + 11) // 8
    model = AutoModelForCausalLM.from_pretrained(folder())
    text = torch.tensor([PROMPT[:80]])
    made = pressed(model, text, PRESSES[press](), keep=32 / 72, protected=[range(8)])
    logits, tokens = read_on(model, torch.tensor([PROMPT[80:]]), made.cache)[0, -1], []
    for _ in range(12):
        tokens.append(int(logits.argmax()))
        logits = read_on(model, torch.tensor([tokens[-1:]]), made.cache)[0, -1]
    assert [score.token for delta in said.deltas for score in delta.scores] == tokens


def test_choices_drafts_and_company_change_nothing(folder: Folder, way: Approximation) -> None:
    alone = work(an_engine(folder()), [short("a", way)])["a"]
    engine = an_engine(folder(), draft=8)
    draft = engine.tokenizer.encode(alone.text, special=False)
    jobs = [job(f"j{at}", ids(at + 20, 30 + at)) for at in range(3)]
    said = work(engine, [*jobs, short("a", way, n=3), short("b", way, draft=draft)])
    assert said["a"].texts == [alone.text] * 3
    assert said["b"].text == alone.text
    for one in jobs:
        assert said[one.id].text == Reference(folder()).says(one.ids, 12)


def test_when_pages_run_out_it_is_read_again(folder: Folder, way: Approximation) -> None:
    alone = work(an_engine(folder()), [short("a", way)])["a"]
    engine = an_engine(folder(), cache_bytes=16 * 8 * 512, max_running=3)
    said = work(engine, [job("j", ids(7, 60), max_tokens=40), short("a", way), short("b", way, tenant="b")])
    assert said["a"].text == said["b"].text == alone.text
    assert said["j"].text == Reference(folder()).says(ids(7, 60), 40)


def test_others_speak_while_documents_are_read(folder: Folder, way: Approximation) -> None:
    """Each step of the engine gives them a token, and what either says is what it says alone."""
    alone = work(an_engine(folder()), [short("a", way)])["a"].text
    engine = an_engine(folder(), step=16)
    engine.submit(job("talk", ids(9, 8), max_tokens=60))
    while not engine.step():
        pass
    (talk,) = engine._running
    begun = talk.generated
    engine.submit(short("a", way))
    steps = 0
    said: list[Delta] = []
    while not any(delta.job == "a" for delta in said):
        said += engine.step()
        steps += 1
        assert talk.generated == begun + steps, "they had to wait"
    assert steps > 4
    text = {name: "".join(delta.text for delta in said if delta.job == name) for name in ("a", "talk")}
    rest = work(engine)
    assert text["a"] + rest["a"].text == alone
    assert Reference(folder()).says(ids(9, 8), 60).endswith(text["talk"] + rest["talk"].text)


def test_documents_of_a_client_that_left_are_read_no_further(folder: Folder, way: Approximation) -> None:
    engine = an_engine(folder(), step=16)
    engine.submit(short("a", way))
    engine.step()
    engine.step()
    held = engine._kv_cache.usage
    engine.cancel("a")
    assert engine.idle
    assert held > engine._kv_cache.usage == 0


def test_the_same_documents_are_read_once_for_those_who_wait(folder: Folder, way: Approximation) -> None:
    engine = an_engine(folder(), step=16)
    said = work(engine, [short("a", way), short("b", way, (*PROMPT[:80], *ids(5, 6)))])
    kind = "press" if way.press else "chunks"
    assert metric(engine, "semcache_engine_shortcuts_total", way=kind) == 1
    assert said["b"].spent.cached >= 72


@pytest.mark.parametrize("press", STORED)
def test_a_text_pressed_in_pieces_keeps_what_it_keeps_at_once(folder: Folder, press: str) -> None:
    torch = pytest.importorskip("torch")
    way = Approximation(SPANS, press=press, keep=0.5)
    kept = [_kv(an_engine(folder(), step=step), replace(job("a", (*PROMPT, *ids(8, 60))), approximation=way))
            for step in (18, 512)]  # fmt: skip
    torch.testing.assert_close(kept[0], kept[1], atol=1e-4, rtol=1e-4)


def test_a_model_that_fails_takes_only_its_own_job_with_it(
    folder: Folder, way: Approximation, monkeypatch: Any
) -> None:
    engine = an_engine(folder())

    def broken(*_: object) -> None:
        raise RuntimeError("kernel")

    monkeypatch.setattr(engine._approximate, "read", broken)
    said = work(engine, [short("a", way), job("b", PROMPT)])
    assert said["a"].finishes == [FinishReason.ERROR]
    assert "kernel" in said["a"].deltas[-1].error
    assert said["b"].text == Reference(folder()).says(PROMPT, 12)
    monkeypatch.undo()
    assert work(engine, [short("c", way)])["c"].finishes == [FinishReason.LENGTH]


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        (Approximation(SPANS, press="nothing", keep=0.5), "press"),
        (Approximation(SPANS, press="snapkv", keep=0.5), "press"),
        (Approximation(SPANS, press="kivi", keep=0.5), "press"),
        (Approximation(SPANS, press="keydiff", keep=0.0), "press"),
        (Approximation(SPANS, chunks="blend", recompute=-0.1), "chunks"),
        (Approximation(SPANS, chunks="nothing"), "chunks"),
        (Approximation(SPANS, chunks="craft", alpha=0.0), "chunks"),
        (Approximation(SPANS, chunks="craft", alpha=float("inf")), "chunks"),
        (Approximation(SPANS, chunks="parallel", temperature=0.0), "chunks"),
        (Approximation(SPANS, chunks="parallel", scale=1.5), "chunks"),
        (Approximation((range(8, 400),), chunks="blend", recompute=0.5), "messages"),
        (Approximation((range(8, 48), range(40, 80)), chunks="blend", recompute=0.5), "messages"),
        (Approximation((range(8, 8),), chunks="blend", recompute=0.5), "messages"),
    ],
)
def test_what_cannot_be_is_refused(folder: Folder, wrong: Approximation, param: str) -> None:
    with pytest.raises(RequestRejected) as caught:
        an_engine(folder()).submit(short("a", wrong))
    assert (caught.value.status, caught.value.param) == (400, param)


@pytest.mark.parametrize("span", [range(1), range(3, 9), range(86)])
def test_short_and_whole_documents(folder: Folder, way: Approximation, span: range) -> None:
    """Too short to matter is exact; a prompt that is nothing but a document leaves one token to compute."""
    said = work(an_engine(folder()), [short("a", replace(way, documents=(span,)))])["a"]
    assert said.finishes == [FinishReason.LENGTH]
    if len(span) == 1:
        assert said.text == Reference(folder()).says(PROMPT, 12)


def test_a_disk_with_fewer_bits_is_for_those_who_allow_it(folder: Folder, tmp_path: Path) -> None:
    def tiers(codec: str) -> Callable[[EngineMetrics], OffloadTiers]:
        def made(metrics: EngineMetrics) -> OffloadTiers:
            disk = DiskTier(tmp_path, 1 << 30, count=lambda event: metrics.tier("disk", event), codec=codec)
            return OffloadTiers(host_bytes=0, disk=disk, clock=lambda: 0.0, metrics=metrics)

        return made

    def fresh(codec: str) -> Any:
        return an_engine(folder(), tiers=tiers(codec), disk=tmp_path, disk_codec=codec)

    exact = Reference(folder()).says(PROMPT, 12)
    engine = fresh("int8")
    first = work(engine, [short("a", Approximation()), job("b", PROMPT)])
    assert first["a"].text == first["b"].text == exact  # nothing came from the disk yet
    assert first["b"].spent.cached == 0
    engine.close()
    sizes = sorted({path.stat().st_size for path in tmp_path.glob("*/*.safetensors")})
    assert sizes[0] < 0.6 * sizes[-1]  # the header is the larger part of the smaller
    engine = fresh("int8")
    again = work(engine, [job("b", PROMPT), short("a", Approximation())])
    assert again["b"].text == exact
    assert again["a"].spent.cached == again["b"].spent.cached == 80
    engine.close()
    engine = fresh("int4")
    other = work(engine, [short("a", Approximation()), job("b", PROMPT)])
    assert other["a"].spent.cached == 0  # of another codec
    assert other["b"].spent.cached == 80
    engine.close()
    engine = an_engine(folder())
    assert work(engine, [short("a", Approximation())])["a"].text == exact
    assert work(engine, [job("b", PROMPT)])["b"].spent.cached == 80  # where there is no such disk, it is no shortcut
