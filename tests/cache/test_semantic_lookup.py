"""Paraphrases, above all those within a conversation: what may be served there, and what never."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache import AsyncSemanticCache
from semcache.cache.found import Found, chat_request
from semcache.dialects import dialects
from semcache.errors import CacheUnavailable
from semcache.types import Assembled, Candidate, Card, Endpoint, Outcome, Request, Scope, Selector, Store, Why
from tests.components import replace_strategy
from tests.request.test_conversation import ALL, talk, with_system, with_tool

PACK = """
name: conversations
overlap: 0
min_margin: -1
defaults: {strategy: static, threshold: 0.85, live: true, wording: off}
categories:
  default: {context: semantic}
  strict: {context: exact}
"""
THROAT = ("What is throat cancer?", "A cancer of the throat.", "Is it treatable?")
REWORDED = ("What's throat cancer?", "A cancer of the throat.", "Is it treatable?")


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[AsyncSemanticCache]:
    async with await open_cache(tmp_path) as opened:
        yield opened


async def open_cache(folder: Path, data: str = "memory://") -> AsyncSemanticCache:
    pack = folder / "pack.yaml"
    pack.write_text(PACK)
    return await AsyncSemanticCache.open(data, policies=str(pack), seed=1)


async def ask(cache: AsyncSemanticCache, *texts: str, **params: Any) -> Found:
    return await cache.lookup(talk(*texts), **params)


async def tell(cache: AsyncSemanticCache, answer: str, *texts: str, **params: Any) -> None:
    found = await ask(cache, *texts, **params)
    assert found.answer is None
    assert isinstance(await cache.record(found, answer), Store)


async def test_the_same_conversation_in_other_words_is_served(cache: AsyncSemanticCache) -> None:
    await tell(cache, "Mostly.", *THROAT)
    served = await ask(cache, *REWORDED)
    assert (served.answer, served.outcome) == ("Mostly.", Outcome.SEMANTIC)
    answered = await ask(cache, THROAT[0], "Cancer of the throat.", THROAT[2])
    assert answered.answer == "Mostly."


async def test_the_score_of_a_conversation_is_that_of_its_weakest_turn(cache: AsyncSemanticCache) -> None:
    await tell(cache, "Mostly.", *THROAT)
    alone, both = await ask(cache, *REWORDED), await ask(cache, *REWORDED[:2], "Can it be treated?")
    assert alone.score is not None
    assert both.score is not None
    assert 1.0 > alone.score > both.score


@pytest.mark.parametrize(
    "other",
    [
        ("What is lung cancer?", "A cancer of the throat.", "Is it treatable?"),
        ("What is lung cancer?", "A cancer of the lung.", "Is it treatable?"),
        ("What is throat cancer?", "A cancer of the lung.", "Is it treatable?"),
        ("What's throat cancer?", "A cancer of the throat.", "Is it contagious?"),
        ("Is it treatable?",),
        ("I have a question about health.", "What is it about?", *THROAT),
    ],
    ids=["question", "conversation", "answer", "last message", "no conversation", "longer"],
)
async def test_the_same_words_in_another_conversation_are_not_served(
    cache: AsyncSemanticCache, other: Sequence[str]
) -> None:
    await tell(cache, "Mostly.", *THROAT)
    assert (await ask(cache, *other)).answer is None


async def test_a_conversation_to_the_letter_is_the_default(cache: AsyncSemanticCache) -> None:
    await tell(cache, "Mostly.", *THROAT, category="strict")
    assert (await ask(cache, "Could you explain throat cancer?", *THROAT[1:], category="strict")).answer is None
    assert (await ask(cache, *REWORDED, category="strict")).answer == "Mostly.", "a contraction is no other wording"
    paraphrase = await ask(cache, *THROAT[:2], "Is it treatable, please?", category="strict")
    assert (paraphrase.answer, paraphrase.outcome) == ("Mostly.", Outcome.SEMANTIC)
    assert cache.pack.of("strict").context == "exact"


async def test_a_message_that_points_back_is_never_served_by_meaning_when_nothing_came_before(
    cache: AsyncSemanticCache,
) -> None:
    await tell(cache, "About what?", "What about Germany?")
    other = await ask(cache, "How about Germany?")
    assert (other.answer, other.why) == (None, Why.EXACT_ONLY)
    assert (await ask(cache, "What about Germany?")).answer == "About what?"
    assert (await ask(cache, "What is the capital of Germany?")).why is not Why.EXACT_ONLY


async def test_a_number_in_an_earlier_turn_is_guarded(cache: AsyncSemanticCache) -> None:
    await tell(cache, "Two.", "I need a tent for 4 people.", "For how long?", "How many rooms should it have?")
    assert (
        await ask(cache, "I need a tent for 6 people.", "For how long?", "How many rooms should it have?")
    ).answer is None
    four = await ask(cache, "I need a tent for four people.", "For how long?", "How many rooms should it have?")
    assert four.answer == "Two."


async def test_among_many_conversations_with_the_same_last_message_the_right_one_is_found(
    cache: AsyncSemanticCache,
) -> None:
    things = ["tent", "jacket", "stove", "kayak", "lamp", "compass", "rope", "boot", "tarp", "axe", "cooler", "map"]
    for thing in things:
        await tell(
            cache, f"The {thing} costs a lot.", f"Tell me about the {thing}.", "Gladly.", "How much does it cost?"
        )
    for thing in things:
        found = await ask(cache, f"Please tell me about the {thing}.", "Gladly.", "How much does it cost?")
        assert found.answer == f"The {thing} costs a lot."


async def test_conversations_survive_a_restart(tmp_path: Path) -> None:
    async with await open_cache(tmp_path, str(tmp_path / "data")) as cache:
        await tell(cache, "Mostly.", *THROAT)
    async with await open_cache(tmp_path, str(tmp_path / "data")) as cache:
        assert (await ask(cache, "What is lung cancer?", *THROAT[1:])).answer is None
        assert (await ask(cache, *REWORDED)).answer == "Mostly."
        await cache.invalidate(Selector(everything=True))
        assert (await ask(cache, *REWORDED)).answer is None


@pytest.mark.parametrize("scope", [{"tenant": "b"}, {"namespace": "n"}, {"model": "other"}, {"temperature": 0.5}])
async def test_conversations_of_others_are_never_compared(cache: AsyncSemanticCache, scope: dict[str, Any]) -> None:
    await tell(cache, "Mostly.", *THROAT, tenant="a")
    assert (await ask(cache, *REWORDED, **{"tenant": "a", **scope})).answer is None
    assert (await ask(cache, *REWORDED, tenant="a")).answer == "Mostly."


async def test_a_store_that_is_down_costs_a_miss_and_nothing_else(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(cache, "Mostly.", *THROAT)

    async def down(ids: Sequence[int]) -> Any:
        raise CacheUnavailable("the store is down")

    for card in list(cache.registry.expired(float("inf"))):
        cache.components.live.hot.remove(card.id)
    monkeypatch.setattr(cache.components.store, "get", down)
    assert (await ask(cache, *REWORDED)).why is Why.FAULT


async def test_a_paraphrase_that_will_not_do_is_named_and_not_counted_as_served(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a target would seem to have been kept by hits that nobody got."""
    await tell(cache, "Mostly.", THROAT[0])
    noted: list[bool] = []
    note = lambda category, p_correct, *, served, **_: noted.append(served)  # noqa: E731
    monkeypatch.setattr(cache.components.strategy, "note", note)
    request = chat_request(REWORDED[0], "default", {}, Scope("default", None, ""), None)
    for paraphrases in (True, False):
        lookup = await cache.consult(request, "r", paraphrases=paraphrases)
    assert noted == [True, False]
    assert lookup.decision.why is Why.EXACT_ONLY
    assert lookup.decision.nearest.card.text == THROAT[0]


