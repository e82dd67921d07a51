"""What a cache learns from misses, audits and feedback, and that it is neither lost nor learned twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from semcache import AsyncSemanticCache
from semcache.config import packs
from semcache.errors import StoreError, UpstreamError
from semcache.learning import label_log, labelling, learner
from semcache.matching import features, strategies
from semcache.storage.stores import open_store
from semcache.types import Assembled, Endpoint, Outcome, Selector, Store, Why
from semcache.types.evidence import Comparison, Label, LabelSource
from tests.clock import Clock
from tests.learned import Pupil
from tests.waiting import soon, until

PACK = """
name: test
defaults:
  wording: off
  threshold: 0.8
  audit: 1.0
"""
ASKED = "How do I reset the password of the router?"
AGAIN = "How do I reset the password of the router please?"
FAR = "How can the password of my router be changed?"


class Slow:
    """A judge that is asked through the queue; `verdicts` are said in turn, the last for ever."""

    name = "slow"
    instant = False

    def __init__(self, *verdicts: Any) -> None:
        self.verdicts = list(verdicts)
        self.shown: list[Comparison] = []

    async def agree(self, comparison: Comparison) -> bool | None:
        self.shown.append(comparison)
        said = self.verdicts.pop(0) if len(self.verdicts) > 1 else self.verdicts[0]
        if isinstance(said, BaseException):
            raise said
        if said == "never":
            await asyncio.sleep(60)
        return said


@pytest.fixture(autouse=True)
def pupils(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", dict.fromkeys(("static", "certified"), Pupil))


@asynccontextmanager
async def opened(
    folder: Path, judge: Any = "exact", pack: str = PACK, **more: Any
) -> AsyncIterator[AsyncSemanticCache]:
    file = folder / "pack.yaml"
    file.write_text(pack)
    cache = await AsyncSemanticCache.open(
        str(folder / "data"), policies=str(file), judge=judge, embedder="hashing", seed=1, **more
    )
    async with cache:
        yield cache


def pupil(cache: AsyncSemanticCache) -> Pupil:
    made = cache.components.strategy
    assert isinstance(made, strategies.ByCategory)
    [only] = made._made.values()
    assert isinstance(only, Pupil)
    return only


async def told(cache: AsyncSemanticCache, prompt: str, answer: str) -> Any:
    found = await cache.lookup(prompt)
    await cache.record(found, answer)
    return found


def count(cache: AsyncSemanticCache, name: str, **names: str) -> float:
    return cache.meter.registry.get_sample_value(name, names) or 0.0


@pytest.mark.parametrize(
    ("policy", "word", "learned"),
    [
        ("verify: verifier", 0.9, True),
        ("verify: verifier", None, False),
        ("verify: off", 0.9, False),
        ("verify: llm", 0.9, False),
        ("{verify: verifier, contract: request}", 0.9, False),
    ],
)
async def test_what_the_verifiers_word_is_worth_is_learned_from_likely_neighbours_that_nobody_waited_to_have_read(
    tmp_path: Path, policy: str, word: float | None, learned: bool
) -> None:
    fields = policy.strip("{}").replace(", ", "\n  ")
    async with opened(tmp_path, pack=f"{PACK}  {fields}\n") as cache:
        heard: list[tuple[str, str]] = []

        async def read(one: str, two: str) -> float | None:
            heard.append((one, two))
            return word

        cache.components.learner._missed._read = read
        await told(cache, ASKED, "Hold the button.")
        missed = await told(cache, FAR, "Hold the button.")
        await cache.settle()
        [label] = pupil(cache).labels
        plain = missed.lookup.decision.nearest.features
        assert label.features == (features.with_verdict(plain, 0.9) if learned else plain)
        assert label.correct
        assert heard == ([(FAR, ASKED)] if "verifier" in policy and "request" not in policy else [])


@pytest.mark.parametrize(
    ("p_correct", "trait", "unread"),
    [(0.5, None, True), (0.49, None, False), (0.9, "asked", False), (0.9, "verbatim", False), (0.9, "reordered", True)],
)
def test_what_is_unlikely_was_read_already_or_was_typed_again_is_not_read_for_learning(
    p_correct: float, trait: str | None, unread: bool
) -> None:
    values = tuple([float(name == trait) for name in features.NAMES])
    label = Label(0.0, "default", "t", 1, 1, b"", 0.9, values, p_correct, False, LabelSource.MISS, False)
    assert labelling.is_unread(label, packs.load("default").of("default")) is unread
    default = packs.load("default").of("default")
    assert not labelling.is_unread(replace(label, features=()), default)
    assert not labelling.is_unread(label, msgspec.structs.replace(default, strategy="static"))


async def test_a_miss_is_compared_with_its_neighbour_and_an_equal_answer_is_shared(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        missed = await told(cache, FAR, "Hold the button.")
        await cache.settle()
        [label] = pupil(cache).labels
        first, second = (cache.registry.exact(one) for one in await digests(cache, ASKED, FAR))
        assert first is not None
        assert second is not None
        assert (label.source, label.correct, label.served, label.chance) == (LabelSource.MISS, True, False, 1.0)
        assert (label.entry_id, label.exact, label.tenant) == (first.id, missed.lookup.key.exact, "default")
        assert (label.p_correct, label.score, label.features) == (
            0.5,
            missed.score,
            missed.lookup.decision.nearest.features,
        )
        assert first.answer_class == second.answer_class == first.id
        [kept] = await cache.components.store.get([second.id])
        assert kept is not None
        assert kept.answer == first.id


async def digests(cache: AsyncSemanticCache, *prompts: str) -> list[bytes]:
    return [(await cache.lookup(prompt)).lookup.key.exact for prompt in prompts]  # type: ignore[union-attr]


async def test_a_neighbour_with_another_answer_is_a_negative_for_that_request(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        missed = await told(cache, FAR, "Unplug it.")
        await cache.settle()
        assert [label.correct for label in pupil(cache).labels] == [False]
        assert [one.exact for one in await cache.components.store.rejections()] == [missed.lookup.key.exact]
        own = cache.registry.exact(missed.lookup.key.exact)
        assert own is not None
        assert own.answer_class == own.id
        await cache.invalidate(Selector(ids=(own.id,)))
        assert (await cache.lookup(FAR)).why is Why.REJECTED


@pytest.mark.parametrize("how", ["record", "audited"])
async def test_an_audit_judges_what_was_served_and_keeps_the_fresh_answer(tmp_path: Path, how: str) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert (served.outcome, served.audit) == (Outcome.SEMANTIC, True)
        if how == "record":
            assert isinstance(await cache.record(served, "Unplug it."), Store)
        else:
            message = b'{"role":"assistant","content":"Unplug it."}'
            body = b'{"choices":[{"index":0,"message":' + message + b',"finish_reason":"stop"}]}'
            await cache.audited(served.lookup, Assembled(body, "Unplug it.", complete=True))
        await cache.settle()
        [label] = pupil(cache).labels
        assert (label.source, label.correct, label.served, label.chance) == (LabelSource.AUDIT, False, True, 1.0)
        [entry] = await cache.components.store.select(Selector(source="audit"))
        assert entry.key == served.lookup.key
        assert (await cache.lookup(AGAIN)).answer == "Unplug it."
        assert len(await cache.components.store.rejections()) == 1
        assert count(cache, "semcache_false_hits_total", category="default", source="audit") == 1


async def test_an_audit_that_agrees_adds_a_key_to_the_answer(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        await cache.record(served, "Hold the button.")
        await cache.settle()
        assert [label.correct for label in pupil(cache).labels] == [True]
        cards = [cache.registry.exact(one) for one in await digests(cache, ASKED, AGAIN)]
        assert len({card.answer_class for card in cards if card}) == 1
        assert await cache.components.store.rejections() == []


@pytest.mark.parametrize(
    "answer",
    [Assembled(b"", "", complete=False), Assembled(b"{}", "I cannot help.", complete=True, refusal=True)],
)
async def test_what_is_no_answer_audits_nothing(tmp_path: Path, answer: Assembled) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        await cache.audited(served.lookup, answer)
        missed = await cache.lookup("What is the capital of Peru?")
        await cache.audited(missed.lookup, answer)
        await cache.settle()
        assert pupil(cache).labels == []
        assert (await cache.lookup(AGAIN)).answer == "Hold the button."


async def test_a_hit_and_a_miss_are_one_sample_each_however_often_they_are_recorded(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert served.audit
        missed = await cache.lookup(FAR)
        assert missed.answer is None
        for _ in range(3):
            await cache.record(served, "Hold the button.")
            await cache.record(missed, "Unplug it.")
        await cache.settle()
        sources = sorted(label.source.value for label in pupil(cache).labels if label.source is not LabelSource.REASKED)
        assert sources.count("audit") == 1
        assert sources == ["audit", "miss"]


async def test_a_second_answer_nobody_drew_is_no_sample(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        pupil(cache).audit = 0.0
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert not served.audit
        await cache.record(served, "Hold the button.")
        await cache.settle()
        [label] = pupil(cache).labels
        assert (label.source, label.chance, label.correct) == (LabelSource.FEEDBACK, 0.0, True)


async def test_a_newer_answer_to_the_same_request_takes_the_place_of_the_old_and_is_found_by_meaning(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(ASKED)
        assert served.outcome is Outcome.EXACT
        await cache.record(served, "Unplug it.")
        await cache.settle()
        assert (await cache.lookup(ASKED)).answer == "Unplug it."
        assert (await cache.lookup(AGAIN)).answer == "Unplug it."
        assert pupil(cache).labels == []


@pytest.mark.parametrize("correct", [True, False])
async def test_feedback_is_a_durable_label_when_it_returns(tmp_path: Path, correct: bool) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert await cache.feedback(served.entry_id, correct=correct)
        other = open_store(str(tmp_path / "data" / "semcache.db"))
        await other.open()
        [label] = await other.labels(0)
        await other.close()
        assert (label.source, label.correct, label.chance) == (LabelSource.FEEDBACK, correct, 0.0)
        assert label.exact == served.lookup.key.exact  # type: ignore[union-attr]
        assert [one.seq for one in pupil(cache).labels] == [label.seq]


@pytest.mark.parametrize("correct", [True, False])
async def test_feedback_teaches_whichever_worker_hears_it(tmp_path: Path, correct: bool) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as two, opened(tmp_path) as three:
        await told(one, ASKED, "Hold the button.")
        served = await one.lookup(AGAIN)
        assert served.outcome is Outcome.SEMANTIC
        await one.settle()
        assert await two.feedback(served.entry_id, correct=correct)
        for worker in (three, one, two, three):
            await worker.catch_up()
        for worker in (one, two, three):
            [label] = pupil(worker).labels
            assert (label.source, label.correct) == (LabelSource.FEEDBACK, correct)
            assert label.exact == served.lookup.key.exact  # type: ignore[union-attr]


@pytest.mark.parametrize("correct", [True, False])
async def test_one_report_teaches_once_though_several_workers_have_served_the_entry(
    tmp_path: Path, correct: bool
) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as two, opened(tmp_path) as three:
        await told(one, ASKED, "Hold the button.")
        await three.catch_up()
        for worker in (one, three):
            served = await worker.lookup(AGAIN)
            assert served.outcome is Outcome.SEMANTIC
            await worker.settle()
        assert await two.feedback(served.entry_id, correct=correct)
        for worker in (three, one, two, three, one):
            await worker.catch_up()
        for worker in (one, two, three):
            assert [label.source for label in pupil(worker).labels] == [LabelSource.FEEDBACK]


@pytest.mark.parametrize("correct", [True, False])
async def test_a_report_about_one_of_several_requests_teaches_about_none(tmp_path: Path, correct: bool) -> None:
    # The label was about whoever was served last, so that a right rewording was learned to be wrong.
    async with opened(tmp_path) as one, opened(tmp_path) as two, opened(tmp_path) as three:
        await told(one, ASKED, "Hold the button.")
        await two.catch_up()
        meant, last = await one.lookup(AGAIN.replace("password", "clock")), await two.lookup(AGAIN)
        assert meant.outcome is last.outcome is Outcome.SEMANTIC
        assert meant.entry_id == last.entry_id
        await one.settle()
        await two.settle()
        assert await two.feedback(meant.entry_id, correct=correct)
        for worker in (three, one, two, three):
            await worker.catch_up()
        assert pupil(three).labels == []
        assert ((await three.lookup(AGAIN)).outcome is Outcome.SEMANTIC) is correct


async def test_a_report_is_learned_once_the_other_requests_of_its_entry_are_refused_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        first = await cache.lookup(AGAIN.replace("password", "clock"))
        assert await cache.feedback(first.entry_id, correct=False)
        second = await cache.lookup(AGAIN)
        assert await cache.feedback(second.entry_id, correct=False)
        assert [label.exact for label in pupil(cache).labels] == [
            found.lookup.key.exact  # type: ignore[union-attr]
            for found in (first, second)
        ]


async def test_feedback_on_what_is_unknown_foreign_or_not_served_teaches_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert not await cache.feedback(served.entry_id, correct=False, tenant="other")
        assert not await cache.feedback("f" * 16, correct=True)
        other = await told(cache, "What is the capital of Peru?", "Lima")
        card = cache.registry.exact(other.lookup.key.exact)
        assert card is not None
        assert await cache.feedback(f"{card.id:016x}", correct=True)
        await cache.settle()
        assert [label.source for label in pupil(cache).labels if label.source is LabelSource.FEEDBACK] == []


async def test_expired_and_rejected_neighbours_teach_nothing(tmp_path: Path) -> None:
    clock = Clock()
    async with opened(tmp_path, clock=clock) as cache:
        await told(cache, ASKED, "Hold the button.")
        clock.now += cache.pack.of("default").ttl + 1
        await told(cache, AGAIN, "Unplug it.")
        await told(cache, ASKED, "Unplug it.")
        await cache.settle()
        # The last miss has a living neighbour; before, there was an expired one, and then the request's own old answer.
        assert [label.correct for label in pupil(cache).labels] in ([], [True])


async def test_two_workers_learn_the_same_and_share_answers(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as two:
        await told(one, ASKED, "Hold the button.")
        await two.catch_up()
        for number, (cache, answer) in enumerate([(two, "Hold the button."), (one, "Unplug it."), (two, "Unplug it.")]):
            await told(cache, f"{FAR} Version {number}", answer)
            await cache.settle()
            await one.catch_up()
            await two.catch_up()
        assert len(pupil(one).taught) > 2
        assert pupil(one).taught == pupil(two).taught
        seqs = [row[0] for row in pupil(one).taught]
        assert seqs == sorted(set(seqs))
        for entry in await one.components.store.select(Selector(everything=True)):
            cards = [cache.registry.get(entry.id) for cache in (one, two)]
            assert [card.answer_class for card in cards if card] == [entry.answer or entry.id] * 2


@pytest.mark.parametrize("every", [1, 2, 10**9])
async def test_what_was_learned_survives_a_restart_whether_saved_or_not(
    tmp_path: Path, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_log, "SAVE_EVERY", every)
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        for number in range(5):
            await told(cache, f"{FAR} Version {number}", f"Answer {number % 2}")
            await cache.settle()
        taught = pupil(cache).taught
        if every == 10**9:
            monkeypatch.setattr(type(cache.components.learner.log), "save", _nothing)
    assert len(taught) >= 5
    async with opened(tmp_path) as again:
        assert pupil(again).taught == taught
        assert len(pupil(again).labels) < len(taught) or every == 10**9


async def _nothing(_: Any) -> None:
    pass


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b'{"promises":{},"state":{}}', b'{"promises":null,"state":[1]}', b"\xff"]
)
async def test_a_state_that_cannot_be_taken_up_is_learned_anew_from_the_log(tmp_path: Path, damage: bytes) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        await cache.settle()
        taught = pupil(cache).taught
    store = open_store(str(tmp_path / "data" / "semcache.db"))
    await store.open()
    await store.learn("threshold", 10**6, damage)
    await store.close()
    async with opened(tmp_path) as again:
        assert pupil(again).taught == taught


async def test_a_state_learned_under_another_promise_is_not_taken_up(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        await cache.settle()
        taught = pupil(cache).taught
    async with opened(tmp_path, pack=PACK + "target: 0.002\n") as again:
        assert pupil(again).taught == taught
        assert len(pupil(again).labels) == len(taught)


async def test_a_label_that_the_strategy_chokes_on_is_counted_and_the_rest_learned(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        learn = pupil(cache).observe
        pupil(cache).observe = lambda label: learn(label) if label.seq > 1 else 1 / 0  # type: ignore[method-assign, assignment, func-returns-value]
        for number in range(3):
            await told(cache, f"{FAR} Version {number}", "Unplug it.")
            await cache.settle()
        assert pupil(cache).taught[0][0] == 2
        assert count(cache, "semcache_faults_total", component="threshold") == 1


async def test_a_slow_judge_is_asked_through_the_queue_and_outlives_a_restart(tmp_path: Path) -> None:
    judge = Slow("never")
    async with opened(tmp_path, judge) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Keep the button pressed.")
        await cache.components.learner.work()
        assert pupil(cache).labels == []
    clock = Clock()
    clock.now = 1e10
    async with opened(tmp_path, judge := Slow(True), clock=clock) as again:
        await again.settle()
        [label] = pupil(again).labels
        assert label.correct
        [shown] = judge.shown
        assert shown == Comparison(FAR, ASKED, "Hold the button.", "Keep the button pressed.")
        one, two = await again.components.store.select(Selector(everything=True))
        assert len({one.answer or one.id, two.answer or two.id}) == 1
        await again.settle()
        assert len(judge.shown) == 1


async def test_misses_that_keep_coming_do_not_hold_up_what_is_known_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as cache:
        learner = cache.components.learner
        for task in learner._tasks:
            task.cancel()
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        waiting, taken, take = len(learner._missed), [], learner._missed._waiting.take

        def another_comes() -> Any:
            piece = take()
            taken.append(piece)
            if len(taken) < 100:
                learner._missed._waiting.offer(piece, 1)
            return piece

        monkeypatch.setattr(learner._missed._waiting, "take", another_comes)
        await learner.work()
        assert len(taken) == waiting
        assert len(await cache.components.store.labels(0)) == 1


async def test_a_shutdown_after_a_burst_of_misses_does_not_wait_for_the_verifier(tmp_path: Path) -> None:
    """It read every pair of the burst first: a proxy that had answered 10,000 questions took minutes to end."""
    heard: list[tuple[str, str]] = []

    async def read(one: str, two: str) -> float:
        heard.append((one, two))
        return 0.9

    async with opened(tmp_path, Slow("never"), pack=f"{PACK}  verify: verifier\n") as cache:
        learner = cache.components.learner
        learner._missed._read = read
        for task in learner._tasks:
            task.cancel()
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Keep the button pressed.")
    assert heard == []
    async with opened(tmp_path, Slow(True), pack=f"{PACK}  verify: verifier\n") as again:
        await again.settle()
        assert len(pupil(again).labels) == 1, "the comparison is left to the next start"


async def test_a_miss_whose_neighbour_is_being_read_when_the_cache_closes_is_learned_from(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def read(_one: str, _two: str) -> float:
        begun.set()
        await asyncio.sleep(60)
        return 0.9

    pack = f"{PACK}  verify: verifier\n"
    async with opened(tmp_path, pack=pack) as cache:
        cache.components.learner._missed._read = read
        await told(cache, ASKED, "Hold the button.")
        missed = await told(cache, FAR, "Hold the button.")
        await soon(begun.wait())
    async with opened(tmp_path, pack=pack) as again:
        [label] = await again.components.store.labels(0)
        assert label.correct
        assert label.features == missed.lookup.decision.nearest.features


async def test_large_answers_that_wait_for_a_slow_judge_are_bounded_by_bytes_and_what_is_dropped_is_counted(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with opened(tmp_path, Slow("never"), clock=clock) as cache:
        for number in range(24):
            clock.now += 1
            await told(cache, ASKED, f"{number} " + "so " * 300_000)
        waiting = cache.components.learner._reasked
        assert 0 < len(waiting) < 23
        assert sum(len(one.body) for _, *entries in waiting for one in entries) <= 32 << 20
        assert all(not lookup.request.raw for lookup, *_ in waiting)
        # The judge may have taken one to look at, and on a busy machine been given up, for another.
        dropped = sum(
            sample.value
            for metric in cache.meter.registry.collect()
            for sample in metric.samples
            if sample.name == "semcache_dropped_labels_total"
        )
        assert count(cache, "semcache_dropped_labels_total", reason="full") > 0
        assert dropped + len(waiting) in (22, 23)
        assert (await cache.lookup(ASKED)).answer is not None


class Here(Slow):
    """A judge that works in this process; it notes how many comparisons it was shown at once."""

    local = True

    def __init__(self) -> None:
        super().__init__(True)
        self.busy, self.most = 0, 0

    async def agree(self, comparison: Comparison) -> bool | None:
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0)
        self.busy -= 1
        return await super().agree(comparison)


async def test_what_a_judge_in_this_process_is_asked_about_is_free_to_no_other_worker_meanwhile(tmp_path: Path) -> None:
    clock = Clock()

    class Late(Here):
        """A judge for whom others, and requests, take longer than it may itself; another worker looks for work."""

        twice = 0

        async def agree(self, comparison: Comparison) -> bool | None:
            clock.now += 61.0
            free = await cache.components.store.claim(99, now=clock.now, lease=0.0)
            fresh = await cache.components.store.get([owed.fresh_id for owed in free])
            self.twice += comparison.question in [one.key.text for one in fresh if one is not None]
            return await super().agree(comparison)

    judge = Late()
    async with opened(tmp_path, judge, clock=clock) as cache:
        await told(cache, ASKED, "Hold the button.")
        for number in range(3):
            clock.now += 1.0
            await told(cache, f"How can I change the password of router {number}?", f"Answer {number}.")
        for task in cache.components.learner._tasks:
            task.cancel()
        await cache.components.learner.work()
        await cache.components.learner.judge_queue()
        assert len(judge.shown) >= 2
        assert judge.twice == 0


async def test_a_judge_that_works_in_this_process_is_asked_one_thing_at_a_time(tmp_path: Path) -> None:
    async with opened(tmp_path, judge := Here()) as cache:
        for prompt in (ASKED, FAR, "How should the password of this router be changed?"):
            await told(cache, prompt, "Hold the button.")
        await cache.settle()
        assert len(judge.shown) == len(pupil(cache).labels) >= 2
        assert judge.most == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [(None, "undecided"), (UpstreamError("down"), "failed"), (KeyError("bug"), "failed"), ("never", "late")],
)
async def test_a_judge_that_cannot_tell_yields_no_label_and_is_counted(tmp_path: Path, said: Any, reason: str) -> None:
    clock = Clock()
    async with opened(tmp_path, Slow(said), clock=clock) as cache:
        cache.components.learner._judge.patience = 0.01
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        for _ in range(learner.TRIES):
            await soon(cache.settle())
            clock.now += cache.components.learner._judge.lease
        assert pupil(cache).labels == []
        assert await cache.components.store.labels(0) == []
        assert await cache.components.store.claim(9, now=1e12, lease=1) == []
        assert count(cache, "semcache_dropped_labels_total", reason=reason) == 1
        assert (await cache.lookup(FAR)).answer == "Unplug it."


async def test_a_comparison_that_ends_every_worker_is_given_up(tmp_path: Path) -> None:
    judge = Slow(True)
    async with opened(tmp_path, judge) as cache:
        await told(cache, ASKED, "Hold the button.")
        for task in cache.components.learner._tasks:
            task.cancel()
        await told(cache, FAR, "Unplug it.")
        await cache.components.learner.work()
        for n in range(3):
            assert len(await cache.components.store.claim(9, now=10.0 * n, lease=1)) == 1
        await cache.settle()
        assert judge.shown == []
        assert count(cache, "semcache_dropped_labels_total", reason="given-up") == 1


async def test_a_comparison_of_a_deleted_entry_lapses(tmp_path: Path) -> None:
    judge = Slow(True)
    async with opened(tmp_path, judge) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        await cache.invalidate(Selector(everything=True))
        await cache.settle()
        assert judge.shown == []
        assert pupil(cache).labels == []


async def test_a_store_that_fails_breaks_no_request_and_loses_no_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")

        async def down(*_: Any, **__: Any) -> None:
            raise StoreError("locked")

        with monkeypatch.context() as broken:
            for name in ("label", "labels", "alias", "reject", "learn"):
                broken.setattr(cache.components.store, name, down)
            found = await cache.lookup(FAR)
            assert isinstance(await cache.record(found, "Hold the button."), Store)
            await cache.settle()
            assert pupil(cache).labels == []
        await cache.settle()
        assert [label.correct for label in pupil(cache).labels] == [True]
        assert len(await cache.components.store.labels(0)) == 1


async def test_a_label_is_learned_once_though_its_writer_was_cancelled(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        log = cache.components.learner.log
        log.add(Label(0.0, "default", "acme", 1, 1, b"", 0.9, (), 0.9, True, LabelSource.FEEDBACK, True))
        writing = asyncio.create_task(log.write())
        await asyncio.sleep(0)
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await cache.settle()
        assert len(await cache.components.store.labels(0)) == len(pupil(cache).labels) == 1


async def test_a_comparison_is_owed_once_though_its_writer_was_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Slow("never")
    async with opened(tmp_path, judge) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        learner, store, begun = cache.components.learner, cache.components.store, asyncio.Event()
        for task in learner._tasks:
            task.cancel()
        enqueue = store.enqueue

        async def slowly(owed: Any) -> None:
            begun.set()
            # A store ends what it has begun.
            await asyncio.shield(asyncio.ensure_future(enqueue(owed)))

        monkeypatch.setattr(learner._queue, "enqueue", slowly)
        working = asyncio.create_task(learner.work())
        await begun.wait()
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        await learner.work()
        assert len(await store.claim(10, now=2e9, lease=1.0)) == 1


async def test_what_was_judged_is_judged_once_though_the_judge_was_stopped_while_it_was_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, Slow(False)) as cache:
        learner, store, begun = cache.components.learner, cache.components.store, asyncio.Event()
        for task in learner._tasks:
            task.cancel()
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        await learner.work()
        label = store.label

        async def slowly(labels: Any) -> None:
            begun.set()
            await asyncio.shield(asyncio.ensure_future(label(labels)))

        monkeypatch.setattr(store, "label", slowly)
        judging = asyncio.create_task(learner.judge_queue())
        await begun.wait()
        judging.cancel()
        with suppress(asyncio.CancelledError):
            await judging
        assert await store.claim(10, now=2e9, lease=1.0) == []
        assert len(await store.labels(0)) == 1


async def test_what_was_judged_is_judged_once_though_the_judge_was_killed_before_it_could_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    async with opened(tmp_path, judge := Slow(False), clock=clock) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")

        async def killed(_: Any) -> None:
            raise StoreError("gone")

        with monkeypatch.context() as broken:
            broken.setattr(cache.components.store, "finish", killed)
            await cache.settle()
        clock.now += 1e6
        await cache.settle()
        assert len(judge.shown) == len(await cache.components.store.labels(0)) == 1
        assert await cache.components.store.claim(9, now=1e12, lease=1.0) == []


async def test_a_report_that_could_not_be_written_is_heard_when_it_is_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert served.entry_id is not None

        async def down(*_: Any, **__: Any) -> None:
            raise StoreError("locked")

        with monkeypatch.context() as broken:
            broken.setattr(cache.components.store, "label", down)
            with pytest.raises(StoreError):
                await cache.feedback(served.entry_id, correct=False)
        assert await cache.feedback(served.entry_id, correct=False)
        assert [one.source for one in await cache.components.store.labels(0)] == [LabelSource.FEEDBACK]


async def test_learning_goes_on_without_being_asked_to(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        await until(lambda: pupil(cache).labels)


async def test_no_task_is_left_running(tmp_path: Path) -> None:
    async with opened(tmp_path, Slow("never")) as cache:
        await told(cache, ASKED, "Hold the button.")
        await told(cache, FAR, "Unplug it.")
        await asyncio.sleep(0.3)
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("semcache-")]


def test_embeddings_are_not_compared() -> None:
    kept = SimpleNamespace(endpoint=Endpoint.EMBEDDINGS)
    assert labelling.shown(kept, kept) is None  # type: ignore[arg-type]
