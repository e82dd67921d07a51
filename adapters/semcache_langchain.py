"""semcache as LangChain's LLM cache, for chat models and plain LLMs.

    from langchain_core.language_models import FakeListChatModel
    from semcache_langchain import SemanticCache

    cache = SemanticCache(path=".semcache")                     # or SemanticCache(an_open_semcache)
    llm = FakeListChatModel(responses=["one", "two"], cache=cache)  # or set_llm_cache(cache), for every model
    llm.invoke("How do I reset my password?")                   # asks the model
    llm.invoke("How do I reset my password, please?")           # answered by the cache
    cache.close()

LangChain hands a cache the messages as JSON and the model's settings as one string. The text of the last user turn is
what may be paraphrased; everything else, the settings string hashed whole included, has to be equal. A class in it (as
of structured output) counts by its schema; where nobody can tell which class that is, the model is asked. `.stream()`
never asks a cache, LangChain decides that: stream through the proxy instead. A hit that was picked for an audit is
reported as a miss, so that the model is asked and the two answers are compared.
Invariant: `lookup` and `update` never raise; what `lookup` returns is a list of fresh objects, made of message and
generation classes alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from functools import reduce
from hashlib import sha256
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.load import dumps, load
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage, ToolMessage
from langchain_core.messages.function import FunctionMessage
from langchain_core.messages.system import SystemMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation, GenerationChunk

import semcache
from semcache.cache.found import Found
from semcache.types import Request
from semcache_failopen import FailOpen, Pending, finish_reason, kept_by, reason_in, runs_upstream

_REVIVED = (
    *(Generation, GenerationChunk, ChatGeneration, ChatGenerationChunk),
    *(AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage, FunctionMessage, ChatMessage),
)
_LOAD = getattr(load, "__wrapped__", load)  # without the warning that it is in beta, which users cannot act on
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
# What one call left on a message; it is not sent to the model again.
_TRACES = frozenset({"type", "id", "response_metadata", "usage_metadata"})
_NAME = re.compile(r"""["'](?:model|model_name|model_id)["'](?::|,) ?["']([^"']+)["']""")
_CLASS = re.compile(r"<class '([^']*)'>")
_TEMPERATURE = re.compile(r"""["']temperature["'](?::|,) ?(\d+(?:\.\d+)?)""")


class SemanticCache(BaseCache):
    """A LangChain cache on an open `semcache.SemanticCache`, or on one that it opens itself at `path`.

    `tenant`, `user`, `namespace` and `category` are those of `semcache.SemanticCache.lookup`; `options` those of `open`
    (`policies`, `target`, `embedder`, ...), of which `judge` is "verifier" unless given: a model seldom repeats itself
    word for word. `close` closes a cache that was opened here, and no other.
    """

    def __init__(
        self,
        cache: semcache.SemanticCache | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "langchain",
        category: str | None = None,
        **options: Any,
    ) -> None:
        self._owned: semcache.SemanticCache | None = None
        if cache is None and path is not None:
            cache = self._owned = semcache.SemanticCache.open(path, **{"judge": "verifier", **options})
        elif cache is None or path is not None or options:
            raise TypeError("give either an open semcache.SemanticCache, or `path` and what its `open` takes")
        self._cache = FailOpen(cache, tenant=tenant, user=user, namespace=namespace, category=category)
        self._pending = Pending()

    @property
    def faults(self) -> int:
        """Faults of the cache that were survived as misses."""
        return self._cache.faults

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """The generations of a cached answer, None on a miss."""
        found, serve = self._cache.find(self._request(prompt, llm_string))
        return self._answer(prompt, llm_string, found, serve)

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Do as `lookup`, without blocking the running loop."""
        found, serve = await self._cache.afind(self._request(prompt, llm_string))
        return self._answer(prompt, llm_string, found, serve)

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Keep the model's generations, if the policy admits them."""
        body = self._body(return_val)
        if body is not None:
            found = self._pending.take((prompt, llm_string)) or self._cache.find(self._request(prompt, llm_string))[0]
            self._cache.keep(found, body)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Do as `update`, without blocking the running loop."""
        body = self._body(return_val)
        if body is not None:
            found = self._pending.take((prompt, llm_string))
            found = found or (await self._cache.afind(self._request(prompt, llm_string)))[0]
            await self._cache.akeep(found, body)

    def clear(self, **kwargs: Any) -> None:
        """Delete this namespace's entries, or those of them that `kwargs` select (`category`, `model`, ...).

        Raises StoreError: whoever asks for a deletion has to know when there was none.
        """
        self._cache.clear(**kwargs)

    async def aclear(self, **kwargs: Any) -> None:
        """Do as `clear`, without blocking the running loop."""
        await self._cache.aclear(**kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> SemanticCache:
        """Return this very cache: a copy of a model goes on asking it."""
        return self

    def close(self) -> None:
        """Close the cache if it was opened here."""
        if self._owned is not None:
            self._owned.close()

    def _request(self, prompt: str, llm_string: str) -> Request | None:
        schemas = _schemas(llm_string)
        if schemas is None or runs_upstream(llm_string):
            return None
        settings = {"langchain": sha256((llm_string + schemas).encode("utf-8", "surrogatepass")).hexdigest()}
        # What the policy asks about; parameters of this call follow the model's own.
        names, temperatures = _NAME.findall(llm_string), _TEMPERATURE.findall(llm_string)
        wishes = {"temperature": float(temperatures[-1])} if temperatures else {}
        return self._cache.chat(_messages(prompt), names[-1] if names else "default", {**settings, **wishes})

    def _answer(self, prompt: str, llm_string: str, found: Found | None, serve: bool) -> RETURN_VAL_TYPE | None:
        if found is None:
            return None
        if serve:
            try:
                return _revived(kept_by("langchain", found))
            except Exception as error:
                self._cache.failed("reviving an answer", error)
        self._pending.put((prompt, llm_string), found)
        return None

    def _body(self, generations: RETURN_VAL_TYPE) -> dict[str, Any] | None:
        """Return a chat completion that carries the generations; None when they could not be revived from it."""
        try:
            dumped = [_dumped(generation) for generation in generations]
            _revived(dumped)
            choices = [_choice(index, generation) for index, generation in enumerate(generations)]
        except Exception as error:
            self._cache.failed("writing down an answer", error)
            return None
        usages = [getattr(getattr(each, "message", None), "usage_metadata", None) or {} for each in generations]
        usage = {
            "prompt_tokens": sum(each.get("input_tokens", 0) for each in usages),
            "completion_tokens": sum(each.get("output_tokens", 0) for each in usages),
        }
        return {"object": "chat.completion", "choices": choices, "usage": usage, "langchain": dumped}


def _schemas(llm_string: str) -> str | None:
    """Return the schemas of the classes in a settings string, which has their names alone; None if one is not found."""
    schemas = []
    for name in dict.fromkeys(_CLASS.findall(llm_string)):
        # The module is the longest part of the name that is one.
        parts = name.split(".")
        split = next((n for n in range(len(parts) - 1, 0, -1) if ".".join(parts[:n]) in sys.modules), len(parts))
        try:
            found = reduce(getattr, parts[split:], sys.modules[".".join(parts[:split])])
            schemas.append(json.dumps(found.model_json_schema(), sort_keys=True))
        except Exception:
            return None
    return "".join(schemas)


def _messages(prompt: str) -> list[dict[str, Any]]:
    """Return the chat behind LangChain's JSON, or a plain LLM's prompt as one user turn."""
    try:
        dumped = json.loads(prompt)
        return [_message(message["id"][-1], message["kwargs"]) for message in dumped] or _plain(prompt)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return _plain(prompt)


def _plain(prompt: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": prompt}]


def _message(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    kind = fields.get("type") or name.removesuffix("Chunk").removesuffix("Message").lower()
    content = fields.get("content")
    if isinstance(content, list):
        content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    rest = {key: value for key, value in fields.items() if key not in _TRACES and value not in (None, [], {})}
    return {**rest, "role": _ROLES.get(kind) or fields.get("role") or kind, "content": content}


def _dumped(generation: Generation) -> Any:
    """Dump a message without its id: an agent's history would take two hits with one id for one message."""
    if isinstance(generation, ChatGeneration):
        generation = generation.model_copy(update={"message": generation.message.model_copy(update={"id": None})})
    return json.loads(dumps(generation))


def _revived(dumped: Any) -> list[Generation]:
    revived: list[Generation] = _LOAD(dumped, allowed_objects=_REVIVED)
    if not revived or not all(isinstance(generation, Generation) for generation in revived):
        raise ValueError("these are no generations")
    return revived


def _choice(index: int, generation: Generation) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": str(generation.text)}
    info = generation.generation_info or {}
    if isinstance(generation, ChatGeneration):
        said = generation.message
        info = {**said.response_metadata, **info}
        # Only that there are calls is told here: the calls themselves are under "langchain".
        if any(getattr(said, name, None) for name in ("tool_calls", "invalid_tool_calls", "tool_call_chunks")):
            message["tool_calls"] = [{"type": "function"}]
        if said.additional_kwargs.get("refusal"):
            message["refusal"] = str(said.additional_kwargs["refusal"])
    return {"index": index, "message": message, "finish_reason": finish_reason(reason_in(info))}
