"""semcache as LiteLLM's cache of chat completions.

    import litellm
    from semcache import SemanticCache
    from semcache_litellm import LiteLLMCache

    litellm.cache = LiteLLMCache(SemanticCache.open(".semcache", judge="verifier"))
    litellm.completion(model="gpt-x", messages=[{"role": "user", "content": "What is a heap?"}])

Supported is `completion` and `acompletion`, streams included; LiteLLM replays a stream in chunks of its own making. Its
cache interface is not a public one (checked with litellm 1.80 to 1.110): where you can, point `api_base` at the proxy.
What has to be equal is LiteLLM's own key (parameters, model group, API key, team and organisation) without the messages
and without fields that do not change an answer; the messages are compared as everywhere. `cache={"ttl", "s-maxage",
"no-cache", "no-store", "namespace"}` is understood, and so are the other keys of the proxy's `cache` object.
Invariant: nothing here raises, and no answer is cut: LiteLLM sees a miss.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from litellm.caching.caching import Cache

from semcache import SemanticCache
from semcache.cache.found import Found
from semcache.dialects import provider_search
from semcache.types import Request
from semcache_failopen import FailOpen, Pending

# They do not change an answer, yet LiteLLM's key has them.
_VOLATILE = frozenset(
    {
        *("stream", "stream_options", "user", "safety_identifier", "store", "service_tier"),
        *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
    }
)
_TOLD = ("temperature", "tools", "user", "safety_identifier", "cache", "extra_body", *provider_search.FIELDS)


class LiteLLMCache(Cache):  # type: ignore[misc]
    """A cache for `litellm.cache` on an open `semcache.SemanticCache`; scope arguments as for its `lookup`.

    `options` are those of `litellm.Cache`, such as `mode` or `max_messages` (no limit here, unless you set one).
    """

    def __init__(
        self,
        cache: SemanticCache,
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "litellm",
        category: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**{"supported_call_types": ["completion", "acompletion"], "max_messages": None, **options})
        self._semcache = FailOpen(cache, tenant=tenant, user=user, namespace=namespace, category=category)
        self._pending = Pending()

    @property
    def faults(self) -> int:
        """Faults of the cache that were survived as misses."""
        return self._semcache.faults

    def get_cache(self, **kwargs: Any) -> dict[str, Any] | None:
        """Return the cached completion, None on a miss."""
        request = self._request(kwargs)
        return self._answer(request, *self._semcache.find(request))

    async def async_get_cache(self, **kwargs: Any) -> dict[str, Any] | None:
        """Do as `get_cache`, without blocking the running loop."""
        request = self._request(kwargs)
        return self._answer(request, *await self._semcache.afind(request))

    def add_cache(self, result: Any, **kwargs: Any) -> None:
        """Keep a completion, if the policy admits it."""
        request, body = self._request(kwargs), _body(result)
        if request is not None and body is not None:
            self._semcache.keep(self._pending.take(request.raw) or self._semcache.find(request)[0], body)

    async def async_add_cache(self, result: Any, **kwargs: Any) -> None:
        """Do as `add_cache`, without blocking the running loop."""
        request, body = self._request(kwargs), _body(result)
        if request is not None and body is not None:
            found = self._pending.take(request.raw) or (await self._semcache.afind(request))[0]
            await self._semcache.akeep(found, body)

    def get_cache_key(self, **kwargs: Any) -> str:
        """Return LiteLLM's key of everything but the messages; calls that differ in volatile fields alone share it."""
        key: str = super().get_cache_key(**{name: kwargs[name] for name in sorted(kwargs.keys() - _VOLATILE)})
        return key

    def _is_semantic_cache(self) -> bool:
        return True

    def _request(self, kwargs: Mapping[str, Any]) -> Request | None:
        """Return the request to look up; None when LiteLLM does not want it looked up, or it cannot be."""
        try:
            if self.should_use_cache(**kwargs) is not True or not isinstance(kwargs.get("messages"), list):
                return None
            told = {name: kwargs[name] for name in _TOLD if kwargs.get(name) is not None}
            beside = kwargs.get("extra_body")
            if isinstance(beside, dict):
                told |= {name: beside[name] for name in provider_search.FIELDS if beside.get(name) is not None}
            told["litellm"] = self.get_cache_key(**{name: kwargs[name] for name in kwargs if name != "cache_key"})
            if not (kwargs.get("metadata") or {}).get("model_group"):
                told["api_base"] = kwargs.get("api_base") or kwargs.get("base_url")
            messages = msgspec.to_builtins(kwargs["messages"], enc_hook=lambda value: value.model_dump())
        except Exception as error:
            self._semcache.failed("reading a call", error)
            return None
        return self._semcache.chat(messages, str(kwargs.get("model") or "default"), told)

    def _answer(self, request: Request | None, found: Found | None, serve: bool) -> dict[str, Any] | None:
        if request is None or found is None:
            return None
        if serve:
            return found.completion
        self._pending.put(request.raw, found)
        return None


def _body(result: Any) -> dict[str, Any] | None:
    """Return a result as a chat completion; LiteLLM gives a model or its JSON."""
    try:
        body = msgspec.json.decode(result if isinstance(result, str) else result.model_dump_json())
    except (AttributeError, TypeError, ValueError, msgspec.DecodeError):
        return None
    return body if isinstance(body, dict) else None
