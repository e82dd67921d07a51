"""The LlamaIndex wrapper around LlamaIndex's own mock, in every form of a call."""

from __future__ import annotations

import copy
import gc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.llms import MockLLM
from llama_index.core.prompts import PromptTemplate
from openai.types.chat import ChatCompletionChunk

from semcache import SemanticCache
from semcache.errors import StoreError
from semcache_llamaindex import CachedLLM
from tests.adapters.auditing import Auditing
from tests.adapters.conftest import PACK
from tests.components import replace_strategy

ASK = "How do I reset my password?"
AGAIN = "How do I reset my password, please?"


class Counting(MockLLM):
    """The mock, which repeats what it is told, and counts."""

    asked: int = Field(0, exclude=True)
    said: Any = Field(None, exclude=True)
    breaks: bool = Field(False, exclude=True)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.asked += 1
        return super().complete(prompt, formatted, **kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        self.asked += 1
        return self._broken() if self.breaks else super().stream_complete(prompt, formatted, **kwargs)

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        if self.said is None:
            return super().chat(messages, **kwargs)
        self.asked += 1
        return self.said  # type: ignore[no-any-return]

    def stream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseGen:
        if self.said is None:
            return super().stream_chat(messages, **kwargs)
        self.asked += 1
        return iter([self.said])  # type: ignore[return-value]

    def _broken(self) -> Iterator[CompletionResponse]:
        yield CompletionResponse(text="The ans", delta="The ans")
        raise ConnectionError("broken off")


@pytest.fixture
def inner() -> Counting:
    return Counting()


@pytest.fixture
def llm(inner: Counting, cache: SemanticCache) -> CachedLLM:
    return CachedLLM(inner, cache)


def user(text: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.SYSTEM, content="Be kind."), ChatMessage(role=MessageRole.USER, content=text)]


def test_a_paraphrase_is_completed_without_asking(llm: CachedLLM, inner: Counting) -> None:
    assert [llm.complete(text).text for text in (ASK, ASK, AGAIN)] == [ASK] * 3
    assert inner.asked == 1
    assert llm.complete("Which planets have rings?").text == "Which planets have rings?"
    assert llm.faults == 0


def test_a_copy_asks_the_same_cache(llm: CachedLLM, inner: Counting) -> None:
    llm.complete(ASK)
    assert copy.deepcopy(llm).complete(AGAIN).text == ASK
    assert inner.asked == 1


def test_a_conversation_is_answered_without_asking(llm: CachedLLM, inner: Counting) -> None:
    fresh = llm.chat(user(ASK))
    hit = llm.chat(user(AGAIN))
    assert isinstance(hit, ChatResponse)
    assert hit.message == fresh.message
    assert inner.asked == 1


@pytest.mark.parametrize(
    "other",
    [
        [ChatMessage(role="system", content="Be rude."), ChatMessage(role="user", content=ASK)],
        [*user("Do you sell tea?"), ChatMessage(role="assistant", content="Yes."), *user(ASK)[1:]],
        [*user(ASK)[:1], ChatMessage(role="user", blocks=[TextBlock(text=ASK), ImageBlock(url="http://x/y.png")])],
        [*user(ASK)[:1], ChatMessage(role="user", content=ASK, additional_kwargs={"name": "bob"})],
    ],
)
def test_another_context_is_another_question(llm: CachedLLM, inner: Counting, other: list[ChatMessage]) -> None:
    llm.chat(user(ASK))
    llm.chat(other)
    assert inner.asked == 2
    llm.chat(user(AGAIN))
    assert inner.asked == 2


def test_another_picture_is_another_question(llm: CachedLLM, inner: Counting) -> None:
    def ask(picture: str) -> None:
        blocks = [TextBlock(text="What is in this picture?"), ImageBlock(url=f"http://x/{picture}.png")]
        llm.chat([ChatMessage(role="user", blocks=blocks)])

    for picture in ("tea", "cup", "tea"):
        ask(picture)
    assert inner.asked == 2


