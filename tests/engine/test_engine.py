"""How jobs are served side by side: choices, seeds, stops, cancelling, failing, and what each costs the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.engine.job import FinishReason
from semcache.engine.overload import Overloaded
from semcache.errors import RequestRejected
from tests.engine.nursery import Reference, an_engine, ids, job, metric, work

Folder = Callable[..., Path]
PROMPT = ids(9, 30)


def test_choices_differ_and_a_seed_repeats_them(folder: Folder) -> None:
    engine = an_engine(folder())
    sampled: dict[str, Any] = {"n": 3, "temperature": 1.0, "seed": 5}
    one = work(engine, [job("a", PROMPT, **sampled)])["a"]
    assert len(set(one.texts)) == 3
    assert one.spent.completion == 36
    assert one.finishes == [FinishReason.LENGTH] * 3
    busy = work(engine, [job("b", PROMPT, **sampled), job("c", ids(1, 50)), job("d", PROMPT, temperature=1.0, seed=6)])
    assert busy["b"].texts == one.texts
    assert busy["d"].text not in one.texts


def test_choices_of_one_prompt_share_its_pages_until_they_write(folder: Folder) -> None:
    engine = an_engine(folder())
    said = work(engine, [job("a", PROMPT, n=4)])["a"]
    assert said.texts == [Reference(folder()).says(PROMPT, 12)] * 4
    assert metric(engine, "semcache_engine_computed_tokens_total") == 30 + 4 * 11


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_draft_never_changes_what_is_said(engines: Any, data: st.DataObject) -> None:
    """Right, partly right or wrong; greedy or sampled."""
    temperature = data.draw(st.sampled_from([0.0, 1.0]))
    prompt = ids(data.draw(st.integers(0, 3)), 20)
    plain = work(engines["plain"], [job("a", prompt, temperature=temperature, seed=3, max_tokens=16)])["a"]
    said = engines["plain"].tokenizer.encode(plain.text, special=False)
    draft = list(said)
    for at in data.draw(st.lists(st.integers(0, max(0, len(said) - 1)), max_size=3)):
        if draft:
            draft[at % len(draft)] = data.draw(st.integers(6, 500))
    drafted = work(
        engines["drafting"], [job("b", prompt, temperature=temperature, seed=3, max_tokens=16, draft=draft)]
    )["b"]
    assert drafted.text == plain.text
    assert drafted.spent.completion == plain.spent.completion


@pytest.fixture(scope="module")
def engines(folder: Folder) -> dict[str, Any]:
    return {"plain": an_engine(folder()), "drafting": an_engine(folder(), draft=8)}


def test_a_right_draft_saves_steps(folder: Folder) -> None:
    said = Reference(folder()).tokens(PROMPT, 24)
    steps = {}
    for name, draft in {"right": said, "wrong": ids(3, 24)}.items():
        engine = an_engine(folder(), draft=16)
        spent = work(engine, [job("a", PROMPT, draft=draft, max_tokens=24)])["a"].spent
        steps[name] = metric(engine, "semcache_engine_step_seconds_count")
        assert spent.completion == 24
        if name == "right":
            assert spent.accepted > 20
    assert steps["right"] <= 4
    assert steps["wrong"] > 12


def test_a_guess_of_any_length_costs_no_more_than_an_answer_can_use(folder: Folder) -> None:
    engine = an_engine(folder(), draft=8)
    engine.submit(job("a", PROMPT, draft=ids(1, 100_000)))
    (waiting,) = engine._waiting
    assert len(waiting.drafter._given) == engine.limits.most
    assert work(engine)["a"].text == Reference(folder()).says(PROMPT, 12)


def test_a_stop_string_ends_the_text_before_it(folder: Folder) -> None:
    whole = Reference(folder()).says(PROMPT, 40)
    stop = whole[10:13]
    said = work(an_engine(folder()), [job("a", PROMPT, stop=(stop,), max_tokens=40)])["a"]
    assert said.text == whole[: whole.index(stop)]
    assert said.finishes == [FinishReason.STOP]
    assert said.spent.completion < 40


def test_scores_come_with_their_tokens(folder: Folder) -> None:
    said = work(an_engine(folder()), [job("a", PROMPT, logprobs=3, max_tokens=9)])["a"]
    scores = [score for delta in said.deltas for score in delta.scores]
    assert [score.token for score in scores] == Reference(folder()).tokens(PROMPT, 9)
    assert all(score.top[0] == (score.token, score.logprob) for score in scores)
    assert all(score.logprob < 0 and len(score.top) == 3 for score in scores)


def test_the_end_token_ends_and_is_not_said(folder: Folder) -> None:
    engine = an_engine(folder())
    said = work(engine, [job("a", PROMPT, ignore_eos=False, bias={1: 100.0})])["a"]
    assert (said.text, said.finishes, said.spent.completion) == ("", [FinishReason.STOP], 1)


def test_cancelled_jobs_leave_room_and_no_trace(folder: Folder) -> None:
    engine = an_engine(folder(), max_running=2)
    for at in range(4):
        engine.submit(job(f"j{at}", ids(at, 30), max_tokens=50, n=2 if at == 1 else 1))
    told = {delta.job for _ in range(3) for delta in engine.step()}
    engine.cancel("j0")
    engine.cancel("j3")
    engine.cancel("never heard of")
    rest = work(engine)
    assert told
    assert {name: one.spent.completion for name, one in rest.items()} == {"j1": 100, "j2": 50}
    assert all(engine._kv_cache._pool.holders(block.page) == 1 for block in engine._kv_cache._tree.blocks())


def test_a_prompt_that_is_only_read_is_there_for_the_next(folder: Folder) -> None:
    engine = an_engine(folder(), draft=8)
    read = work(engine, [job("a", PROMPT, max_tokens=0, draft=ids(1, 9)), job("b", ids(7, 30), max_tokens=3)])
    assert (read["a"].text, read["a"].finishes) == ("", [FinishReason.LENGTH])
    assert (read["a"].spent.prompt, read["a"].spent.completion) == (len(PROMPT), 0)
    assert read["b"].spent.completion == 3
    said = work(engine, [job("c", PROMPT)])["c"]
    assert said.spent.cached == (len(PROMPT) - 1) // 8 * 8
    assert said.text == Reference(folder()).says(PROMPT, 12)


@pytest.mark.parametrize(
    ("prompt", "sampling", "code"),
    [
        ((), {}, "empty_prompt"),
        ((1, 512), {}, "invalid_token"),
        ((1, -1), {}, "invalid_token"),
        (ids(1, 1000), {"max_tokens": 25}, "context_length_exceeded"),
        ((1, 2), {"n": 33}, "invalid_value"),
    ],
)
def test_what_cannot_be_served_is_refused_alone(folder: Folder, prompt: Any, sampling: Any, code: str) -> None:
    engine = an_engine(folder())
    engine.submit(job("good", PROMPT))
    with pytest.raises(RequestRejected) as caught:
        engine.submit(job("bad", prompt, **sampling))
    assert caught.value.code == code
    assert work(engine)["good"].text == Reference(folder()).says(PROMPT, 12)


def test_a_job_larger_than_the_cache_is_refused_and_one_as_large_is_not(folder: Folder) -> None:
    engine = an_engine(folder(), cache_bytes=10 * 8 * 512)
    with pytest.raises(RequestRejected, match="cache is 80 tokens"):
        engine.submit(job("bad", ids(1, 70), max_tokens=11))
    assert work(engine, [job("good", ids(1, 70), max_tokens=10)])["good"].spent.completion == 10


def test_a_failing_sequence_ends_alone(folder: Folder) -> None:
    """The model raises for one prompt and gives no numbers for another: both end with an error, the others do not,
    nor does who gets their pages next."""
    torch = pytest.importorskip("torch")

    class Poisoned:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def logits(self, pieces: Any, store: Any, *, share: int) -> Any:
            if broken and any(13 in piece.ids for piece in pieces):
                raise RuntimeError("kernel")
            logits = self._inner.logits(pieces, store, share=share)
            row = 0
            for piece in pieces:
                if broken and 17 in piece.ids:
                    with torch.inference_mode():
                        logits[row : row + piece.wanted] = torch.nan
                    store._data[:, :, :, piece.pages] = torch.nan
                row += piece.wanted
            return logits

    clean = tuple(token for token in ids(1, 60) if token not in (13, 17))[:20]
    broken = [True]
    engine = an_engine(folder(), wrap=Poisoned)
    said = work(
        engine,
        [
            job("good", clean),
            job("raises", (*clean[:9], 13)),
            job("nan", (*ids(2, 11), 17), n=2),
            job("other", clean[2:]),
        ],
    )
    assert said["raises"].finishes == said["nan"].finishes == [FinishReason.ERROR]
    assert "kernel" in said["raises"].deltas[-1].error
    assert "no numbers" in said["nan"].deltas[-1].error
    reference = Reference(folder())
    assert said["good"].text == reference.says(clean, 12)
    assert said["other"].text == reference.says(clean[2:], 12)
    broken.clear()
    again = [(*clean[:9], 13), (*ids(2, 11), 17), ids(3, 9), ids(4, 3)]
    healed = work(engine, [job(f"again{at}", prompt) for at, prompt in enumerate(again)])
    assert [one.text for one in healed.values()] == [reference.says(again[int(name[5:])], 12) for name in healed]


def test_a_job_that_fails_in_all_its_choices_ends_alone(folder: Folder) -> None:
    """Every choice of it breaks the kernel, and each of them after the first has left already."""

    class Breaking:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def logits(self, pieces: Any, store: Any, *, share: int) -> Any:
            if any(piece.start > len(PROMPT) for piece in pieces):
                raise RuntimeError("kernel")
            return self._inner.logits(pieces, store, share=share)

    engine = an_engine(folder(), wrap=Breaking)
    said = work(engine, [job("raises", PROMPT, n=3), job("good", ids(3, 9))])
    assert said["raises"].finishes == [FinishReason.ERROR]
    assert said["good"].text == Reference(folder()).says(ids(3, 9), 12)
    assert all(engine._kv_cache._pool.holders(block.page) == 1 for block in engine._kv_cache._tree.blocks())


def test_what_a_page_held_before_is_nobodys_business(folder: Folder) -> None:
    engine = an_engine(folder())
    engine._kv_cache.store._data.fill_(float("nan"))
    prompts = [ids(at, 9 + at) for at in range(4)]
    said = work(engine, [job(str(at), prompt) for at, prompt in enumerate(prompts)])
    assert [said[str(at)].text for at in range(4)] == [Reference(folder()).says(prompt, 12) for prompt in prompts]


@pytest.mark.parametrize(("eviction", "kept"), [("lru", 0), ("cost", 40)])
def test_a_prefix_that_many_want_outlives_prompts_that_nobody_repeats(folder: Folder, eviction: str, kept: int) -> None:
    engine = an_engine(folder(), eviction=eviction, cache_bytes=24 * 8 * 512)
    wanted, scan = ids(0, 40), [ids(at, 60) for at in range(10, 16)]
    for at in range(3):
        work(engine, [job(f"wanted{at}", (*wanted, 6 + at), max_tokens=1)])
    for at, prompt in enumerate(scan):
        work(engine, [job(f"scan{at}", prompt, max_tokens=1)])
    said = work(engine, [job("again", (*wanted, 99))])["again"]
    assert said.spent.cached == kept
    assert said.text == Reference(folder()).says((*wanted, 99), 12)


def test_who_speaks_is_not_held_up_by_a_long_prompt(folder: Folder) -> None:
    engine = an_engine(folder(), step=16)
    engine.submit(job("speaker", ids(1, 5), max_tokens=30))
    engine.step()
    engine.submit(job("long", ids(2, 400), max_tokens=2))
    spoken = [sum(delta.job == "speaker" for delta in engine.step()) for _ in range(12)]
    assert sum(spoken) >= 6  # a token may complete no character
    assert metric(engine, "semcache_engine_computed_tokens_total") == 5 + 12 * 16


def test_an_overloaded_engine_refuses_at_once_and_says_when_to_come_again(folder: Folder) -> None:
    engine = an_engine(folder(), max_waiting=2, max_running=1)
    engine.submit(job("a", PROMPT))
    engine.step()
    engine.submit(job("b", PROMPT))
    engine.submit(job("c", PROMPT))
    with pytest.raises(Overloaded) as caught:
        engine.submit(job("d", PROMPT))
    assert caught.value.status == 503
    assert caught.value.retry_after >= 1
    assert set(work(engine)) == {"a", "b", "c"}


def test_a_flood_of_one_tenant_does_not_starve_another(folder: Folder) -> None:
    engine = an_engine(folder(), max_running=1, quantum=64)
    for at in range(12):
        engine.submit(job(f"flood{at}", ids(at, 60), tenant="flood", max_tokens=2))
    engine.step()
    engine.submit(job("polite", ids(99, 20), tenant="polite", max_tokens=2))
    order = list(work(engine))
    assert order.index("polite") <= 3


def test_prompts_that_are_cached_do_not_keep_a_new_one_waiting_for_good(folder: Folder) -> None:
    engine = an_engine(folder(), max_running=1, quantum=10**6)
    work(engine, [job("first", PROMPT, max_tokens=1)])
    engine.submit(job("new", ids(77, 20), max_tokens=1))
    for at in range(60):
        engine.submit(job(f"known{at}", (*PROMPT, 6 + at), max_tokens=1))
    order = list(work(engine))
    assert 0 < order.index("new") <= 33


def test_penalties_and_bias_reach_the_tokens(folder: Folder) -> None:
    engine = an_engine(folder())
    scored = job("a", PROMPT, bias={42: 100.0}, logprobs=0, max_tokens=5)
    assert [s.token for d in work(engine, [scored])["a"].deltas for s in d.scores] == [42] * 5
    sampling = replace(scored.sampling, bias={42: 30.0, 43: 29.0}, presence_penalty=2.0, max_tokens=2)
    said = work(engine, [replace(scored, id="b", sampling=sampling)])["b"]
    assert [score.token for delta in said.deltas for score in delta.scores] == [42, 43]


@pytest.mark.parametrize("share", [1, 16])
def test_prompts_of_a_few_tokens_side_by_side_are_each_read_as_alone(folder: Folder, share: int) -> None:
    alone, prompts = Reference(folder()), [ids(20 + size, size) for size in (1, 2, 2, 3, 1, 2, 9, 10)]
    said = work(an_engine(folder(), share=share), [job(f"j{at}", one) for at, one in enumerate(prompts)])
    assert [said[f"j{at}"].text for at in range(len(prompts))] == [alone.says(one, 12) for one in prompts]


def test_a_draft_that_goes_on_where_the_cache_ends_does_not_keep_the_answer_from_ending(folder: Folder) -> None:
    small = an_engine(folder())
    token = small.decoder.shape.token_bytes
    for prompt in (29, 30, 31, 32):
        engine = an_engine(folder(), draft=16, cache_bytes=40 * token)
        room, given = engine.limits.most - prompt, ids(9, prompt)
        wanted = Reference(folder()).tokens(given, room + 20)
        said = work(engine, [job("a", given, draft=wanted, max_tokens=room)])["a"]
        assert (said.finishes, said.spent.completion) == ([FinishReason.LENGTH], room)
        assert said.text == Reference(folder()).says(given, room)
        assert metric(engine, "semcache_engine_preempted_total") == 0


def test_who_waits_behind_others_of_a_full_engine_waits_for_their_answers_too(folder: Folder) -> None:
    engine = an_engine(folder(), max_running=1)
    work(engine, [job("known", PROMPT, max_tokens=12)])
    engine.submit(job("running", ids(1, 8), max_tokens=12))
    engine.step()
    nobody = job("", PROMPT)
    ahead = [engine._tokens_ahead(engine._waiting.before(nobody))]
    for at in range(3):
        engine.submit(job(f"w{at}", ids(30 + at, 8), max_tokens=12))
        ahead.append(engine._tokens_ahead(engine._waiting.before(nobody)))
    assert [after - before for before, after in pairwise(ahead)] == [8 + 12] * 3
