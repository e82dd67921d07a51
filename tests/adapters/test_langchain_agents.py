"""Agents of the real LangChain, whose model is asked once for questions that mean the same."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import BaseModel

import semcache
from semcache_langchain import SemanticCache
from semcache_langchain_agents import SemanticCacheMiddleware

ASK, AGAIN = "How do I reset my password?", "How do I reset my password, please?"


class Model(BaseChatModel):
    """Answers with a number, or calls a tool first."""

    calls_tool: bool = False
    asked: list[Any]

    @property
    def _llm_type(self) -> str:
        return "test"

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        self.asked.append(messages)
        said = AIMessage(f"answer {len(self.asked)}")
        if self.calls_tool and not isinstance(messages[-1], ToolMessage):
            said = AIMessage("", tool_calls=[{"name": "clock", "args": {}, "id": "1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def clock() -> str:
    """Tell the time."""
    return "noon"


def said(agent: Any, question: str) -> str:
    return str(agent.invoke({"messages": [HumanMessage(question)]})["messages"][-1].content)


def test_a_paraphrase_is_served_and_another_system_prompt_is_not(cache: semcache.SemanticCache) -> None:
    model = Model(asked=[])
    layer = SemanticCacheMiddleware(SemanticCache(cache))
    agent = create_agent(model, middleware=[layer])
    assert said(agent, ASK) == said(agent, AGAIN) == "answer 1"
    assert len(model.asked) == 1
    stern = create_agent(model, system_prompt="Be brief.", middleware=[layer])
    assert said(stern, ASK) == "answer 2"
    assert said(stern, ASK) == "answer 2"
    tools = create_agent(model, tools=[clock], middleware=[layer])
    assert said(tools, ASK) == "answer 3", "what tools a model has may change its answer"


async def test_an_agent_that_is_streamed_or_awaited_is_served_too(cache: semcache.SemanticCache) -> None:
    model = Model(asked=[])
    agent = create_agent(model, middleware=[SemanticCacheMiddleware(SemanticCache(cache))])
    asked = {"messages": [HumanMessage(ASK)]}
    for _ in range(2):
        assert (await agent.ainvoke(asked))["messages"][-1].content == "answer 1"
    [last] = list(agent.stream(asked))
    assert last["model"]["messages"][-1].content == "answer 1"
    assert len(model.asked) == 1


def test_a_step_that_calls_a_tool_is_served_to_the_very_same_conversation_alone(cache: semcache.SemanticCache) -> None:
    model = Model(asked=[], calls_tool=True)
    agent = create_agent(model, tools=[clock], middleware=[SemanticCacheMiddleware(SemanticCache(cache))])
    for question in (ASK, ASK, AGAIN):
        found = agent.invoke({"messages": [HumanMessage(question)]})["messages"]
        assert [message.type for message in found] == ["human", "ai", "tool", "ai"], "the tool is run each time"
        assert len(model.asked) == (2 if question == ASK else 4)


def test_structured_output_is_asked_for_each_time(cache: semcache.SemanticCache) -> None:
    class Answer(BaseModel):
        text: str

    class Structured(Model):
        def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
            self.asked.append(messages)
            call = {"name": "Answer", "args": {"text": "yes"}, "id": "1"}
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])

    model = Structured(asked=[])
    layer = SemanticCacheMiddleware(SemanticCache(cache))
    agent = create_agent(model, response_format=Answer, middleware=[layer])
    for _ in range(2):
        assert agent.invoke({"messages": [HumanMessage(ASK)]})["structured_response"] == Answer(text="yes")
    assert len(model.asked) == 2