def test_other_settings_or_arguments_never_share(llm: CachedLLM, inner: Counting, cache: SemanticCache) -> None:
    llm.complete(ASK)
    llm.complete(ASK, stop=["."])
    assert inner.asked == 2
    other = Counting(max_tokens=3)
    assert CachedLLM(other, cache).complete(ASK).text == "text text text"
    CachedLLM(inner, cache, tenant="acme").complete(ASK)
    assert (other.asked, inner.asked) == (1, 3)


def test_another_object_of_the_same_settings_hits(llm: CachedLLM, cache: SemanticCache) -> None:
    llm.chat(user(ASK))
    again = Counting()
    CachedLLM(again, cache).chat(user(AGAIN))
    assert again.asked == 0


def test_streams_are_kept_and_replayed(llm: CachedLLM, inner: Counting) -> None:
    long = "Explain in detail how a heap keeps its order when an element is removed from it and why that is fast."
    fresh = list(llm.stream_complete(long))
    replayed = list(llm.stream_complete(long + " Please."))
    assert inner.asked == 1
    assert len(replayed) > 1
    assert "".join(step.delta or "" for step in replayed) == replayed[-1].text == fresh[-1].text
    assert llm.complete(long).text == fresh[-1].text
    chat = list(llm.stream_chat(user(long)))
    hit = list(llm.stream_chat(user(long)))
    assert hit[-1].message == chat[-1].message
    assert "".join(step.delta or "" for step in hit) == hit[-1].message.content
    assert inner.asked == 2


def test_a_stream_that_is_left_or_breaks_is_not_kept(llm: CachedLLM, inner: Counting) -> None:
    next(iter(llm.stream_complete(ASK)))
    inner.breaks = True
    with pytest.raises(ConnectionError):
        list(llm.stream_complete(ASK))
    inner.breaks = False
    assert list(llm.stream_complete(ASK))[-1].text == ASK
    assert inner.asked == 3


def test_a_stream_whose_pieces_do_not_add_up_is_not_kept(llm: CachedLLM, inner: Counting) -> None:
    inner.said = ChatResponse(message=ChatMessage(role="assistant", content="the end"), delta="all but the end")
    for _ in range(2):
        list(llm.stream_chat(user(ASK)))
    assert inner.asked == 2


def test_a_truncated_answer_is_not_kept(llm: CachedLLM, inner: Counting) -> None:
    cut = {"choices": [{"finish_reason": "length"}]}
    inner.said = ChatResponse(message=ChatMessage(role="assistant", content="The ans"), raw=cut)
    llm.chat(user(ASK))
    llm.chat(user(ASK))
    assert inner.asked == 2


def test_tool_calls_and_extras_survive(llm: CachedLLM, inner: Counting, cache: SemanticCache) -> None:
    call = ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"place": "Oslo"})
    message = ChatMessage(role="assistant", blocks=[call], additional_kwargs={"deep": [{"a": 1}]})
    counts = {"prompt_tokens": 3, "completion_tokens": 4}
    inner.said = ChatResponse(message=message, additional_kwargs=counts, raw={"id": "x"})
    llm.chat(user("Is Oslo rainy in spring?"))
    hit = llm.chat(user("Is Oslo rainy in spring?"))
    assert inner.asked == 1
    assert hit.message == message
    assert hit.additional_kwargs == counts
    assert list(llm.stream_chat(user("Is Oslo rainy in spring?")))[-1].message == message
    assert cache.stats()["total"]["saved_tokens"] == 14


def test_changing_a_hit_leaves_the_cache_alone(llm: CachedLLM) -> None:
    llm.complete(ASK)
    llm.complete(ASK).text = "spoiled"
    assert llm.complete(ASK).text == ASK


