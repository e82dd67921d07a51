"""The LangChain cache with LangChain's own models: who hits, who must not, and what a hit brings back."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.prompts import PromptTemplate
from pydantic import BaseModel, create_model

import semcache
from semcache.errors import InvalidArgument, StoreError
from semcache_langchain import SemanticCache as LangChainCache
from tests.adapters.auditing import Auditing
from tests.components import replace_strategy

# LangChain says so of its own (de)serialiser, once a process.
ASK = "How do I reset my password?"
AGAIN = "How do I reset my password, please?"


@pytest.fixture
def llm_cache(cache: semcache.SemanticCache) -> LangChainCache:
    return LangChainCache(cache)


def model(llm_cache: LangChainCache | None, *answers: str) -> FakeListChatModel:
    return FakeListChatModel(responses=list(answers or ("first", "second", "third")), cache=llm_cache)


def scripted(llm_cache: LangChainCache | None, *messages: AIMessage) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(messages), cache=llm_cache)


def test_the_same_question_and_its_paraphrase_are_answered_once(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache)
    assert [llm.invoke(text).content for text in (ASK, ASK, AGAIN)] == ["first"] * 3
    assert llm.invoke("Which planets have rings?").content == "second"
    assert llm_cache.faults == 0


async def test_async_calls_hit_what_sync_calls_stored(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache)
    assert (await llm.ainvoke(ASK)).content == "first"
    assert (await llm.ainvoke(AGAIN)).content == "first"
    assert llm.invoke(AGAIN).content == "first"
    await llm_cache.aclear()
    assert (await llm.ainvoke(ASK)).content == "second"


async def test_equal_calls_at_the_same_time_count_no_hit(
    llm_cache: LangChainCache, cache: semcache.SemanticCache
) -> None:
    both = asyncio.Barrier(2)

    class Together(FakeListChatModel):
        async def _agenerate(self, *args: Any, **given: Any) -> Any:
            await both.wait()
            return await super()._agenerate(*args, **given)

    llm = Together(responses=["first", "second"], cache=llm_cache)
    await asyncio.gather(llm.ainvoke(ASK), llm.ainvoke(ASK))
    total = cache.stats()["total"]
    assert (total["misses"], total["exact"]) == (2, 0)


def test_a_copy_of_a_model_asks_the_same_cache(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache)
    assert llm.invoke(ASK).content == "first"
    assert copy.deepcopy(llm).invoke(AGAIN).content == "first"
    assert llm.model_copy(deep=True).invoke(AGAIN).content == "first"


def test_set_llm_cache_serves_every_model(llm_cache: LangChainCache) -> None:
    set_llm_cache(llm_cache)
    try:
        llm = model(None)
        assert [llm.invoke(text).content for text in (ASK, AGAIN)] == ["first", "first"]
        plain = FakeListLLM(responses=["one", "two"])
        assert [plain.invoke(text) for text in (ASK, AGAIN, "Which planets have rings?")] == ["one", "one", "two"]
    finally:
        set_llm_cache(None)


@pytest.mark.parametrize(
    "other",
    [
        [SystemMessage("Answer in French."), HumanMessage(ASK)],
        [HumanMessage("I use your bank."), AIMessage("Welcome."), HumanMessage(ASK)],
        [HumanMessage(ASK, name="bob")],
        [HumanMessage([{"type": "text", "text": ASK}, {"type": "image_url", "image_url": {"url": "data:,x"}}])],
    ],
)
def test_another_context_is_another_question(llm_cache: LangChainCache, other: list[BaseMessage]) -> None:
    llm = model(llm_cache)
    assert llm.invoke([SystemMessage("You are kind."), HumanMessage(ASK)]).content == "first"
    assert llm.invoke(other).content == "second"
    assert llm.invoke([SystemMessage("You are kind."), HumanMessage(AGAIN)]).content == "first"


def test_a_follow_up_is_cached_within_its_conversation(llm_cache: LangChainCache) -> None:
    def turns(run: str) -> list[BaseMessage]:
        said = AIMessage("Yes.", id=run, response_metadata={"took": run}, usage_metadata=usage(len(run)))
        return [HumanMessage("Do you sell tea?"), said, HumanMessage("How long does it keep?")]

    llm = model(llm_cache)
    assert [llm.invoke(turns(run)).content for run in ("r1", "run-2")] == ["first", "first"]


def test_other_settings_never_share(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache)
    assert llm.invoke(ASK, stop=["\n"]).content == "first"
    assert llm.invoke(ASK).content == "second"
    assert model(llm_cache, "other model").invoke(ASK).content == "other model"


def test_scopes_never_share(cache: semcache.SemanticCache) -> None:
    one, two = LangChainCache(cache, tenant="one"), LangChainCache(cache, tenant="two")
    assert model(one).invoke(ASK).content == "first"
    other = model(two)
    other.i = 1
    assert other.invoke(ASK).content == "second"


def usage(tokens: int) -> Any:
    return {"input_tokens": tokens, "output_tokens": 5, "total_tokens": tokens + 5}


def test_tool_calls_and_usage_survive(llm_cache: LangChainCache, cache: semcache.SemanticCache) -> None:
    call = {"name": "weather", "args": {"place": "Oslo", "days": [1, 2]}, "id": "call_1", "type": "tool_call"}
    answer = AIMessage("", id="m1", tool_calls=[call], usage_metadata=usage(7), additional_kwargs={"k": {"deep": [1]}})
    llm = scripted(llm_cache, answer, AIMessage("no"))
    llm.invoke("Is Oslo rainy in spring?")
    hit = llm.invoke("Is Oslo rainy in spring?")
    assert isinstance(hit, AIMessage)
    assert hit.tool_calls == [call]
    assert hit.usage_metadata is not None
    assert hit.usage_metadata["input_tokens"] == 7
    assert hit.additional_kwargs == {"k": {"deep": [1]}}
    assert hit.id is None, "two hits in one history must not look like one message"
    assert cache.stats()["total"]["saved_tokens"] == 12


def test_a_tool_loop_is_never_replayed(llm_cache: LangChainCache) -> None:
    call = {"name": "weather", "args": {}, "id": "call_1", "type": "tool_call"}
    history = [HumanMessage(ASK), AIMessage("", tool_calls=[call]), ToolMessage("rain", tool_call_id="call_1")]
    step = AIMessage("", tool_calls=[{**call, "id": "call_2"}])
    llm = scripted(llm_cache, step, AIMessage("It rains."))
    assert [llm.invoke(history).content for _ in range(2)] == ["", "It rains."]


def test_changing_a_hit_leaves_the_cache_alone(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache)
    llm.invoke(ASK)
    hit = llm.invoke(ASK)
    hit.content = "spoiled"
    hit.response_metadata["spoiled"] = True
    again = llm.invoke(ASK)
    assert (again.content, "spoiled" in again.response_metadata) == ("first", False)


def test_several_generations_come_back_as_a_list(llm_cache: LangChainCache) -> None:
    generations = [Generation(text="a", generation_info={"logprobs": [0.5]}), Generation(text="b")]
    llm_cache.update("Name two letters", "llm", generations)
    assert llm_cache.lookup("Name two letters", "llm") == generations
    assert isinstance(llm_cache.lookup("Name two letters", "llm"), list)
    assert llm_cache.lookup("Name two letters", "another llm") is None


@pytest.mark.parametrize(
    "ending",
    [
        {"finish_reason": "length"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},  # OpenAI's Responses API
        {"stop_reason": "model_context_window_exceeded"},  # Anthropic
        {"stop_reason": "pause_turn"},
        {"stopReason": "guardrail_intervened"},  # Bedrock
        {"finish_reason": "PROHIBITED_CONTENT"},  # Gemini
        {"finish_reason": "error"},
    ],
)
def test_a_truncated_answer_is_not_kept(llm_cache: LangChainCache, ending: dict[str, Any]) -> None:
    cut = AIMessage("The answer is", response_metadata=ending)
    llm = scripted(llm_cache, cut, AIMessage("The answer is tea.", response_metadata={"finish_reason": "stop"}))
    assert [llm.invoke(ASK).content for _ in range(3)] == ["The answer is", "The answer is tea.", "The answer is tea."]


def test_an_answer_that_cannot_be_revived_is_not_stored(llm_cache: LangChainCache) -> None:
    llm_cache.update(ASK, "llm", [Generation(text="x", generation_info={"socket": threading.Lock()})])
    assert llm_cache.lookup(ASK, "llm") is None
    assert llm_cache.faults == 1


def test_a_stored_foreign_object_is_never_made(llm_cache: LangChainCache, cache: semcache.SemanticCache) -> None:
    llm_cache.update(ASK, "llm", [Generation(text="x")])
    stored = json.loads(dumps(Generation(text="x", generation_info={"a": 1})))
    stored["kwargs"]["generation_info"]["a"] = json.loads(dumps(PromptTemplate.from_template("{x}")))
    found, served = llm_cache._cache.find(llm_cache._request(ASK, "llm"))
    assert served
    assert found is not None
    assert found.entry is not None
    body = json.dumps({"choices": [], "langchain": [stored]}).encode()
    cache.inner.components.live.hot.put(replace(found.entry, body=body))
    assert llm_cache.lookup(ASK, "llm") is None
    assert llm_cache.faults == 1


def test_clear_takes_this_namespace_only(cache: semcache.SemanticCache, llm_cache: LangChainCache) -> None:
    theirs = LangChainCache(cache, namespace="other team")
    for each in (llm_cache, theirs):
        each.update(ASK, "llm", [Generation(text="x")])
    llm_cache.clear()
    assert llm_cache.lookup(ASK, "llm") is None
    assert theirs.lookup(ASK, "llm") == [Generation(text="x")]


def test_a_failing_cache_is_a_miss(
    llm_cache: LangChainCache, cache: semcache.SemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> Any:
        raise StoreError("the disk is gone")

    llm = model(llm_cache)
    llm.invoke(ASK)
    with monkeypatch.context() as patched:
        patched.setattr(cache.inner, "consult", broken)
        assert llm.invoke(ASK).content == "second"
    assert llm_cache.faults >= 1
    assert cache.inner.meter.registry.get_sample_value("semcache_faults_total", {"component": "adapter"}) >= 1
    cache.close()
    assert llm.invoke(ASK).content == "third"


def test_an_audited_hit_asks_the_model_and_is_judged(
    llm_cache: LangChainCache, cache: semcache.SemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = model(llm_cache)
    llm.invoke(ASK)
    strategy = cache.inner.components.strategy
    replace_strategy(cache.inner, Auditing(strategy))
    assert llm.invoke(AGAIN).content == "second"
    replace_strategy(cache.inner, strategy)
    assert llm.invoke(AGAIN).content == "second", "the fresh answer was kept"


async def test_calls_from_the_caches_own_loop_do_not_wait_for_themselves(
    llm_cache: LangChainCache, cache: semcache.SemanticCache
) -> None:
    llm_cache.update(ASK, "llm", [Generation(text="x")])

    async def inside() -> tuple[Any, Any]:
        return await llm_cache.alookup(ASK, "llm"), llm_cache.lookup(ASK, "llm")

    assert await asyncio.to_thread(cache.run, inside()) == ([Generation(text="x")], None)


async def test_the_running_loop_goes_on_during_a_lookup(
    llm_cache: LangChainCache, cache: semcache.SemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, free = threading.Event(), threading.Event()
    consult, went_on = cache.inner.consult, list[bool]()

    async def slow(*args: Any) -> Any:
        asked.set()
        went_on.append(await asyncio.to_thread(free.wait, 5))
        return await consult(*args)

    monkeypatch.setattr(cache.inner, "consult", slow)
    lookup = asyncio.create_task(llm_cache.alookup(ASK, "llm"))
    await asyncio.to_thread(asked.wait, 10)
    free.set()
    assert await lookup is None
    assert went_on == [True]


@pytest.mark.parametrize(
    "prompt", ["[" * 100_000, '[{"id": ["A"], "kwargs": []}]', '[{"id": [1], "kwargs": {}}]', '{"id": 1}', "[1]"]
)
def test_a_plain_prompt_that_looks_like_messages_is_a_prompt(llm_cache: LangChainCache, prompt: str) -> None:
    assert llm_cache.lookup(prompt, "llm") is None
    llm_cache.update(prompt, "llm", [Generation(text="x")])
    assert llm_cache.lookup(prompt, "llm") == [Generation(text="x")]
    assert llm_cache.faults == 0


async def test_many_at_once(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache, "the same")
    prompts = [f"{ASK} Case {number}" for number in range(20)] * 3
    answers = await llm.abatch(prompts)
    assert {answer.content for answer in answers} == {"the same"}
    assert llm_cache.faults == 0
    assert all(await asyncio.gather(*(llm_cache.alookup(dumps([HumanMessage(p)]), settings(llm)) for p in prompts)))


def settings(llm: FakeListChatModel) -> str:
    return llm._get_llm_string()


def test_streams_do_not_ask_the_cache(llm_cache: LangChainCache) -> None:
    llm = model(llm_cache)
    llm.invoke(ASK)
    assert "".join(str(chunk.content) for chunk in llm.stream(ASK)) == "second"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LangChainCache]:
    opened = LangChainCache(path=str(tmp_path / "own"), embedder="hashing")
    yield opened
    opened.close()


def test_it_opens_a_cache_of_its_own(own: LangChainCache) -> None:
    own.update(ASK, "llm", [ChatGeneration(message=AIMessage("x"))])
    [hit] = own.lookup(ASK, "llm") or []
    assert isinstance(hit, ChatGeneration)
    assert hit.message == AIMessage("x")
    with pytest.raises(TypeError, match="either"):
        LangChainCache()


def test_an_unknown_category_is_refused_at_once(cache: semcache.SemanticCache) -> None:
    with pytest.raises(InvalidArgument, match="suport"):
        LangChainCache(cache, category="suport")


class Form(BaseModel):
    name: str


def test_structured_output_of_another_schema_is_another_question(
    llm_cache: LangChainCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = model(llm_cache, "first", "second", "third", "fourth")

    def fill(schema: type[BaseModel]) -> Any:
        return llm.bind(response_format=schema).invoke(ASK).content

    assert [fill(Form), fill(Form)] == ["first", "first"]
    # A later version of the program, which has a field more.
    monkeypatch.setattr(f"{__name__}.Form", create_model("Form", name=(str, ...), age=(int, ...), __module__=__name__))
    assert [fill(Form), fill(Form)] == ["second", "second"]
    # Made at run time, under a name by which nobody finds it again.
    assert [fill(create_model("Made", **{field: (str, ...)})) for field in ("name", "city")] == ["third", "fourth"]
    assert llm_cache.faults == 0


@pytest.mark.parametrize(
    ("settings", "answers"),
    [
        ({"tools": [{"type": "web_search_preview"}]}, ["first", "second"]),
        ({"tools": [{"google_search": {}}]}, ["first", "second"]),
        ({"web_search_options": {}}, ["first", "second"]),
        ({"tools": [{"googleSearch": {}}]}, ["first", "second"]),
        ({"extra_body": {"enable_search": True}}, ["first", "second"]),
        ({"extra_body": {"enable_search": False}}, ["first", "first"]),
        ({"extra_body": {"plugins": [{"max_results": 3, "id": "web"}]}}, ["first", "second"]),
        ({"extra_body": {"search_parameters": {"mode": "on"}}}, ["first", "second"]),
        ({"tools": [{"type": "function", "function": {"name": "web_search"}}]}, ["first", "first"]),
    ],
)
def test_what_a_provider_searches_for_is_asked_each_time(
    llm_cache: LangChainCache, settings: dict[str, Any], answers: list[str]
) -> None:
    llm = model(llm_cache).bind(**settings)
    assert [llm.invoke(ASK).content for _ in range(2)] == answers
