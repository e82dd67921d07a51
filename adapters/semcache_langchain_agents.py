"""semcache as middleware of LangChain's agents: a question that was answered before is not put to the model again.

    from langchain.agents import create_agent
    from semcache_langchain import SemanticCache
    from semcache_langchain_agents import SemanticCacheMiddleware

    cache = SemanticCache(path=".semcache")
    agent = create_agent("openai:gpt-4o-mini", tools=[...], middleware=[SemanticCacheMiddleware(cache)])

It asks the same cache as `semcache_langchain`, whatever model an agent uses, and where the agent is streamed too, which
LangChain's own caching is not. Model, settings, tools, system prompt and earlier turns have to be equal; the last turn
may be paraphrased. A step that calls tools is served to the very same conversation alone, and its tools are run; with a
`response_format` the model is always asked.
Invariant: a fault of the cache is a model call.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.load import dumps
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration
from langchain_core.utils.function_calling import convert_to_openai_tool

from semcache_langchain import SemanticCache

_Handler = Callable[[ModelRequest[Any]], ModelResponse[Any]]
_AsyncHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class SemanticCacheMiddleware(AgentMiddleware[Any, Any, Any]):
    """Middleware that asks a `semcache_langchain.SemanticCache` before the model."""

    def __init__(self, cache: SemanticCache) -> None:
        super().__init__()
        self._cache = cache

    def wrap_model_call(self, request: ModelRequest[Any], handler: _Handler) -> ModelResponse[Any]:
        """Answer from the cache, or have the model answer and keep that."""
        key = _key(request)
        if key is None:
            return handler(request)
        found = _message(self._cache.lookup(*key))
        if found is not None:
            return ModelResponse(result=[found])
        response = handler(request)
        said = _only(response)
        if said is not None:
            self._cache.update(*key, [ChatGeneration(message=said)])
        return response

    async def awrap_model_call(self, request: ModelRequest[Any], handler: _AsyncHandler) -> ModelResponse[Any]:
        """Do as `wrap_model_call`, without blocking the running loop."""
        key = _key(request)
        if key is None:
            return await handler(request)
        found = _message(await self._cache.alookup(*key))
        if found is not None:
            return ModelResponse(result=[found])
        response = await handler(request)
        said = _only(response)
        if said is not None:
            await self._cache.aupdate(*key, [ChatGeneration(message=said)])
        return response


def _key(request: ModelRequest[Any]) -> tuple[str, str] | None:
    """Return messages and settings as LangChain's caches have them; None for a request that is not for the cache."""
    if request.response_format is not None:
        return None
    system = [] if request.system_message is None else [request.system_message]
    try:
        tools = [convert_to_openai_tool(tool) for tool in request.tools]
        asked = {**request.model_settings, "tools": json.dumps(tools), "tool_choice": request.tool_choice}
        return dumps([*system, *request.messages]), request.model._get_llm_string(**asked)
    except Exception:  # a tool or setting that cannot be written down is never equal to another
        return None


def _message(generations: Any) -> AIMessage | None:
    message = getattr(generations[0], "message", None) if generations else None
    return message if isinstance(message, AIMessage) else None


def _only(response: ModelResponse[Any]) -> AIMessage | None:
    said = response.result
    return said[0] if len(said) == 1 and isinstance(said[0], AIMessage) else None