# Through every dialect


async def admitted(cache: AsyncSemanticCache, request: Request) -> None:
    lookup = await cache.consult(request, "r")
    body = json.dumps({"choices": [{"message": {"content": "An answer."}, "finish_reason": "stop"}]}).encode()
    assert isinstance(await cache.admit(lookup, Assembled(body, "An answer.", complete=True)), Store)


async def served(cache: AsyncSemanticCache, request: Request) -> Outcome:
    return Outcome((await cache.find(request)).outcome)


def saying(request: Request, old: str, new: str) -> Request:
    """The same body with other words in it."""
    return dialects()[request.endpoint].read(request.raw.replace(old.encode(), new.encode()))


@pytest.mark.parametrize("endpoint", ALL)
async def test_another_system_prompt_is_never_served(cache: AsyncSemanticCache, endpoint: Endpoint) -> None:
    brief = with_system(endpoint, "Be brief.", *talk(*THROAT))
    await admitted(cache, brief)
    assert await served(cache, with_system(endpoint, "Be brief.", *talk(*REWORDED))) is Outcome.SEMANTIC
    assert await served(cache, with_system(endpoint, "Be brief!", *talk(*REWORDED))) is Outcome.MISS
    assert await served(cache, with_system(endpoint, "Be brief!", *talk(*THROAT))) is Outcome.MISS


