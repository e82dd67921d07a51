"""The library as its users hold it: look up, ask the model, record, give feedback."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache, SemanticCache
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening
from semcache.errors import CacheUnavailable, ConfigError, InvalidArgument, StoreError
from semcache.request import eligibility
from semcache.runtime.breaker import Breaker
from semcache.types import Discard, Outcome, Selector, Store, Why, parse_id
from tests.clock import Clock
from tests.components import share
from tests.packs import static
from tests.storage.stores.values import entry
from tests.waiting import PATIENCE


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cache(tmp_path: Path, clock: Clock) -> AsyncIterator[AsyncSemanticCache]:
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), seed=1, clock=clock) as opened:
        yield opened


async def told(cache: AsyncSemanticCache, prompt: Any, answer: str | dict[str, Any], **params: Any) -> Any:
    found = await cache.lookup(prompt, **params)
    assert found.answer is None
    return await cache.record(found, answer)


async def test_a_paraphrase_is_served_and_a_trap_is_not(cache: AsyncSemanticCache) -> None:
    assert isinstance(await told(cache, "How do I enable two-factor authentication?", "Switch it on."), Store)
    served = await cache.lookup("How can I enable two-factor authentication?")
    assert (served.answer, served.outcome) == ("Switch it on.", Outcome.SEMANTIC)
    assert served.score is not None
    assert served.score > 0.9
    assert (await cache.lookup("How do I disable two-factor authentication?")).answer is None


async def test_the_namespace_of_the_cache_object_counts(cache: AsyncSemanticCache) -> None:
    prompt = "What is a heap?"
    await cache.record(await cache.lookup(prompt, cache={"namespace": "one"}), "A tree.")
    for wish in ({"cache": {"namespace": "two"}}, {}, {"namespace": "two", "cache": {"namespace": "one"}}):
        assert (await cache.lookup(prompt, **wish)).answer is None
    for wish in ({"cache": {"namespace": "one"}}, {"namespace": "one"}):
        assert (await cache.lookup(prompt, **wish)).answer == "A tree."


async def test_a_near_prompt_with_another_number_is_vetoed_by_a_guard(cache: AsyncSemanticCache) -> None:
    await told(cache, "How long may I return an item after 30 days?", "You may not.")
    trap = await cache.lookup("How long may I return an item after 31 days?")
    assert (trap.answer, trap.why) == (None, Why.GUARD)


async def test_the_same_request_is_served_exactly(cache: AsyncSemanticCache) -> None:
    await told(cache, "What is the capital of Peru?", "Lima")
    again = await cache.lookup("What is the capital of Peru?")
    assert (again.answer, again.outcome, again.score) == ("Lima", Outcome.EXACT, 1.0)


@pytest.mark.parametrize(
    "other",
    [
        {"tenant": "b"},
        {"namespace": "n"},
        {"model": "other"},
        {"temperature": 0.5},
        {"response_format": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
    ],
)
async def test_whatever_changes_the_answer_or_its_owner_separates(
    cache: AsyncSemanticCache, other: dict[str, Any]
) -> None:
    await told(cache, "What is the capital of Peru?", "Lima", tenant="a")
    for prompt in ("What is the capital of Peru?", "What's the capital of Peru?"):
        found = await cache.lookup(prompt, **{"tenant": "a", **other})
        assert found.answer is None
    assert (await cache.lookup("What's the capital of Peru?", tenant="a")).answer == "Lima"


async def test_earlier_turns_and_system_prompt_belong_to_the_question(cache: AsyncSemanticCache) -> None:
    tent = [{"role": "user", "content": "The tent."}, {"role": "assistant", "content": "Nice."}]
    jacket = [{"role": "user", "content": "The jacket."}, {"role": "assistant", "content": "Nice."}]
    ask = [{"role": "user", "content": "How much does it cost?"}]
    await told(cache, [*tent, *ask], "249")
    assert (await cache.lookup([*jacket, *ask])).answer is None
    assert (await cache.lookup([{"role": "system", "content": "Be brief."}, *tent, *ask])).answer is None
    assert (await cache.lookup([*tent, *ask])).answer == "249"


async def test_a_wrong_answer_is_never_served_again_to_that_request(cache: AsyncSemanticCache) -> None:
    await told(cache, "How do I cancel my subscription?", "Press Cancel.")
    served = await cache.lookup("How can I cancel my subscription?")
    assert served.outcome is Outcome.SEMANTIC
    assert await cache.feedback(served.entry_id, correct=False)
    again = await cache.lookup("How can I cancel my subscription?")
    assert (again.answer, again.why) == (None, Why.REJECTED)
    assert (await cache.lookup("How do I cancel my subscription?")).answer == "Press Cancel."


async def test_a_complaint_that_reaches_another_worker_at_once_counts_for_the_request_it_is_about(
    cache: AsyncSemanticCache, tmp_path: Path, clock: Clock
) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), seed=2, clock=clock) as other:
        share(other)
        await told(cache, "How do I cancel my subscription?", "Press Cancel.")
        served = await cache.lookup("How can I cancel my subscription?")
        assert served.outcome is Outcome.SEMANTIC
        # The other worker has heard neither of the entry nor of the hit.
        assert await other.feedback(served.entry_id, correct=False)
        await other.settle()
        await other.catch_up()
        assert (await other.lookup("How can I cancel my subscription?")).why is Why.REJECTED
        assert (await other.lookup("How do I cancel my subscription?")).answer == "Press Cancel."


async def test_others_are_answered_while_a_long_prompt_is_read(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    ineligible = eligibility.ineligible

    def slow(request: Any, category: Any) -> Any:
        if len(request.text) > 1000:
            assert answered.wait(PATIENCE), "the event loop stood still"
        return ineligible(request, category)

    monkeypatch.setattr(eligibility, "ineligible", slow)
    long = asyncio.create_task(cache.lookup("What is this about? " + "word " * 100_000))
    await asyncio.sleep(0)
    await cache.lookup("What is the capital of Peru?")
    answered.set()
    assert (await long).why is Why.EXACT_ONLY


async def test_an_answer_that_says_nothing_is_asked_for_again(cache: AsyncSemanticCache) -> None:
    assert await told(cache, "What is the capital of Peru?", "") == Discard(Why.EMPTY)
    assert isinstance(await told(cache, "What is the capital of Peru?", "Lima"), Store)


async def test_a_complaint_counts_for_everyone_it_may_come_from_and_outlives_the_answer(
    cache: AsyncSemanticCache,
) -> None:
    own, other = "How do I cancel my subscription?", "How can I cancel my subscription?"
    await told(cache, own, "Press Cancel.")
    await cache.lookup(own)
    served = await cache.lookup(other)
    assert await cache.feedback(served.entry_id, correct=False)
    again = await cache.lookup(own)
    assert (again.answer, again.why) == (None, Why.REJECTED)
    await cache.record(again, "Write to us.")
    assert (await cache.lookup(own)).answer == "Write to us."
    assert (await cache.lookup(other)).why is Why.REJECTED


async def test_a_wrong_exact_answer_is_forgotten(cache: AsyncSemanticCache) -> None:
    await told(cache, "What is the capital of Peru?", "Quito")
    served = await cache.lookup("What is the capital of Peru?")
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup("What is the capital of Peru?")).answer is None


async def test_feedback_on_what_is_not_there_is_refused(cache: AsyncSemanticCache) -> None:
    assert not await cache.feedback("0" * 16, correct=False)
    assert not await cache.feedback("no id", correct=False)
    assert not await cache.feedback(None, correct=True)
    await told(cache, "What is the capital of Peru?", "Lima", tenant="a")
    served = await cache.lookup("What is the capital of Peru?", tenant="a")
    assert not await cache.feedback(served.entry_id, correct=False, tenant="b")
    assert (await cache.lookup("What is the capital of Peru?", tenant="a")).answer == "Lima"


async def test_a_second_answer_that_disagrees_takes_the_place_of_the_wrong_one(cache: AsyncSemanticCache) -> None:
    await told(cache, "How do I cancel my subscription?", "Press Cancel.")
    served = await cache.lookup("How can I cancel my subscription?")
    assert isinstance(await cache.record(served, "Write to us."), Store)
    again = await cache.lookup("How can I cancel my subscription?")
    assert (again.answer, again.outcome) == ("Write to us.", Outcome.EXACT)
    await cache.invalidate(Selector(ids=(parse_id(again.entry_id or "") or 0,)))
    assert (await cache.lookup("How can I cancel my subscription?")).why is Why.REJECTED
    assert (await cache.lookup("How do I cancel my subscription?")).answer == "Press Cancel."


async def test_answers_die_on_time_and_reading_does_not_keep_them_alive(
    cache: AsyncSemanticCache, clock: Clock
) -> None:
    await told(cache, "What is the capital of Peru?", "Lima")
    ttl = cache.pack.of((await cache.lookup("What is the capital of Peru?")).category).ttl
    clock.now += ttl - 1
    assert (await cache.lookup("What is the capital of Peru?")).answer == "Lima"
    clock.now += 1
    assert (await cache.lookup("What is the capital of Peru?")).answer is None
    assert (await cache.lookup("What's the capital of Peru?")).answer is None


async def test_who_asks_for_fewer_errors_than_the_pack_allows_gets_no_paraphrase(cache: AsyncSemanticCache) -> None:
    await told(cache, "How do I cancel my subscription?", "Press Cancel.")
    strict = {"cache": {"max-error": cache.pack.target / 2}}
    assert (await cache.lookup("How can I cancel my subscription?", **strict)).why is Why.EXACT_ONLY
    assert (await cache.lookup("How do I cancel my subscription?", **strict)).answer == "Press Cancel."
    lax = {"cache": {"max-error": cache.pack.target}}
    assert (await cache.lookup("How can I cancel my subscription?", **lax)).answer == "Press Cancel."


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("What is the weather in Oslo right now?", Why.LIVE),
        ("Where is my order?", Why.PERSONAL),
        ("Write me a poem about the sea.", Why.CREATIVE),
        ("My password is hunter2hunter2, why can't I log in?", Why.SECRET),
    ],
)
async def test_what_no_cache_may_answer(cache: AsyncSemanticCache, prompt: str, why: Why) -> None:
    found = await cache.lookup(prompt)
    assert (found.outcome, found.why) == (Outcome.BYPASS, why)
    assert await cache.record(found, "an answer") == Discard(why)
    assert (await cache.lookup(prompt)).answer is None


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Li"}, "finish_reason": "length"}]},
            Why.INCOMPLETE,
        ),
        ({"choices": []}, Why.INCOMPLETE),
        ({"error": {"message": "overloaded"}}, Why.INCOMPLETE),
        ("I'm sorry, but I can't assist with that.", Why.REFUSAL),
    ],
)
async def test_what_is_no_good_answer_is_not_kept(cache: AsyncSemanticCache, answer: Any, why: Why) -> None:
    assert await told(cache, "What is the capital of Peru?", answer) == Discard(why)
    assert (await cache.lookup("What is the capital of Peru?")).answer is None


async def test_a_tool_call_is_replayed_to_its_own_request_alone(cache: AsyncSemanticCache) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"q":"tents"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    completion = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    tools = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
    await told(cache, "Find me some tents.", completion, tools=tools)
    again = await cache.lookup("Find me some tents.", tools=tools)
    assert again.completion == completion
    assert (await cache.lookup("Please find me some tents.", tools=tools)).answer is None


async def test_each_reader_gets_an_answer_of_its_own(cache: AsyncSemanticCache) -> None:
    await told(cache, "What is the capital of Peru?", "Lima")
    first = (await cache.lookup("What is the capital of Peru?")).completion
    assert first is not None
    first["choices"].clear()
    second = (await cache.lookup("What is the capital of Peru?")).completion
    assert second is not None
    assert second["choices"]


async def test_signed_reasoning_is_of_its_own_request_alone(cache: AsyncSemanticCache) -> None:
    thought = [{"type": "thinking", "thinking": "Press it.", "signature": "sig"}]
    message = {"role": "assistant", "content": "Press Cancel.", "thinking_blocks": thought}
    completion = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    await told(cache, "How do I cancel my subscription?", completion)
    same = (await cache.lookup("How do I cancel my subscription?")).completion
    other = (await cache.lookup("How do I cancel my subscription please?")).completion
    assert same == completion
    assert other is not None
    assert other["choices"][0]["message"] == {"role": "assistant", "content": "Press Cancel."}


async def test_everything_survives_a_restart(tmp_path: Path, clock: Clock) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), clock=clock) as cache:
        await told(cache, "How do I cancel my subscription?", "Press Cancel.")
        served = await cache.lookup("How can I cancel my subscription?")
        await cache.feedback(served.entry_id, correct=False)
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), clock=clock) as cache:
        assert (await cache.lookup("How do I cancel my subscription?")).answer == "Press Cancel."
        assert (await cache.lookup("how do i cancel my subscription")).outcome is Outcome.SEMANTIC
        assert (await cache.lookup("How can I cancel my subscription?")).why is Why.REJECTED
        stats = await cache.stats()
        assert stats["total"]["semantic"] >= 1


async def test_two_caches_on_one_store_follow_each_other(tmp_path: Path, clock: Clock) -> None:
    async with (
        await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), clock=clock) as one,
        await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path), clock=clock) as two,
    ):
        await told(one, "What is the capital of Peru?", "Lima")
        await two.catch_up()
        assert (await two.lookup("What's the capital of Peru?")).answer == "Lima"
        await two.invalidate(Selector(category=(await two.lookup("What's the capital of Peru?")).category))
        await one.catch_up()
        assert (await one.lookup("What is the capital of Peru?")).answer is None


def go_back(path: Path, seq: int) -> None:
    """Take from a store what a standby has not received, which is all after this change."""
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as database, database:
        newer = "SELECT entry_id FROM changes WHERE seq > ?"
        database.execute(f"DELETE FROM entries WHERE id IN ({newer})", (seq,))
        database.execute("DELETE FROM changes WHERE seq > ?", (seq,))
        database.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'changes'", (seq,))


@pytest.mark.parametrize("ahead", [0, 3], ids=["behind", "ahead"])
async def test_a_store_that_went_back_in_a_failover_is_read_anew(tmp_path: Path, clock: Clock, ahead: int) -> None:
    """Its feed counts on from an earlier change: what another worker purges there must be purged here, too."""
    lost, kept, new = "What is the capital of Peru?", "How tall is Mount Everest?", "Who wrote Hamlet?"
    pack = static(tmp_path)
    async with await AsyncSemanticCache.open(str(tmp_path), policies=pack, clock=clock) as one:
        await told(one, kept, "8,849 m")
        before = one.components.maintenance.seen
        await told(one, lost, "Lima")
        await one.catch_up()
        async with await AsyncSemanticCache.open(str(tmp_path), policies=pack, clock=clock) as two:
            # Beside the event loop: a cache that is writing has to go on to let go of the database.
            await asyncio.to_thread(go_back, tmp_path / "semcache.db", before)
            await two.catch_up()
            await told(two, new, "Shakespeare")
            for number in range(ahead):
                await told(two, f"What is {number} squared?", str(number * number))
            await two.invalidate(Selector(ids=(parse_id((await two.lookup(kept)).entry_id),)))
            await one.catch_up()
            found = [(await one.lookup(prompt)).answer for prompt in (lost, kept, new)]
            assert found == [None, None, "Shakespeare"]
            await told(two, "Who painted Guernica?", "Picasso")
            await one.catch_up()
            assert (await one.lookup("Who painted Guernica?")).answer == "Picasso"


async def test_an_entry_that_cannot_be_opened_holds_up_nothing_that_comes_after_it(tmp_path: Path) -> None:
    """While keys are rotated, a worker that was started with the old ring sees entries of the new key."""
    old, new = f"old:{'A' * 43}=", f"new:{'B' * 43}="

    async def worker(ring: str) -> AsyncSemanticCache:
        pack = static(tmp_path)
        opening = Opening(data=str(tmp_path), policies=pack, embedder="hashing", clock=Clock(), seal_keys=ring)
        return AsyncSemanticCache(await open_components(opening))

    async with await worker(old) as one, await worker(f"{new},{old}") as two:
        await told(one, "What is the capital of Peru?", "Lima")
        await two.catch_up()
        await told(two, "How tall is Mount Everest?", "8,849 m")
        await two.feedback((await two.lookup("What is the capital of Peru?")).entry_id, correct=False)
        await one.catch_up()
        assert one.components.maintenance.seen == await two.components.store.head()
        assert (await one.lookup("What is the capital of Peru?")).answer is None


async def test_a_cache_whose_folder_is_gone_is_closed_all_the_same(tmp_path: Path) -> None:
    cache = await AsyncSemanticCache.open(str(tmp_path / "data"), embedder="hashing")
    shutil.rmtree(tmp_path / "data")
    await cache.close()
    with pytest.raises(StoreError, match="not open"):
        await cache.components.store.head()


async def test_invalidation_by_tag_and_its_dry_run(cache: AsyncSemanticCache) -> None:
    tagged = await cache.lookup("What is the capital of Peru?", cache={"tags": ["geo"]})
    await cache.record(tagged, "Lima")
    await told(cache, "How do I cancel my subscription?", "Press Cancel.")
    assert len(await cache.invalidate(Selector(tag="geo"), dry_run=True)) == 1
    assert (await cache.lookup("What is the capital of Peru?")).answer == "Lima"
    assert len(await cache.invalidate(Selector(tag="geo"))) == 1
    assert (await cache.lookup("What is the capital of Peru?")).answer is None
    assert (await cache.lookup("How do I cancel my subscription?")).answer == "Press Cancel."
    assert await cache.invalidate(Selector()) == []


async def test_bad_arguments_are_named(cache: AsyncSemanticCache, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="int"):
        await cache.lookup(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="messages"):
        await cache.lookup([])
    with pytest.raises(InvalidArgument, match="suport"):
        await cache.lookup("hello", category="suport")
    found = await cache.lookup("What is the capital of Peru?")
    with pytest.raises(InvalidArgument, match="list"):
        await cache.record(found, [1])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="target"):
        await AsyncSemanticCache.open(str(tmp_path / "x"), target=1.5)
    for scope in ({"tenant": 5}, {"namespace": None}, {"tenant": "half a pair: \ud83d"}):
        with pytest.raises(InvalidArgument):
            await cache.lookup("What is the capital of Peru?", **scope)
    with pytest.raises(InvalidArgument, match="surrogates"):
        await cache.lookup("What is half a pair: \ud83d?")
    for answer in ("half a pair: \ud83d", {"choices": [{"message": {"content": "\ud83d"}}]}):
        with pytest.raises(InvalidArgument, match="surrogates"):
            await cache.record(found, answer)
    with pytest.raises(ConfigError, match="judge"):
        await AsyncSemanticCache.open(str(tmp_path / "y"), judge="coin")


async def test_a_private_pack_shares_with_nobody(tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), policies=static(tmp_path, "private")) as cache:
        await told(cache, "What is my deductible?", "500", user="ann")
        assert (await cache.lookup("What is my deductible?", user="ann")).answer == "500"
        assert (await cache.lookup("What is my deductible?", user="bob")).answer is None
        assert (await cache.lookup("What is my deductible?")).outcome is Outcome.BYPASS


@pytest.fixture
def blocking(tmp_path: Path) -> Iterator[SemanticCache]:
    with SemanticCache.open(str(tmp_path), policies=static(tmp_path), seed=1) as opened:
        yield opened


def test_the_same_without_an_event_loop(blocking: SemanticCache) -> None:
    found = blocking.lookup("How do I reset my password?", tenant="acme", model="gpt-x")
    assert found.answer is None
    blocking.record(found, "Open Settings.")
    served = blocking.lookup("How can I reset my password?", tenant="acme", model="gpt-x")
    assert (served.answer, served.audit, served.outcome) == ("Open Settings.", False, "semantic")
    assert blocking.feedback(served.entry_id, correct=True)
    blocking.settle()
    assert blocking.stats()["total"]["requests"] == 2
    assert len(blocking.invalidate(Selector(everything=True))) == 1


def test_a_closed_cache_says_so(tmp_path: Path) -> None:
    cache = SemanticCache.open(str(tmp_path))
    cache.close()
    cache.close()
    with pytest.raises(InvalidArgument, match="closed"):
        cache.lookup("hello")


def test_a_cache_that_was_opened_before_a_fork_says_so_instead_of_hanging(tmp_path: Path) -> None:
    with SemanticCache.open(str(tmp_path)) as cache:
        child = os.fork()
        if not child:
            status = 1
            try:
                cache.lookup("hello?")
            except InvalidArgument as error:
                cache.close()
                status = 0 if "fork" in str(error) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert cache.lookup("hello?").answer is None


def test_closing_leaves_no_thread_waiting_for_its_call(tmp_path: Path) -> None:
    cache = SemanticCache.open(str(tmp_path), embedder="hashing")
    began, ended = threading.Event(), list[Exception]()

    async def for_ever() -> None:
        began.set()
        await asyncio.Event().wait()

    def call() -> None:
        try:
            cache.run(for_ever())
        except InvalidArgument as error:
            ended.append(error)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    began.wait()
    cache.close()
    caller.join(10)
    assert "closed" in str(ended[0])


def test_a_start_that_fails_leaves_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(ConfigError):
        SemanticCache.open(str(tmp_path), policies="no such pack")
    assert threading.active_count() <= before


@pytest.mark.parametrize(
    "params", [{"messages": [{"role": "user", "content": "b"}]}, {"temperature": float("inf")}, {"category": 5}]
)
async def test_what_would_be_dropped_or_misread_is_refused(cache: AsyncSemanticCache, params: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        await cache.lookup("What is a rope?", **params)


async def test_a_verifier_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="'nope'"):
        await AsyncSemanticCache.open("memory://", verifier="nope")  # type: ignore[arg-type]


async def test_an_id_that_is_no_text_names_nothing(cache: AsyncSemanticCache) -> None:
    assert await cache.feedback(5, correct=True) is False  # type: ignore[arg-type]


async def test_a_renewed_answer_is_wrong_for_whom_the_old_one_was_wrong_for_though_this_process_had_forgotten_it(
    cache: AsyncSemanticCache, clock: Clock
) -> None:
    prompt, near = "How do I enable two-factor authentication?", "How can I enable two-factor authentication?"
    await told(cache, prompt, "Switch it on.")
    served = await cache.lookup(near)
    assert await cache.feedback(served.entry_id, correct=False)
    [card] = cache.registry.cards()
    clock.now = card.expires + 1.0
    await cache.components.live.hide(card.id)
    await told(cache, prompt, "Switch it on.")
    assert (await cache.lookup(near)).why == Why.REJECTED
    assert (await cache.lookup(prompt)).answer == "Switch it on."


async def test_an_answer_is_not_shown_while_nobody_knows_whom_it_is_wrong_for(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise StoreError("gone")

    store = cache.components.store
    with monkeypatch.context() as down:
        down.setattr(store, "rejections", fails)
        assert await told(cache, "What is a monad?", "A box.") == Discard(Why.FAULT)
    await cache.catch_up()
    assert [card.text for card in cache.registry.cards()] == ["What is a monad?"]


def wait_for_nothing(cache: AsyncSemanticCache) -> None:
    """Have the store count as one that was late just now."""
    late = cache.components.faults._late["store"] = Breaker(shortest=3600)
    late.failed(time.monotonic(), TimeoutError())


async def test_a_slow_store_is_no_reason_to_lose_an_answer(cache: AsyncSemanticCache) -> None:
    """Nor a fault, of which an operator is alarmed."""
    store, go_on = cache.components.store, asyncio.Event()
    real = store.put_all

    async def slow(entries: Any) -> None:
        await go_on.wait()
        await real(entries)

    store.put_all = slow  # type: ignore[method-assign]
    wait_for_nothing(cache)
    prompts = [f"How do I enable feature {number} of the oven?" for number in range(3)]
    for prompt in prompts:
        assert await told(cache, prompt, "Switch it on.") == Discard(Why.KEPT_LATER)
    go_on.set()
    await cache.settle()
    assert [(await cache.lookup(prompt)).outcome for prompt in prompts] == [Outcome.EXACT] * 3


async def test_answers_that_wait_for_a_store_that_hangs_are_bounded(cache: AsyncSemanticCache) -> None:
    store, go_on = cache.components.store, asyncio.Event()
    taken: list[int] = []

    async def slow(entries: Any) -> None:
        taken.append(len(entries))
        await go_on.wait()

    store.put_all = slow  # type: ignore[method-assign]
    wait_for_nothing(cache)
    for number in range(1, 9):
        with pytest.raises(CacheUnavailable):
            await cache.keep([(entry(number, body=b"x" * (10 << 20)), None)])
    assert len(taken) == 6
    go_on.set()
