"""The way from a host library into a cache, on which a fault of the cache is a miss, counted and logged.

What the adapters share. Knows requests and answers, no host library; imports none.
Invariant: `find` and `keep` return whatever happens inside the cache, and log no prompt. An answer that was picked for
an audit counts as not found, so that the host asks its model and `keep` compares the two.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Coroutine, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from semcache import AsyncSemanticCache, SemanticCache
from semcache.cache.found import Found, chat_request, check_scope
from semcache.errors import InvalidArgument, RequestRejected
from semcache.types import Assembled, Outcome, Request, Scope, Selector

T = TypeVar("T")
_CUT = (
    *("length", "max_length", "max_tokens", "max_new_tokens", "max_output_tokens", "token_limit", "model_length"),
    *("model_context_window", "model_context_window_exceeded", "time_limit", "timeout", "pause_turn"),
    *("incomplete", "in_progress"),
    *("abort", "aborted", "cancelled", "user_cancel", "error", "error_limit", "failed", "load", "other", "language"),
    *("malformed_function_call", "malformed_model_output", "malformed_tool_use", "unexpected_tool_call"),
)
_FILTERED = (
    *("content_filter", "content_filtered", "safety", "image_safety", "refusal", "recitation", "blocklist", "spii"),
    *("prohibited_content", "guardrail_intervened", "error_toxic"),
)
_ENDINGS = {**dict.fromkeys(_CUT, "length"), **dict.fromkeys(_FILTERED, "content_filter")}
# The Responses API of OpenAI has a status alone.
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
# In the settings and arguments of a model, written as JSON or by `repr`: what has its provider search or run something,
# whose answer is of that moment.
_RUN_UPSTREAM = re.compile(
    r"""["']type["']: ?["'](?:web_search|web_fetch|file_search|code_interpreter|code_execution|image_generation)"""
    r"""|["']type["']: ?["'](?:mcp["']|openrouter:|\$web_search)"""
    r"""|["'](?:web_search(?:_options)?|google_?[sS]earch(?:_retrieval|Retrieval)?|url_?[cC]ontext|code_?[eE]xecution"""
    r"""|search_parameters)["'](?:: ?|, )\{"""
    r"""|["'](?:enable_(?:web_)?search|web_search)["'](?:: ?|, )[tT]rue"""
    r"""|["']plugins["'](?:: ?|, )\[[^]]*["']id["']: ?["']web"""
    r"""|:online["']"""
)
# Reasoning as hosts keep it, and where its provider's signature stands: in the block or inside one of its fields.
_REASONING = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning_content"))
_SIGNATURES = ("signature", "data", "encrypted_content", "redacted_content", "thinking_signature", "id")
_INSIDE = ("extras", "additional_information", "reasoning_content")
_BOUND_FIELDS = frozenset(
    ("thinking_blocks", "reasoning_details", "thinking_signature", "__gemini_function_call_thought_signatures__")
)
_log = logging.getLogger("semcache.adapters")


def kept_by(host: str, found: Found) -> Any:
    """Return what an adapter has kept of an answer under this name; KeyError where there is nothing.

    Reasoning that its provider has signed is left out of an answer to other words: the provider takes it back in the
    conversation that it was made in alone.
    """
    kept = (found.completion or {})[host]
    return kept if found.outcome is Outcome.EXACT else _unsigned(kept)


def _unsigned(kept: Any) -> Any:
    if isinstance(kept, list):
        return [_unsigned(one) for one in kept if not (isinstance(one, dict) and _is_signed_reasoning(one))]
    if not isinstance(kept, dict):
        return kept
    signed = {name for name in kept if name in _BOUND_FIELDS or (name == "reasoning" and _is_signed(kept[name]))}
    if kept.get("type") == "text":
        # Gemini signs the text itself, LangChain keeps that beside it.
        signed |= {name for name in ("extras",) if _is_signed(kept.get(name))}
    return {name: _unsigned(value) for name, value in kept.items() if name not in signed}


def _is_signed_reasoning(part: Mapping[str, Any]) -> bool:
    kinds = {part.get("type"), part.get("block_type")}
    return bool(_REASONING & kinds) and (_is_signed(part) or any(_is_signed(part.get(name)) for name in _INSIDE))


def _is_signed(part: Any) -> bool:
    return isinstance(part, dict) and any(part.get(name) for name in _SIGNATURES)


class Pending:
    """Look-ups that have no answer yet, for hosts that ask and record in two unconnected calls.

    Safe to use from any thread. Several of one key are taken newest first. Holds the newest `limit`: a host whose model
    failed never comes back.
    """

    def __init__(self, limit: int = 1024) -> None:
        self._limit, self._held = limit, 0
        self._found: OrderedDict[Hashable, list[Found]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, key: Hashable, found: Found) -> None:
        """Remember a look-up under `key`."""
        with self._lock:
            self._found.setdefault(key, []).append(found)
            self._found.move_to_end(key)
            self._held += 1
            if self._held > self._limit:
                self._pop(next(iter(self._found)), 0)

    def take(self, key: Hashable) -> Found | None:
        """Return and forget a look-up of `key`."""
        with self._lock:
            return self._pop(key, -1) if key in self._found else None

    def _pop(self, key: Hashable, place: int) -> Found:
        found = self._found[key].pop(place)
        if not self._found[key]:
            del self._found[key]
        self._held -= 1
        return found


class FailOpen:
    """A cache and the scope in which one adapter uses it.

    `cache` is a `SemanticCache`, which any thread and any event loop may use, or an `AsyncSemanticCache`, for the
    asynchronous methods in that cache's own loop alone. The user counts only under a pack that shares per user. Raises
    InvalidArgument for a folder in place of an open cache, for a category that the pack does not have, and for a
    tenant, user or namespace that is no string.
    """

    def __init__(
        self,
        cache: SemanticCache | AsyncSemanticCache,
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "",
        category: str | None = None,
    ) -> None:
        if isinstance(cache, (str, os.PathLike)):
            raise InvalidArgument(f"{cache!r} is no open cache: give SemanticCache.open({cache!r})")
        self._cache = cache
        self._inner = cache.inner if isinstance(cache, SemanticCache) else cache
        self._check(category)
        check_scope(Scope(tenant, user, namespace))
        self._faults = self._inner.meter.faults.labels("adapter")
        self._tenant, self._user, self._namespace, self.category = tenant, user, namespace, category
        self.faults = 0

    def chat(self, messages: Sequence[Mapping[str, Any]], model: str, fields: Mapping[str, Any]) -> Request | None:
        """Return the chat request with these messages, None when they cannot be read.

        `fields` are further fields of a chat request, such as `user`, `temperature` or the `cache` object; those that
        the chat dialect does not know have to be equal for an answer to be shared.
        """
        try:
            request = chat_request(messages, model, fields, self.scope(None), self.category)
            self._check(request.controls.category)
            scope = self.scope(request.user, request.controls.namespace)
            return replace(request, scope=scope, asker=self.asker(request.user))
        except Exception as error:
            self.failed("reading a request", error)
            return None

    def scope(self, user: str | None, namespace: str | None = None) -> Scope:
        """Return the scope of a request that names this user and namespace."""
        private = self._inner.pack.share == "user"
        return Scope(self._tenant, (user or self._user) if private else None, namespace or self._namespace)

    def asker(self, user: str | None) -> str | None:
        """Return who asks, as a quorum counts."""
        return user or self._user

    def find(self, request: Request | None) -> tuple[Found | None, bool]:
        """Look a request up: return the result (None after a fault), and whether its answer is to be served.

        Raises RequestRejected alone, for a category that the request names and the pack does not have.
        """
        if request is None:
            return None, False
        try:
            return _served(self._wait(self._inner.find(request)))
        except RequestRejected:
            raise
        except Exception as error:
            self.failed("lookup", error)
            return None, False

    async def afind(self, request: Request | None) -> tuple[Found | None, bool]:
        """Do as `find`, without blocking the running loop."""
        if request is None:
            return None, False
        try:
            return _served(await self._route(self._inner.find(request)))
        except RequestRejected:
            raise
        except Exception as error:
            self.failed("lookup", error)
            return None, False

    def keep(self, found: Found | None, answer: Mapping[str, Any]) -> None:
        """Give the cache the model's answer to a look-up: a body in its dialect, {} for none."""
        if found is not None and answer:
            try:
                self._wait(self._inner.record(found, answer))
            except Exception as error:
                self.failed("recording", error)

    async def akeep(self, found: Found | None, answer: Mapping[str, Any]) -> None:
        """Do as `keep`, without blocking the running loop."""
        if found is not None and answer:
            try:
                await self._route(self._inner.record(found, answer))
            except Exception as error:
                self.failed("recording", error)

    def keep_answer(self, found: Found, answer: Assembled) -> None:
        """Give the cache an answer that was read already."""
        try:
            self._wait(self._admit(found, answer))
        except Exception as error:
            self.failed("recording", error)

    async def akeep_answer(self, found: Found, answer: Assembled) -> None:
        """Do as `keep_answer`, without blocking the running loop."""
        try:
            await self._route(self._admit(found, answer))
        except Exception as error:
            self.failed("recording", error)

    async def _admit(self, found: Found, answer: Assembled) -> None:
        cache, lookup = self._inner, found.lookup
        admitted = await cache.admit(lookup, answer)
        cache.note(lookup, replace(cache.outcome(lookup, 200, 0.0, answer=answer, stored=admitted.label), count=0))

    def clear(self, *, user: str | None = None, **where: Any) -> list[int]:
        """Delete the entries of this scope that `where` (fields of `Selector`) selects, or all.

        Under a pack that shares per user these are the entries of `user`, or else of the user that this cache is for.
        Raises StoreError, and InvalidArgument where such a pack is not told whose they are: nobody means everybody's.
        """
        return self._wait(self._inner.invalidate(self._selector(user, where)))

    async def aclear(self, *, user: str | None = None, **where: Any) -> list[int]:
        """Do as `clear`, without blocking the running loop."""
        return await self._route(self._inner.invalidate(self._selector(user, where)))

    def _selector(self, user: str | None, where: Mapping[str, Any]) -> Selector:
        whose = self.scope(user).user
        if whose is None and self._inner.pack.share == "user":
            raise InvalidArgument("the policy pack shares answers per user: say whose to delete, clear(user=...)")
        return Selector(tenant=self._tenant, user=user or whose, namespace=self._namespace, **where)

    def _check(self, category: str | None) -> None:
        known = self._inner.pack.categories
        if category is not None and category not in known:
            raise InvalidArgument(
                f"category {category!r} is not in the policy pack; it has: {', '.join(sorted(known))}"
            )

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        facade = self._facade(work)
        if facade is None:
            work.close()
            raise InvalidArgument("synchronous calls need a semcache.SemanticCache, not an AsyncSemanticCache")
        return facade.run(work)

    async def _route(self, work: Coroutine[Any, Any, T]) -> T:
        facade = self._facade(work)
        if facade is None:
            return await work
        try:
            return await asyncio.wrap_future(facade.submit(work))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # The cache was closed meanwhile, and nobody wanted the caller's task to end.
            raise InvalidArgument("the cache was closed during the call") from error

    def _facade(self, work: Coroutine[Any, Any, T]) -> SemanticCache | None:
        """Return the facade whose loop has to do the work, if any. Raises InvalidArgument when it is closed."""
        if not isinstance(self._cache, SemanticCache):
            return None
        try:
            _ = self._cache.inner
        except InvalidArgument:
            work.close()
            raise
        return self._cache

    def failed(self, doing: str, error: Exception) -> None:
        """Count and log a fault that was survived."""
        self.faults += 1
        self._faults.inc()
        _log.warning("%s failed, going on without the cache: %s: %s", doing, type(error).__name__, error)


def reason_in(fields: Mapping[str, Any]) -> Any:
    """Return a provider's reason for the end of an answer among these fields, None where there is none."""
    said = ((name, fields.get(name)) for name in _REASONS)
    # A status that is a number is HTTP's.
    return next((value for name, value in said if value and (name != "status" or isinstance(value, str))), None)


def finish_reason(said: object) -> str:
    """Translate a provider's finish reason into OpenAI's; an unknown name, or none, is a normal end.

    Protocol buffers have numbers, of which 1 alone is a normal end; what is neither name nor number is none.
    """
    named = getattr(said, "name", said)
    if named is None:
        return "stop"
    if not isinstance(named, str) or named.isdecimal():
        return "stop" if named in (1, "1") else "length"
    return _ENDINGS.get(named.lower().rpartition(".")[2], "stop")


def runs_upstream(settings: str) -> bool:
    """Return True if settings of a model, written as JSON or by `repr`, have its provider search or run things."""
    return _RUN_UPSTREAM.search(settings) is not None


def _served(found: Found) -> tuple[Found, bool]:
    return found, found.entry is not None and not found.audit
