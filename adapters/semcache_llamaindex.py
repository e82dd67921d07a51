"""A LlamaIndex LLM that asks the cache before the LLM it wraps.

    from llama_index.core.llms import MockLLM
    from semcache import SemanticCache
    from semcache_llamaindex import CachedLLM

    with SemanticCache.open(".semcache", judge="verifier") as cache:
        llm = CachedLLM(MockLLM(), cache)                       # Settings.llm = CachedLLM(...) for all of LlamaIndex
        llm.complete("How do I reset my password?")             # asks the wrapped LLM
        llm.complete("How do I reset my password, please?")     # answered by the cache

LlamaIndex has no interface for response caches, so this is a wrapper around `complete`, `chat`, their streams and their
asynchronous forms. It is no `FunctionCallingLLM`: for agents that call tools use `OpenAILike(api_base=PROXY)`. A hit is
replayed as a stream to who asks for one; its `raw` is None, and no event of the wrapped LLM is emitted for it.
Invariant: what has to be equal is the wrapped LLM's every setting but its key, the call's arguments and every message
but the text of the last user turn; a stream is kept only when it has run to its end and its pieces add up.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import AsyncGenerator, Generator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import LLM, CustomLLM

from semcache import SemanticCache
from semcache.cache.found import Found
from semcache.dialects.answer import pieces
from semcache.types import Request
from semcache_failopen import FailOpen, finish_reason, kept_by, reason_in, runs_upstream

R = TypeVar("R", ChatResponse, CompletionResponse)

_PROMPTS = ("messages_to_prompt", "completion_to_prompt", "query_wrapper_prompt")
_COPIED = ("callback_manager", "system_prompt", "output_parser", *_PROMPTS)
_SECRET = {"api_key", "callback_manager"}
_NESTED = ("choices", "candidates", "delta", "messageStop", "response")


class CachedLLM(CustomLLM):
    """`llm` behind an open `semcache.SemanticCache`; scope arguments as for its `lookup`."""

    _llm: LLM = PrivateAttr()
    _cache: FailOpen = PrivateAttr()
    _marks: WeakKeyDictionary[Any, str] = PrivateAttr(default_factory=WeakKeyDictionary)

    def __init__(
        self,
        llm: LLM,
        cache: SemanticCache,
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "llamaindex",
        category: str | None = None,
    ) -> None:
        copied = {name: value for name in _COPIED if (value := getattr(llm, name, None)) is not None}
        super().__init__(**copied, pydantic_program_mode=llm.pydantic_program_mode)
        self._llm = llm
        self._cache = FailOpen(cache, tenant=tenant, user=user, namespace=namespace, category=category)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> CachedLLM:
        """A copy with an LLM of its own, in front of the same cache: an open cache is not copied."""
        memo = {} if memo is None else memo
        memo[id(self._cache)] = self._cache
        return super().__deepcopy__(memo)

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex knows this class by."""
        return "SemcacheCachedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata of the wrapped LLM, except that it takes no tools here."""
        known: LLMMetadata = self._llm.metadata
        return known.model_copy(update={"is_function_calling_model": False})

    @property
    def faults(self) -> int:
        """Faults of the cache that were survived as misses."""
        return self._cache.faults

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Complete a prompt."""
        found, hit = self._found(CompletionResponse, *self._cache.find(self._prompt(prompt, formatted, kwargs)))
        if hit is not None:
            return hit
        response = self._llm.complete(prompt, formatted=formatted, **kwargs)
        self._cache.keep(found, self._body(response))
        return response

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer a conversation."""
        found, hit = self._found(ChatResponse, *self._cache.find(self._chat(messages, kwargs)))
        if hit is not None:
            return hit
        response = self._llm.chat(messages, **kwargs)
        self._cache.keep(found, self._body(response))
        return response

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Complete a prompt, piece by piece."""
        found, hit = self._found(CompletionResponse, *self._cache.find(self._prompt(prompt, formatted, kwargs)))
        if hit is not None:
            return _replay(hit)
        return self._relay(found, self._llm.stream_complete(prompt, formatted=formatted, **kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Answer a conversation, piece by piece."""
        found, hit = self._found(ChatResponse, *self._cache.find(self._chat(messages, kwargs)))
        if hit is not None:
            return _replay(hit)
        return self._relay(found, self._llm.stream_chat(messages, **kwargs))

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Do as `complete`, without blocking the running loop."""
        request = self._prompt(prompt, formatted, kwargs)
        found, hit = self._found(CompletionResponse, *await self._cache.afind(request))
        if hit is not None:
            return hit
        response = await self._llm.acomplete(prompt, formatted=formatted, **kwargs)
        await self._cache.akeep(found, self._body(response))
        return response

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Do as `chat`, without blocking the running loop."""
        found, hit = self._found(ChatResponse, *await self._cache.afind(self._chat(messages, kwargs)))
        if hit is not None:
            return hit
        response = await self._llm.achat(messages, **kwargs)
        await self._cache.akeep(found, self._body(response))
        return response

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Do as `stream_complete`, without blocking the running loop."""
        request = self._prompt(prompt, formatted, kwargs)
        found, hit = self._found(CompletionResponse, *await self._cache.afind(request))
        if hit is not None:
            return _areplay(hit)
        return self._arelay(found, await self._llm.astream_complete(prompt, formatted=formatted, **kwargs))

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Do as `stream_chat`, without blocking the running loop."""
        found, hit = self._found(ChatResponse, *await self._cache.afind(self._chat(messages, kwargs)))
        if hit is not None:
            return _areplay(hit)
        return self._arelay(found, await self._llm.astream_chat(messages, **kwargs))

    def _relay(self, found: Found | None, stream: Generator[R, None, None]) -> Generator[R, None, None]:
        said, ending, last = "", None, None
        for last in stream:
            said += last.delta or ""
            ending = _ending(last.raw, ending)
            yield last
        self._cache.keep(found, self._body(last, said, ending))

    async def _arelay(self, found: Found | None, stream: AsyncGenerator[R, None]) -> AsyncGenerator[R, None]:
        said, ending, last = "", None, None
        async for last in stream:
            said += last.delta or ""
            ending = _ending(last.raw, ending)
            yield last
        await self._cache.akeep(found, self._body(last, said, ending))

    def _prompt(self, prompt: str, formatted: bool, kwargs: dict[str, Any]) -> Request | None:
        return self._request("complete", [{"role": "user", "content": prompt}], {**kwargs, "formatted": formatted})

    def _chat(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> Request | None:
        try:
            turns = [_turn(message) for message in messages]
        except Exception as error:
            self._cache.failed("reading a conversation", error)
            return None
        return self._request("chat", turns, kwargs)

    def _request(self, kind: str, turns: list[dict[str, Any]], kwargs: dict[str, Any]) -> Request | None:
        llm = self._llm
        if getattr(llm, "track_previous_responses", False):
            # The conversation is at the provider, and not in the request.
            return None
        try:
            known: dict[str, Any] = {
                "llm": llm.model_dump(exclude=_SECRET),
                "class": str(type(llm)),
                "kind": kind,
                "call": kwargs,
            }
            known["prompts"] = [getattr(llm, name, None) for name in _PROMPTS]
            # Digested, for settings may hold secrets; what has no JSON costs a hit after a restart, never a wrong one.
            written = json.dumps(known, sort_keys=True, default=self._known)
            if runs_upstream(written):
                return None
            digest = sha256(written.encode()).hexdigest()
            temperature = kwargs.get("temperature", getattr(llm, "temperature", None))
            fields = {"llamaindex": digest, **({} if temperature is None else {"temperature": float(temperature)})}
            return self._cache.chat(turns, llm.metadata.model_name or "default", fields)
        except Exception as error:
            self._cache.failed("reading a call", error)
            return None

    def _found(self, kind: type[R], found: Found | None, serve: bool) -> tuple[Found | None, R | None]:
        if found is None or not serve:
            return found, None
        try:
            return found, kind.model_validate(kept_by("llamaindex", found))
        except Exception as error:
            self._cache.failed("reviving an answer", error)
            return found, None

    def _known(self, value: Any) -> Any:
        """Return a setting that JSON does not know, by its name and code where they say all about it.

        An address in memory would not survive a restart, and may be given to another object in a process that goes on.
        """
        name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '<')}"
        if isinstance(value, type) and hasattr(value, "model_json_schema"):
            return [name, value.model_json_schema()]
        if hasattr(value, "model_dump") and not isinstance(value, type):
            return value.model_dump()
        if "<" not in name and getattr(value, "__self__", None) is None:
            code = getattr(value, "__code__", None)
            defaults = [getattr(value, kind, None) for kind in ("__defaults__", "__kwdefaults__")]
            # Version 2, because later ones write the same code in several ways.
            return [name, code and sha256(marshal.dumps(code, 2)).hexdigest(), defaults]
        text = repr(value)
        return text if " at 0x" not in text and not isinstance(value, type) else self._mark(value)

    def _mark(self, value: Any) -> str:
        """Return a name for this very object that no other is ever given."""
        try:
            return self._marks.setdefault(value, uuid4().hex)
        except TypeError:
            return uuid4().hex

    def _body(
        self, response: ChatResponse | CompletionResponse | None, said: str | None = None, ending: Any = None
    ) -> dict[str, Any]:
        """Return a chat completion that carries the response; {}, which is never kept, when that is not whole."""
        try:
            if response is None or said not in (None, "", _text(response)):
                return {}
            dumped = json.loads(response.model_dump_json(exclude={"raw", "delta"}))
            type(response).model_validate(dumped)
        except Exception as error:
            self._cache.failed("writing down an answer", error)
            return {}
        message: dict[str, Any] = {"role": "assistant", "content": _text(response)}
        if isinstance(response, ChatResponse) and _calls(response.message):
            message["tool_calls"] = [{"type": "function"}]
        choice = {"index": 0, "message": message, "finish_reason": finish_reason(_ending(response.raw, ending))}
        return {
            "object": "chat.completion",
            "choices": [choice],
            "usage": dumped["additional_kwargs"],
            "llamaindex": dumped,
        }


