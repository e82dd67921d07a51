"""Operators can find out why, take a mistake back, and trust what they are shown."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.cache.reasons import explained
from semcache.config.packs import packs_dir
from semcache.errors import InvalidArgument
from semcache.learning.reports import reject_wrong
from semcache.types import Controls, Outcome, Selector, Why, parse_id
from tests.clock import Clock
from tests.components import share
from tests.packs import static

OWN, OTHER = "How do I cancel my subscription?", "How can I cancel my subscription?"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cache(tmp_path: Path, clock: Clock) -> AsyncIterator[AsyncSemanticCache]:
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), seed=1, clock=clock) as opened:
        yield opened


async def teach(cache: AsyncSemanticCache, prompt: str, answer: str, **params: Any) -> None:
    await cache.record(await cache.lookup(prompt, **params), answer)


def test_every_reason_has_its_sentence() -> None:
    assert all(explained(why)[0].endswith(".") for why in Why)
    assert not [why for why in Why if explained(why)[0].startswith("The reason is")]


async def test_a_miss_can_be_explained_afterwards_by_its_id(cache: AsyncSemanticCache) -> None:
    await teach(cache, "How long may I return an item after 30 days?", "Never.")
    missed = await cache.lookup("How long may I return an item after 31 days?")
    assert (missed.why, missed.guards[0].guard) == (Why.GUARD, "numbers")
    known = await cache.operating.request(missed.request_id)
    assert known is not None
    assert (known["outcome"], known["why"], known["prompt"]) == (
        "miss",
        "guard",
        "How long may I return an item after 31 days?",
    )
    [neighbour] = known["neighbours"]
    assert neighbour["prompt"] == "How long may I return an item after 30 days?"
    assert [(one["guard"], one["veto"]) for one in neighbour["guards"]] == [("numbers", True)]
    assert neighbour["id"] == missed.nearest_id


async def test_decisions_are_shown_to_their_tenant_alone_and_go_with_a_neighbour(cache: AsyncSemanticCache) -> None:
    await teach(cache, "How long may I return an item after 30 days?", "Never.", tenant="a")
    missed = await cache.lookup("How long may I return an item after 31 days?", tenant="a")
    assert await cache.operating.request(missed.request_id, tenant="b") is None
    assert await cache.operating.requests(tenant="b") == []
    assert len(await cache.operating.requests(tenant="a")) == 2
    await cache.operating.delete(Selector(ids=(parse_id(missed.nearest_id or "") or 0,)), who="test", forever=True)
    left = await cache.operating.request(missed.request_id)
    assert left is not None
    assert (left["sampled"], left["why"]) == (False, "guard"), "the outcome is known, and no text"
    assert "return an item" not in str(left)


async def test_decisions_are_sampled_when_there_are_many(tmp_path: Path, clock: Clock) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), seed=1, clock=clock) as cache:
        for number in range(30):
            await cache.lookup(f"Which town is number {number}?")
        assert len(await cache.operating.requests(limit=100)) == 20
        clock.now += 1.0
        await cache.lookup("Which town is the last?")
        assert len(await cache.operating.requests(limit=100)) == 21


async def test_explaining_serves_and_learns_nothing(cache: AsyncSemanticCache) -> None:
    await teach(cache, OWN, "Press Cancel.")
    await cache.settle()
    before = await cache.stats()
    state = cache.components.strategy.state()
    for prompt in (OWN, OTHER, "How do I cancel your subscription?", "What is the weather right now?", "Unheard of."):
        found = await cache.explain(prompt)
        assert found["meaning"]
    await cache.settle()
    assert await cache.stats() == before
    assert cache.components.strategy.state() == state
    assert await cache.operating.requests(outcome="semantic") == []


async def test_explaining_says_how_a_prompt_with_slips_is_read(cache: AsyncSemanticCache) -> None:
    assert (await cache.explain("how do i cancle my subscripton"))["read_as"] == "how do i cancel my subscription"
    assert (await cache.explain(OWN))["read_as"] is None


async def test_explaining_says_what_a_lookup_then_does(cache: AsyncSemanticCache) -> None:
    await teach(cache, OWN, "Press Cancel.")
    await teach(cache, "How long may I return an item after 30 days?", "Never.")
    for prompt in (OWN, OTHER, "How long may I return an item after 31 days?", "What is the weather right now?"):
        told_before = await cache.explain(prompt)
        found = await cache.lookup(prompt)
        assert (told_before["outcome"], told_before["why"]) == (found.outcome.value, found.why.value)
    with pytest.raises(InvalidArgument, match="categor"):
        await cache.explain(OWN, category="nowhere")


async def test_a_withdrawn_report_leaves_things_as_they_were(cache: AsyncSemanticCache) -> None:
    await teach(cache, OWN, "Press Cancel.")
    served = await cache.lookup(OTHER)
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup(OTHER)).why is Why.REJECTED
    assert await cache.withdraw(served.entry_id)
    assert (await cache.lookup(OTHER)).entry_id == served.entry_id
    assert not await cache.withdraw(served.entry_id), "it was withdrawn already"


@pytest.mark.parametrize("tenant", [b"a", 1, "\ud800"])
async def test_a_report_for_what_is_no_tenant_is_refused(cache: AsyncSemanticCache, tenant: Any) -> None:
    """False would say that there is no such entry, and the wrong answer would be served on."""
    await teach(cache, OWN, "Press Cancel.", tenant="a")
    served = await cache.lookup(OWN, tenant="a")
    with pytest.raises(InvalidArgument, match="tenant"):
        await cache.feedback(served.entry_id, correct=False, tenant=tenant)
    with pytest.raises(InvalidArgument, match="tenant"):
        await cache.withdraw(served.entry_id, tenant=tenant)


@pytest.mark.parametrize("verdict", ["false", "no", None, 0.5])
async def test_a_verdict_in_words_does_not_count_as_a_yes(cache: AsyncSemanticCache, verdict: Any) -> None:
    await teach(cache, OWN, "Press Cancel.")
    served = await cache.lookup(OWN)
    with pytest.raises(InvalidArgument, match="verdict"):
        await cache.feedback(served.entry_id, correct=verdict)


async def test_a_withdrawn_report_of_an_exact_answer_brings_the_entry_back(cache: AsyncSemanticCache) -> None:
    await teach(cache, OWN, "Press Cancel.", tenant="a")
    served = await cache.lookup(OWN, tenant="a")
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup(OWN, tenant="a")).answer is None
    assert not await cache.withdraw(served.entry_id, tenant="b")
    assert await cache.withdraw(served.entry_id, tenant="a")
    assert (await cache.lookup(OWN, tenant="a")).answer == "Press Cancel."
    assert (await cache.lookup(OTHER, tenant="a")).outcome is Outcome.SEMANTIC, "its vector is back as well"


async def shared_reports(cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a cache whose store others serve from does of its reports later."""
    later: list[Any] = []
    monkeypatch.setattr("semcache.learning.feedback.ELSEWHERE", 0.0)
    monkeypatch.setattr(cache.components.feedback, "_later", later.append)
    return later


