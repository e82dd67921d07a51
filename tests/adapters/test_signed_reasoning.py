"""An answer to other words comes without the reasoning that its provider signed, in the forms of each host library."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, TextBlock, ThinkingBlock
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import MockLLM

from semcache import SemanticCache
from semcache_langchain import SemanticCache as LangChainCache
from semcache_llamaindex import CachedLLM

ASK = "How do I reset my password?"
AGAIN = "How do I reset my password, please?"


class Saying(MockLLM):
    """A model that says one thing, and counts how often."""

    asked: int = Field(0, exclude=True)
    said: Any = Field(None, exclude=True)

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        self.asked += 1
        return self.said  # type: ignore[no-any-return]


SIGNED = [
    {"type": "thinking", "thinking": "They lost it.", "signature": "c2lnbmVk"},
    {"type": "redacted_thinking", "data": "b3BhcXVl"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3BhcXVl"},
    {"type": "reasoning_content", "reasoning_content": {"text": "They lost it.", "signature": "c2lnbmVk"}},
    {"type": "reasoning", "reasoning": "They lost it.", "extras": {"signature": "c2lnbmVk"}},
    {"type": "reasoning", "reasoning": "Nobody signed it."},
    {"type": "text", "text": "first", "extras": {"signature": "c2lnbmVk"}},
]


def test_langchain_is_given_no_signed_reasoning_with_an_answer_to_other_words(cache: SemanticCache) -> None:
    kept = {"thinking_blocks": [{"type": "thinking", "thinking": "so", "signature": "c2lnbmVk"}], "other": 1}
    llm = GenericFakeChatModel(
        messages=iter([AIMessage(content=SIGNED, additional_kwargs=kept)]), cache=LangChainCache(cache)
    )
    llm.invoke(ASK)
    same, again = llm.invoke(ASK), llm.invoke(AGAIN)
    assert (same.content, same.additional_kwargs) == (SIGNED, kept)
    assert again.content == [SIGNED[5], {"type": "text", "text": "first"}]
    assert again.additional_kwargs == {"other": 1}


def test_llamaindex_is_given_no_signed_reasoning_with_an_answer_to_other_words(cache: SemanticCache) -> None:
    signed = ThinkingBlock(content="They lost it.", additional_information={"signature": "c2lnbmVk"})
    plain = ThinkingBlock(content="Nobody signed it.")
    kept = {"thinking_signature": "c2lnbmVk", "other": 1}
    blocks = [signed, plain, TextBlock(text="first")]
    inner = Saying()
    inner.said = ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks, additional_kwargs=kept))
    llm = CachedLLM(inner, cache)
    said = [llm.chat([ChatMessage(content=text)]).message for text in (ASK, ASK, AGAIN)]
    assert inner.asked == 1
    assert said[1].blocks == blocks
    assert said[1].additional_kwargs == kept
    assert said[2].blocks == [plain, TextBlock(text="first")]
    assert said[2].additional_kwargs == {"other": 1}