async def test_async_calls_hit_and_stream(llm: CachedLLM, inner: Counting) -> None:
    assert (await llm.acomplete(ASK)).text == (await llm.acomplete(AGAIN)).text == ASK
    steps = [step async for step in await llm.astream_complete(AGAIN)]
    assert steps[-1].text == ASK
    fresh = await llm.achat(user(ASK))
    assert (await llm.achat(user(AGAIN))).message == fresh.message
    chat = [step async for step in await llm.astream_chat(user(AGAIN))]
    assert chat[-1].message == fresh.message
    assert inner.asked == 2
    new = [step async for step in await llm.astream_complete("Which planets have rings?")]
    assert (await llm.acomplete("Which planets have rings?")).text == new[-1].text
    assert inner.asked == 3


def test_it_is_an_llm_to_the_rest_of_llamaindex(llm: CachedLLM, inner: Counting) -> None:
    template = PromptTemplate("Please answer this question. {question}")
    assert llm.predict(template, question="Why is the sky blue?") == llm.predict(
        template, question="Why is the sky blue?"
    )
    assert inner.asked == 1
    assert not llm.metadata.is_function_calling_model


def test_a_failing_cache_changes_nothing(
    llm: CachedLLM, inner: Counting, cache: SemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> Any:
        raise StoreError("the disk is gone")

    llm.complete(ASK)
    with monkeypatch.context() as patched:
        patched.setattr(cache.inner, "consult", broken)
        assert llm.complete(ASK).text == ASK
    cache.close()
    assert list(llm.stream_chat(user(ASK)))[-1].message.content
    assert inner.asked == 3
    assert llm.faults >= 2


def test_an_audited_hit_asks_and_is_judged(
    llm: CachedLLM, inner: Counting, cache: SemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm.complete(ASK)
    strategy = cache.inner.components.strategy
    replace_strategy(cache.inner, Auditing(strategy))
    assert llm.complete(AGAIN).text == AGAIN
    replace_strategy(cache.inner, strategy)
    assert llm.complete(AGAIN).text == AGAIN
    assert inner.asked == 2, "the fresh answer was kept"


def test_answers_are_found_again_after_a_restart(tmp_path: Path) -> None:
    # As another process would, this one has functions of the same names and code at other addresses.
    (tmp_path / "pack.yaml").write_text(PACK)
    asked = []
    for _ in range(2):
        source = "def as_prompt(text):\n    return text"
        space: dict[str, Any] = {"__name__": "prompts"}
        exec(source, space)
        asked.append(Counting(completion_to_prompt=space["as_prompt"]))
        with SemanticCache.open(
            str(tmp_path / "data"), policies=str(tmp_path / "pack.yaml"), embedder="hashing", seed=1
        ) as cache:
            CachedLLM(asked[-1], cache).complete(ASK)
    assert [inner.asked for inner in asked] == [1, 0]


class Styled(MockLLM):
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.completion_to_prompt(prompt))


def test_prompt_functions_that_close_over_something_never_share(cache: SemanticCache) -> None:
    def said(style: str, wrap: bool) -> str:
        styled = partial(_styled, style) if wrap else lambda text: _styled(style, text)
        return CachedLLM(Styled(completion_to_prompt=styled), cache).complete(ASK).text

    for wrap in (True, False):
        for number in range(20):
            # A new object may be given the address of one that is gone.
            gc.collect()
            assert said(f"Style {number}", wrap) == f"Style {number}: {ASK}"


def _styled(style: str, text: str) -> str:
    return f"{style}: {text}"


def test_a_prompt_function_whose_code_changed_is_another(cache: SemanticCache) -> None:
    for said in ("French", "German"):
        space: dict[str, Any] = {"__name__": "prompts"}
        exec(f"def as_prompt(text):\n    return 'In {said}: ' + text", space)
        styled = Styled(completion_to_prompt=space["as_prompt"])
        assert CachedLLM(styled, cache).complete(ASK).text == f"In {said}: {ASK}"


def test_a_file_that_holds_another_picture_is_another_question(llm: CachedLLM, inner: Counting, tmp_path: Path) -> None:
    inner.said = ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content="A cat."))
    picture = tmp_path / "picture.png"
    for content in (b"cat", b"cat", b"dog"):
        picture.write_bytes(content)
        llm.chat([ChatMessage(role=MessageRole.USER, blocks=[TextBlock(text=ASK), ImageBlock(path=picture)])])
    assert (inner.asked, llm.faults) == (2, 0)