async def test_a_report_is_written_down_once_where_others_serve_as_well(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = await shared_reports(cache, monkeypatch)
    await teach(cache, OWN, "Press Cancel.")
    served = await cache.lookup(OTHER)
    assert await cache.feedback(served.entry_id, correct=False)
    for work in later:
        await work
    assert [one["action"] for one in await cache.operating.actions()] == ["report"]
    assert await cache.withdraw(served.entry_id)
    assert (await cache.lookup(OTHER)).entry_id == served.entry_id


async def test_a_withdrawal_takes_back_what_a_report_did_before_and_after_others_were_heard(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = await shared_reports(cache, monkeypatch)
    await teach(cache, OWN, "Press Cancel.")
    served = await cache.lookup(OWN)
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup(OWN)).answer is None
    assert (await cache.lookup(OTHER)).entry_id == served.entry_id, "another worker serves it meanwhile"
    await cache.event_log.flush()
    for work in later:
        await work
    assert [one["action"] for one in await cache.operating.actions()] == ["report"]
    assert (await cache.lookup(OTHER)).why is Why.REJECTED
    assert await cache.withdraw(served.entry_id)
    assert [(await cache.lookup(one)).entry_id for one in (OWN, OTHER)] == [served.entry_id] * 2


async def test_beliefs_are_rebuilt_without_the_report_and_no_audit_is_rewound(tmp_path: Path, clock: Clock) -> None:
    quiet = tmp_path / "quiet.yaml"
    text = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
    quiet.write_text(re.sub(r"verify: \w+", 'verify: "off"', text), encoding="utf-8")
    async with await AsyncSemanticCache.open(
        str(tmp_path / "c"), policies=str(quiet), seed=1, clock=clock
    ) as cache:  # likeness alone, which `explain` shows
        await teach(cache, "How do I reset my password?", "Use the link.")
        prompt = "How do I go about resetting the password that I have?"
        served = await cache.lookup(prompt)
        assert served.outcome is Outcome.SEMANTIC, "the test needs a hit by meaning"
        await cache.record(served, "Use the link.")
        await cache.settle()
        category = served.category
        first = (await cache.explain("What should I do to reset the password of my account?"))["neighbours"][0][
            "p_correct"
        ]
        standing = cache.components.strategy.standing(category)
        again = await cache.lookup("How do I go about resetting the password which I have?")
        assert again.why is Why.SEMANTIC, "the test needs a hit by meaning"
        assert await cache.feedback(again.entry_id, correct=False)
        await cache.settle()
        reported = (await cache.explain("What should I do to reset the password of my account?"))["neighbours"][0][
            "p_correct"
        ]
        assert await cache.withdraw(again.entry_id)
        await cache.settle()
        back = (await cache.explain("What should I do to reset the password of my account?"))["neighbours"][0][
            "p_correct"
        ]
        assert reported < first
        assert back == pytest.approx(first, abs=1e-3)
        after = cache.components.strategy.standing(category)
        assert (after.audits, after.wrong, after.certified) == (standing.audits, standing.wrong, standing.certified)


async def test_a_purge_can_be_undone_and_erasing_cannot(cache: AsyncSemanticCache, clock: Clock) -> None:
    await teach(cache, OWN, "Press Cancel.", tenant="a")
    ids, undo = await cache.operating.delete(Selector(tenant="a"), who="ann")
    assert (await cache.lookup(OTHER, tenant="a")).answer is None
    assert undo is not None
    assert await cache.operating.undo(undo, who="ann", tenant="b") == []
    assert await cache.operating.undo(undo, who="ann") == ids
    assert (await cache.lookup(OTHER, tenant="a")).answer == "Press Cancel."
    assert [one["action"] for one in await cache.operating.actions()] == ["undo", "purge"]
    _, again = await cache.operating.delete(Selector(everything=True), who="ann")
    clock.now += 86_401.0
    assert await cache.operating.undo(again or "", who="ann") == []
    _, never = await cache.operating.delete(Selector(tenant="a"), who="ann", forever=True)
    assert never is None
    await cache.operating.delete(Selector(tenant="a", user="ann@example.com"), who="ann", forever=True)
    assert "ann@example.com" not in str(await cache.operating.actions())
    assert await cache.operating.requests(tenant="a") == []


async def test_savings_are_by_tenant_and_net_of_what_the_cache_costs(cache: AsyncSemanticCache, clock: Clock) -> None:
    body = {
        "model": "gpt-5",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Lima"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1_000_000,
            "completion_tokens": 0,
            "prompt_tokens_details": {"cached_tokens": 1_000_000},
        },
    }
    question = "What is the capital of Peru?"
    await cache.record(await cache.lookup(question, model="gpt-5", tenant="a"), body)
    await cache.lookup(question, model="gpt-5", tenant="a")
    await teach(cache, question, "Lima", model="unheard-of", tenant="b")
    rows = await cache.operating.usage("tenant", since=clock.now - 3600.0, until=clock.now + 3600.0)
    by = {row["tenant"]: row for row in rows}
    assert by["a"]["net_usd"] == pytest.approx(0.125), "the provider had cached the prompt: it would have cost a tenth"
    assert by["b"]["net_usd"] == 0.0
    assert by["total"]["requests"] == 3
    with pytest.raises(InvalidArgument, match="tenant"):
        await cache.operating.usage("tenants", since=0.0)