def _turn(message: ChatMessage) -> dict[str, Any]:
    """Return a message as the chat dialect has it; a block that is no text is a part that has to be equal."""
    dumped = json.loads(message.model_dump_json())
    for block, dump in zip(message.blocks, dumped["blocks"], strict=True):
        path = getattr(block, "path", None)
        if path is not None:
            # The provider is sent what the file holds now.
            dump["path"] = sha256(Path(path).read_bytes()).hexdigest()
    parts = [
        {"type": "text", "text": block.text} if isinstance(block, TextBlock) else {**dump, "type": f"llamaindex-{n}"}
        for n, (block, dump) in enumerate(zip(message.blocks, dumped["blocks"], strict=True))
    ]
    extra = {"additional_kwargs": dumped["additional_kwargs"]} if dumped["additional_kwargs"] else {}
    return {"role": message.role.value, "content": parts or "", **extra}


def _calls(message: ChatMessage) -> bool:
    return bool(message.additional_kwargs.get("tool_calls")) or any(
        isinstance(block, ToolCallBlock) for block in message.blocks
    )


def _ending(raw: Any, before: Any = None) -> Any:
    """Return the provider's reason for the end of the answer, None where there is none.

    `before` is that of the earlier pieces of a stream: the last piece may tell the usage alone.
    """
    known = _fields(raw)
    for name in _NESTED:
        inner = known.get(name)
        known = {**known, **_fields(inner[0] if isinstance(inner, list) and inner else inner)}
    said = reason_in(known)
    if said is None and before is None and known.get("object") == "chat.completion.chunk":
        # Such a stream says how it ended, if it does.
        return "incomplete"
    return before if said is None else said


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else getattr(value, "__dict__", {})


def _text(response: ChatResponse | CompletionResponse) -> str:
    return response.text if isinstance(response, CompletionResponse) else response.message.content or ""


def _replay(response: R) -> Generator[R, None, None]:
    """Yield the response as it grows, the whole of it last."""
    said = ""
    *parts, last = pieces(_text(response)) or [""]
    for part in parts:
        said += part
        grown: dict[str, Any] = {"text": said}
        if isinstance(response, ChatResponse):
            grown = {"message": ChatMessage(role=response.message.role, content=said)}
        yield type(response)(**grown, delta=part)
    yield response.model_copy(update={"delta": last})


async def _areplay(response: R) -> AsyncGenerator[R, None]:
    for step in _replay(response):
        yield step