def test_the_wrapped_query_prompt_is_kept(cache: SemanticCache) -> None:
    plain = MockLLM()
    plain.query_wrapper_prompt = PromptTemplate("### {query_str} ###")
    assert (
        CachedLLM(plain, cache).predict(PromptTemplate(ASK)) == plain.predict(PromptTemplate(ASK)) == f"### {ASK} ###"
    )


class Schema(BaseModel):
    number: int = 1


def test_objects_among_extras_and_classes_among_arguments_cost_no_hit(llm: CachedLLM, inner: Counting) -> None:
    message = ChatMessage(role=MessageRole.ASSISTANT, content="Through the settings.")
    inner.said = ChatResponse(message=message, additional_kwargs={"details": Schema()})
    for _ in range(2):
        llm.chat(user(ASK), response_format=Schema)
    assert (inner.asked, llm.faults) == (1, 0)


class Streaming(MockLLM):
    """The mock, which streams the chunks that it is told."""

    chunks: Any = Field(None, exclude=True)
    asked: int = Field(0, exclude=True)

    def stream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseGen:
        self.asked += 1
        said = ""
        for raw in self.chunks:
            delta = raw.choices[0].delta.content if raw.choices else ""
            said += delta
            yield ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said), delta=delta, raw=raw)


@pytest.mark.parametrize(("reason", "asked"), [("stop", 1), ("length", 2), ("content_filter", 2), (None, 2)])
def test_a_stream_is_kept_if_any_piece_says_that_it_is_whole(
    cache: SemanticCache, reason: str | None, asked: int
) -> None:
    def chunk(choices: list[Any]) -> ChatCompletionChunk:
        return ChatCompletionChunk.model_validate(
            {"id": "1", "created": 1, "model": "m", "object": "chat.completion.chunk", "choices": choices}
        )

    texts = [({"content": "Through the "}, None), ({"content": "settings."}, reason)]
    chunks = [chunk([{"index": 0, "delta": delta, "finish_reason": end}]) for delta, end in texts]
    # The last one tells the usage.
    inner = Streaming()
    inner.chunks = [*chunks, chunk([])]
    for _ in range(2):
        list(CachedLLM(inner, cache).stream_chat(user(ASK)))
    assert inner.asked == asked


class Tracking(Counting):
    track_previous_responses: bool = True


def test_a_conversation_that_is_at_the_provider_is_not_cached(cache: SemanticCache) -> None:
    inner = Tracking()
    for _ in range(2):
        CachedLLM(inner, cache).complete(ASK)
    assert inner.asked == 2


class Searching(Counting):
    """The mock with settings of models that search."""

    built_in_tools: list[Any] = Field(default_factory=list)
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({"built_in_tools": [{"type": "web_search_preview"}]}, 2),
        ({"additional_kwargs": {"extra_body": {"enable_search": True}}}, 2),
        ({"additional_kwargs": {"tools": [{"google_search": {}}]}}, 2),
        ({"built_in_tools": [{"type": "function", "name": "web_search"}]}, 1),
    ],
)
def test_what_a_provider_searches_for_is_asked_each_time(
    cache: SemanticCache, settings: dict[str, Any], asked: int
) -> None:
    inner = Searching()
    for name, value in settings.items():
        setattr(inner, name, value)
    for _ in range(2):
        CachedLLM(inner, cache).complete(ASK)
    assert inner.asked == asked