async def test_a_priceless_model_is_named(cache: AsyncSemanticCache) -> None:
    body = {"choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]}
    for model in ("our-own", "gpt-5"):
        found = await cache.lookup(f"Say x, {model}", model=model)
        await cache.record(found, {**body, "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    assert (await cache.stats())["unpriced_models"] == ["our-own"]
    assert cache.components.strategy.floor("default", Controls()) <= 1.0


async def test_what_another_worker_has_yet_to_write_of_a_tenant_is_erased_too(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = static(tmp_path)
    async with (
        await AsyncSemanticCache.open(str(tmp_path), policies=pack, clock=clock) as one,
        await AsyncSemanticCache.open(str(tmp_path), policies=pack, clock=clock) as two,
    ):
        share(one)

        async def others_wrote(_ids: Any = ()) -> None:
            await teach(two, OWN, "Press Cancel.", tenant="a")
            await two.event_log.flush()
            assert await two.operating.requests(tenant="a")

        monkeypatch.setattr("semcache.cache.operating.others_wrote", others_wrote)
        await one.operating.delete(Selector(tenant="a"), who="ann", forever=True)
        assert await one.operating.requests(tenant="a") == []
        assert await one.components.store.outcomes_after(0, tenant="a") == []
        assert [action["action"] for action in await one.operating.actions(tenant="a")] == ["erase"]


async def test_a_report_that_was_written_beside_the_servers_is_counted_by_one_of_them_and_once(
    tmp_path: Path, clock: Clock
) -> None:
    """As `semcache feedback` writes it; metrics of processes and a collector: `contract/test_administration.py`."""

    def counted(cache: AsyncSemanticCache) -> float:
        [metric] = cache.meter.false_hits.collect()
        told = [one for one in metric.samples if one.name == "semcache_false_hits_total"]
        return sum(one.value for one in told if one.labels["source"] == "feedback")

    async def report(cache: AsyncSemanticCache, prompt: str) -> None:
        store, found = cache.components.store, await cache.lookup(prompt)
        [entry] = await store.get([parse_id(found.entry_id or "") or 0])
        assert entry is not None
        await reject_wrong(store, entry, now=clock(), counted=False)

    async def opened() -> AsyncSemanticCache:
        return await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), seed=1, clock=clock)

    async with await opened() as one, await opened() as other:
        for prompt in ("What is a fjord?", "How many legs has a spider?"):
            await teach(one, prompt, "An answer.")
        await report(one, "What is a fjord?")
        for cache in (one, other, one):
            await cache.operating.count_reports()
        assert (counted(one), counted(other)) == (1.0, 0.0)
        await report(one, "How many legs has a spider?")
    async with await opened() as later:
        for _ in range(2):
            await later.operating.count_reports()
        assert counted(later) == 1.0, "what was reported since the last server was asked, and nothing twice"
