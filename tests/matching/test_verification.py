"""Verification while a client waits: only a plain yes in time, worth enough, serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import Category, Pack
from semcache.config.settings import Settings
from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.learning import labelling
from semcache.matching import features, verification
from semcache.matching.strategies.static import StaticThreshold
from semcache.matching.verification import ConfiguredVerifier, Verifiers
from semcache.models.language_model import INSTRUCTIONS, LlmVerifier, question_texts
from semcache.models.verifiers import open_verifiers
from semcache.models.verifiers import verifiers_for_library as chosen_by_user
from semcache.protocols import Outbound
from semcache.runtime.telemetry import Meter
from semcache.types import (
    CacheKey,
    Candidate,
    Card,
    Controls,
    Endpoint,
    Entry,
    Forward,
    Lookup,
    Outcome,
    Request,
    Scope,
    Serve,
    Verdict,
    Verify,
    Why,
)
from semcache.types.evidence import LabelSource
from tests.matching import kept
from tests.waiting import PATIENCE

QUERY, CACHED, ANSWER = "How long is the Rhine?", "What is the length of the Rhine?", "1,230 km."
CARD = Card(7, b"e", b"s", "default", CACHED, 0.0, 9e9)
KEY = CacheKey(Scope(), b"s", b"k", QUERY, b"{}")
FEATURES = features.of(QUERY, Candidate(CARD, 0.8))


def pack(**fields: Any) -> Pack:
    category = Category(name="default", **{"verify": "llm", "audit": 0.25, **fields})
    return Pack(name="p", description="", share="tenant", target=0.01, min_margin=0.2, categories={"default": category})


def unsure(*, max_error: float | None = None, exact: bytes = b"k") -> Lookup:
    request = Request(Endpoint.CHAT, "m", {}, QUERY, b"{}", controls=Controls(max_error=max_error))
    return Lookup("r", request, replace(KEY, exact=exact), "default", Verify(CARD, 0.8, 0.7, FEATURES, 0.25))


def entry(text: str = ANSWER) -> Entry:
    return kept.entry(7, KEY, text)


async def entry_of(served: Serve, key: CacheKey | None) -> Entry | None:
    assert (served.card.id, key is not None) == (7, True)
    return entry()


@dataclass
class Says:
    """A verifier that says what it is told to say."""

    word: float | Exception | asyncio.Event
    heard: list[tuple[str, str, str]] = field(default_factory=list)

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        self.heard.append((query, cached_query, cached_answer))
        if isinstance(self.word, asyncio.Event):
            await self.word.wait()
            return 1.0
        if isinstance(self.word, Exception):
            raise self.word
        return self.word


def llm(verifier: Says, *, patience: float = PATIENCE, meter: Meter | None = None, best: float = 1.0) -> Verifiers:
    return Verifiers({"llm": ConfiguredVerifier(verifier, patience, best)}, entry_of, meter=meter)


class Weighs(StaticThreshold):
    """Serves from a word of these log-odds on, or leaves it to the word; remembers what it was told of."""

    def __init__(self, least: float | None = None) -> None:
        super().__init__(pack())
        self.least = least
        self.noted: list[tuple[float | None, bool]] = []

    def judge(self, candidate: Candidate, *_: object, **__: object) -> Verdict:
        if self.least is None:
            return Verdict(False, 0.7, audit=0.25, verify=True, why=Why.UNCERTAIN)
        word = candidate.features[features.NAMES.index("word")]
        return Verdict(word >= self.least, 0.995, why=Why.UNCERTAIN)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        self.noted.append((p_correct, served))


async def settled(
    verifiers: Verifiers, lookup: Lookup | None = None, threshold: Weighs | None = None, **fields: Any
) -> Serve | Forward:
    decision = (
        await verifiers.settle(lookup or unsure(), pack=pack(**fields), threshold=threshold or Weighs(), draw=0.5)
    ).decision
    assert not isinstance(decision, Verify)
    return decision


@pytest.mark.parametrize("said", [TimeoutError("late"), RuntimeError("broken"), None], ids=["late", "broken", "nobody"])
async def test_what_was_to_be_read_is_forwarded_where_no_verdict_comes_however_likely_it_is(
    said: Exception | None,
) -> None:
    verifiers = Verifiers({}) if said is None else llm(Says(said))
    doubt = unsure().decision
    assert isinstance(doubt, Verify)
    sure = replace(unsure(), decision=replace(doubt, alone=True))
    assert isinstance(await settled(verifiers, sure), Forward)
    assert isinstance(await settled(llm(Says(0.99)), sure), Serve)


async def test_a_yes_that_is_worth_enough_serves_what_was_in_doubt() -> None:
    verifier, meter = Says(0.99), Meter()
    decision = await settled(llm(verifier, meter=meter))
    assert isinstance(decision, Serve)
    assert (decision.card, decision.how, decision.score, decision.p_correct) == (CARD, "semantic", 0.8, 0.99)
    assert (decision.features, decision.chance) == (features.with_verdict(FEATURES, 0.99), 0.25)
    assert not decision.audit
    assert verifier.heard == [(QUERY, CACHED, ANSWER)]
    assert meter.registry.get_sample_value("semcache_verifications_total", {"category": "default", "result": "yes"})


@pytest.mark.parametrize("draw", [0.0, 0.249])
async def test_what_a_verifier_let_pass_is_audited_like_other_hits(draw: float) -> None:
    lookup = await llm(Says(1.0)).settle(unsure(), pack=pack(), threshold=Weighs(), draw=draw)
    assert isinstance(lookup.decision, Serve)
    assert lookup.decision.audit


@given(st.floats(0.0, 1.0), st.floats(0.001, 0.5))
def test_it_serves_iff_the_word_is_worth_the_target(p_same: float, target: float) -> None:
    decision = asyncio.run(settled(llm(Says(p_same)), target=target))
    assert isinstance(decision, Serve) == (p_same >= 1.0 - target - 1e-9)


async def test_the_caller_and_the_category_of_the_entry_may_demand_more() -> None:
    strict = unsure(max_error=0.001)
    assert isinstance(await settled(llm(Says(0.995)), strict), Forward)
    other = replace(unsure(), decision=Verify(replace(CARD, category="careful"), 0.8, 0.7))
    both = pack()
    both = msgspec.structs.replace(
        both, categories={**both.categories, "careful": Category(name="careful", target=0.001)}
    )
    lookup = await llm(Says(0.995)).settle(other, pack=both, threshold=Weighs(), draw=0.5)
    assert isinstance(lookup.decision, Forward)


@pytest.mark.parametrize(
    ("word", "result"),
    [
        (0.5, "no"),
        (UpstreamError("down"), "failed"),
        (ValueError("a plug-in's mistake"), "failed"),
        (UpstreamTimeout("slow"), "late"),
        (float("nan"), "failed"),
        (1.5, "failed"),
        (-0.1, "failed"),
    ],
    ids=repr,
)
async def test_anything_else_forwards_and_keeps_what_can_be_learned_from(word: float | Exception, result: str) -> None:
    meter = Meter()
    decision = await settled(llm(Says(word), meter=meter))
    assert isinstance(decision, Forward)
    said = isinstance(word, float) and 0.0 <= word <= 1.0
    why = Why.VERIFY_FAILED if said else Why.NO_VERDICT
    assert (decision.why, decision.outcome, decision.p_correct) == (why, "miss", 0.7)
    assert decision.nearest is not None
    assert decision.nearest.card == CARD
    assert decision.nearest.features == (features.with_verdict(FEATURES, word) if said else FEATURES)
    counted = meter.registry.get_sample_value("semcache_verifications_total", {"category": "default", "result": result})
    assert counted == 1


async def test_a_verifier_that_does_not_answer_is_not_waited_for() -> None:
    meter = Meter()
    verifiers = llm(Says(asyncio.Event()), patience=0.01, meter=meter)
    assert isinstance(await settled(verifiers), Forward)
    late = meter.registry.get_sample_value("semcache_verifications_total", {"category": "default", "result": "late"})
    assert late == 1
    verifier = Says(1.0)
    verifiers._known["llm"] = ConfiguredVerifier(verifier, 5.0)
    assert isinstance(await settled(verifiers), Forward), "it is left alone for a while"
    assert verifier.heard == []


async def test_a_verdict_is_asked_for_once_and_a_failure_again() -> None:
    verifier = Says(1.0)
    verifiers = llm(verifier)
    for _ in range(3):
        assert isinstance(await settled(verifiers), Serve)
    assert len(verifier.heard) == 1
    assert isinstance(await settled(verifiers, unsure(exact=b"other")), Serve)
    assert len(verifier.heard) == 2


async def test_requests_at_once_share_a_verdict_and_one_may_leave() -> None:
    gate = asyncio.Event()
    verifier = Says(gate)
    verifiers = llm(verifier)
    asking = [asyncio.create_task(settled(verifiers)) for _ in range(5)]
    while not verifier.heard:
        await asyncio.sleep(0)
    asking.pop(0).cancel()
    gate.set()
    assert all(isinstance(decision, Serve) for decision in await asyncio.gather(*asking))
    assert len(verifier.heard) == 1


async def test_too_many_at_once_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "_MOST_AT_ONCE", 1)
    gate = asyncio.Event()
    verifiers = llm(Says(gate))
    first = asyncio.create_task(settled(verifiers))
    while not verifiers._asking:
        await asyncio.sleep(0)
    assert isinstance(await settled(verifiers, unsure(exact=b"other")), Forward)
    gate.set()
    assert isinstance(await first, Serve)


@pytest.mark.parametrize("said", [0.1, UpstreamError("down")])
async def test_every_neighbour_that_was_refused_teaches(said: float | Exception) -> None:
    refused = await llm(Says(said)).settle(unsure(), pack=pack(), threshold=Weighs(), draw=0.9)
    [label] = labelling.of_miss(refused, Weighs(), pack().of("default"), at=0.0)
    assert (label.entry_id, label.source, label.chance, label.served) == (CARD.id, LabelSource.MISS, 1.0, False)


async def test_a_word_is_one_more_thing_for_the_strategy_to_judge_by() -> None:
    values = features.of(QUERY, Candidate(CARD, 0.8))
    lookup = replace(unsure(), decision=Verify(CARD, 0.8, 0.7, values, 0.25))
    for word, serves in ((0.9, True), (0.6, False)):
        threshold = Weighs(least=1.0)
        verifiers = Verifiers({"llm": ConfiguredVerifier(Says(word), 5.0, 0.98)}, entry_of)
        decision = await settled(verifiers, lookup, threshold=threshold)
        assert isinstance(decision, Serve) is serves
        assert decision.p_correct == 0.995, "as the strategy says, not the verifier"
        told = decision.features if isinstance(decision, Serve) else decision.nearest.features  # type: ignore[union-attr]
        assert told == features.with_verdict(values, word), "labels must tell what was said"
        assert threshold.noted == [(0.995, serves)]
    weak = Says(0.6)
    refused = await settled(Verifiers({"llm": ConfiguredVerifier(weak, 5.0, 0.6)}, entry_of), lookup)
    assert isinstance(refused, Forward)
    assert refused.why is Why.VERIFY_FAILED
    assert weak.heard == [], "the best that it ever says would not be enough"


@pytest.mark.parametrize("unread", [QUERY, CACHED])
async def test_a_verifier_is_shown_only_what_it_reads(unread: str) -> None:
    verifier = Says(1.0)
    verifiers = Verifiers(
        {"llm": ConfiguredVerifier(verifier, PATIENCE, reads=lambda *texts: unread not in texts)}, entry_of
    )
    decision = await settled(verifiers, unsure())
    assert isinstance(decision, Forward)
    assert decision.why is Why.NO_VERDICT
    assert decision.nearest is not None
    assert decision.nearest.features == FEATURES, "nobody said anything that labels could tell"
    assert await verifiers.of_pair("llm", QUERY, CACHED) is None
    assert verifier.heard == []
    assert await verifiers.of_pair("llm", ANSWER, ANSWER) == 1.0


@pytest.mark.parametrize(("word", "served"), [(0.995, True), (0.5, False), (UpstreamError("down"), False)])
async def test_a_request_counts_against_the_budget_once_its_fate_is_known(
    word: float | Exception, served: bool
) -> None:
    threshold = Weighs()
    await settled(llm(Says(word)), threshold=threshold)
    assert threshold.noted == [(0.995 if served else 0.7, served)]


async def test_a_word_is_paid_for_once_and_one_of_memory_is_free() -> None:
    verifiers = Verifiers({"llm": ConfiguredVerifier(Says(1.0), 5.0, cost=lambda _, size: float(size))}, entry_of)
    first = await verifiers.settle(unsure(), pack=pack(), threshold=Weighs(), draw=0.5)
    assert first.verified == len(QUERY) + len(CACHED) + len(ANSWER)
    again = await verifiers.settle(unsure(), pack=pack(), threshold=Weighs(), draw=0.5)
    assert isinstance(again.decision, Serve)
    assert again.verified is None


async def test_nobody_is_asked_whose_best_word_cannot_suffice() -> None:
    verifier = Says(0.9)
    assert isinstance(await settled(llm(verifier, best=0.9)), Forward)
    assert verifier.heard == []


@pytest.mark.parametrize("kind", ["off", "verifier"])
async def test_a_category_is_verified_by_whom_it_names(kind: str) -> None:
    verifier = Says(1.0)
    assert isinstance(await settled(llm(verifier), verify=kind), Forward)
    assert verifier.heard == []
    own = chosen_by_user(verifier, pack(), None, entry_of)
    assert isinstance(await settled(own, verify="llm"), Serve)
    assert chosen_by_user("off", pack(verify="verifier"), None).lacking(pack(verify="verifier")) == ["default"]


async def test_an_entry_that_is_gone_or_says_nothing_is_not_verified() -> None:
    verifier = Says(1.0)

    async def gone(*_: object) -> None:
        return None

    async def silent(*_: object) -> Entry:
        return entry("")

    finds: list[Callable[..., Any]] = [gone, silent]
    for find in finds:
        verifiers = Verifiers({"llm": ConfiguredVerifier(verifier, PATIENCE)}, find)
        lookup = await verifiers.settle(unsure(), pack=pack(), threshold=Weighs(), draw=0.5)
        assert isinstance(lookup.decision, Forward)
    assert verifier.heard == []


async def test_what_is_in_no_doubt_is_left_as_it_is() -> None:
    for decision in (Forward(Why.COLD), Serve(CARD, Outcome.EXACT, 1.0, 1.0)):
        lookup = replace(unsure(), decision=decision)
        assert await llm(Says(0.0)).settle(lookup, pack=pack(), threshold=Weighs(), draw=0.5) is lookup


async def test_closing_leaves_nothing_running() -> None:
    verifiers = llm(Says(asyncio.Event()))
    waiting = asyncio.create_task(settled(verifiers))
    while not verifiers._asking:
        await asyncio.sleep(0)
    await verifiers.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


# The language model


@dataclass
class Reply:
    status: int
    pieces: Sequence[bytes]
    headers: Sequence[tuple[str, str]] = ()

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece

    async def close(self) -> None:
        return None


@dataclass
class Model:
    """A backend that answers every request alike; `picky` refuses what is not the bare request."""

    says: str = "yes"
    status: int = 200
    picky: bool = False
    asked: list[Outbound] = field(default_factory=list)

    async def send(self, outbound: Outbound) -> Reply:
        self.asked.append(outbound)
        if self.picky and b"max_tokens" in outbound.body:
            return Reply(400, [b'{"error":{}}'])
        message = {"role": "assistant", "content": self.says}
        body = msgspec.json.encode({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        return Reply(self.status, [body[:9], body[9:]])

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("said", ["yes", "Yes.", " YES\n", '"yes"', "<think>The same river.\nno?</think>\n\nyes"])
async def test_a_yes_is_worth_the_models_accuracy(said: str) -> None:
    assert await LlmVerifier(Model(said), "small", accuracy=0.97).same(QUERY, CACHED, ANSWER) == 0.97


async def test_a_no_is_worth_its_complement() -> None:
    assert await LlmVerifier(Model("No"), "small", accuracy=0.97).same(QUERY, CACHED, ANSWER) == pytest.approx(0.03)


@pytest.mark.parametrize("said", ["", "maybe", "yes and no", "The answer is yes", "yesterday", "<think>yes"])
async def test_anything_but_one_word_is_no_verdict(said: str) -> None:
    with pytest.raises(UpstreamError, match="neither yes nor no"):
        await LlmVerifier(Model(said), "small").same(QUERY, CACHED, ANSWER)


@pytest.mark.parametrize("status", [401, 404, 429, 500])
async def test_a_refusal_is_no_verdict(status: int) -> None:
    with pytest.raises(UpstreamError, match=str(status)):
        await LlmVerifier(Model(status=status), "small").same(QUERY, CACHED, ANSWER)


async def test_the_same_texts_are_asked_about_in_the_same_bytes() -> None:
    model = Model()
    for _ in range(2):
        await LlmVerifier(model, "small").same(QUERY, CACHED, ANSWER)
    first, second = model.asked
    assert first == second
    body = msgspec.json.decode(first.body)
    assert body["messages"][0] == {"role": "system", "content": INSTRUCTIONS}
    assert msgspec.json.decode(body["messages"][1]["content"]) == question_texts(QUERY, CACHED, ANSWER)
    assert (body["model"], body["temperature"]) == ("small", 0)


@given(st.text(), st.text(), st.text(max_size=50))
def test_no_text_can_end_its_own_quotation(query: str, cached: str, answer: str) -> None:
    model = Model()
    asyncio.run(LlmVerifier(model, "small").same(query, cached, answer))
    text = msgspec.json.decode(model.asked[0].body)["messages"][1]["content"]
    assert msgspec.json.decode(text) == {"question": query, "cached_question": cached, "cached_answer": answer}
    assert "\n" not in text


async def test_a_model_that_refuses_our_limits_is_asked_without() -> None:
    model = Model(picky=True)
    verifier = LlmVerifier(model, "reasoning")
    for _ in range(2):
        assert await verifier.same(QUERY, CACHED, ANSWER) == 0.99
    assert len(model.asked) == 4


async def test_a_model_that_is_asked_often_is_not_tried_anew_because_many_others_are_named() -> None:
    model = Model(picky=True)
    verifier = LlmVerifier(model, None)
    for number in range(100):
        for name in ("usual", f"another-{number}"):
            await verifier.same_by(name, QUERY, CACHED, ANSWER)
    tried = [one for one in model.asked if msgspec.json.decode(one.body)["model"] == "usual"]
    assert len(tried) == 100 + 2, "with log-probabilities and with limits once, then without"


async def test_a_text_that_is_refused_does_not_take_the_limits_from_those_after_it() -> None:
    model = Model(status=400)
    verifier = LlmVerifier(model, "small")
    with pytest.raises(UpstreamError, match="400"):
        await verifier.same(QUERY, CACHED, ANSWER)
    model.status = 200
    assert await verifier.same(QUERY, CACHED, ANSWER) == 0.99
    assert b"max_tokens" in model.asked[-1].body


# Settings


def settings(**cli: Any) -> Settings:
    return Settings.load({name.replace("__", "."): value for name, value in cli.items()}, {}, None)


async def test_no_language_model_is_set_up_by_default_and_that_is_said() -> None:
    verifiers = open_verifiers(settings(), pack())
    assert verifiers.lacking(pack()) == ["default"]
    assert verifiers.lacking(pack(verify="off")) == verifiers.lacking(pack(semantic=False)) == []
    assert open_verifiers(settings(verifier__kind="llm", verifier__model="m"), pack()).lacking(pack()) == []


async def test_the_upstream_is_asked_unless_another_is_named() -> None:
    upstream = Model()
    chosen: dict[str, Any] = {"verifier__kind": "llm", "verifier__model": "small", "verifier__accuracy": 0.995}
    verifiers = open_verifiers(settings(**chosen), pack(), upstream, entry_of)
    decision = await settled(verifiers)
    assert isinstance(decision, Serve)
    assert decision.p_correct == 0.995
    assert len(upstream.asked) == 1
    await open_verifiers(settings(**chosen, verifier__url="http://127.0.0.1:9"), pack(), upstream).close()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"verifier__kind": "llm"}, "verifier.model"),
        ({"verifier__model": "m", "verifier__url": "nonsense"}, "nonsense"),
    ],
)
def test_what_cannot_work_is_said_at_the_start(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        open_verifiers(settings(**{"verifier__kind": "llm", **given}), pack())


@pytest.mark.parametrize(("patience", "rest"), [(0.75, 6.0), (1.5, 12.0), (60.0, 30.0)])
async def test_one_that_is_late_again_and_again_is_tried_again_after_some_of_its_times(
    monkeypatch: pytest.MonkeyPatch, patience: float, rest: float
) -> None:
    now = 0.0
    monkeypatch.setattr("semcache.matching.verification.time.monotonic", lambda: now)
    slow = Says(TimeoutError())
    verifiers = llm(slow, patience=patience)
    for _ in range(12):
        now += 100.0
        await settled(verifiers, unsure())
    assert len(slow.heard) == 12
    now += rest - 0.1
    await settled(verifiers, unsure())
    assert len(slow.heard) == 12
    now += 0.2
    await settled(verifiers, unsure())
    assert len(slow.heard) == 13