@pytest.mark.parametrize("endpoint", ALL)
async def test_another_tool_result_is_never_served(cache: AsyncSemanticCache, endpoint: Endpoint) -> None:
    await admitted(cache, with_tool(endpoint, "rain, 8 degrees"))
    for result, outcome in (("rain, 8 degrees", Outcome.SEMANTIC), ("rain, 9 degrees", Outcome.MISS)):
        other = saying(with_tool(endpoint, result), "Which coat", "What coat")
        assert await served(cache, other) is outcome
    other = saying(with_tool(endpoint, "rain, 8 degrees"), "And what", "So what")
    assert await served(cache, other) is Outcome.SEMANTIC
    other = saying(with_tool(endpoint, "sun"), "And what", "So what")
    assert await served(cache, other) is Outcome.MISS


# What the strategy is told


class Told:
    """A strategy that remembers what it was told."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.notes: list[tuple[str, float | None, bool]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        self.notes.append((category, p_correct, served))


async def test_the_strategy_hears_of_each_request_once(cache: AsyncSemanticCache) -> None:
    told = replace_strategy(cache, Told(cache.components.strategy))
    await tell(cache, "Lima", "What is the capital of Peru?")
    assert told.notes == [("default", None, False)]
    found = await ask(cache, "What's the capital of Peru?")
    assert told.notes[1:] == [("default", found.p_correct, True)]
    card = Card(0, b"x", found.lookup.partition, "default", "What is the capital of Peru?", 0.0, float("inf"))
    assert await cache.acceptable(found.lookup, card, 0.99)
    await ask(cache, "What is the capital of Peru?")
    assert len(told.notes) == 2
    await tell(cache, "Mostly.", *THROAT)
    await ask(cache, *REWORDED)
    assert [served for _, _, served in told.notes[2:]] == [False, True]


async def test_nobody_joins_a_call_in_the_air_for_another_conversation(cache: AsyncSemanticCache) -> None:
    found = await ask(cache, *THROAT)
    other = await ask(cache, "What is lung cancer?", *THROAT[1:])
    assert other.lookup.partition == found.lookup.partition
    card = Card(0, b"x", found.lookup.partition, "default", THROAT[2], 0.0, float("inf"))
    assert not await cache.acceptable(other.lookup, card, 1.0)


async def test_what_is_decided_for_a_tenant_is_decided_under_its_name(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, asked = cache.components.strategy.judge, list[str]()

    def listening(*given: Any, tenant: str = "", **more: Any) -> Any:
        asked.append(tenant)
        return judge(*given, tenant=tenant, **more)

    await tell(cache, "Mostly.", *THROAT, tenant="acme")
    monkeypatch.setattr(cache.components.strategy, "judge", listening)
    assert (await ask(cache, *REWORDED, tenant="acme")).answer == "Mostly."
    assert set(asked) == {"acme"}


@pytest.mark.parametrize("wrong", [lambda rows: 2 * rows, lambda rows: rows[:, 1:], lambda rows: rows * np.nan])
async def test_an_embedder_that_returns_no_unit_vectors_is_a_fault_that_is_told(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Any], Any]
) -> None:
    embed = cache.components.embedder.embed

    async def broken(texts: Sequence[str]) -> Any:
        return wrong(await embed(texts))

    monkeypatch.setattr(cache.components.embedder, "embed", broken)
    assert (await ask(cache, *THROAT)).why is Why.FAULT
    assert list(cache.faults()) == ["embedder"]
