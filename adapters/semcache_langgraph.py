"""semcache as LangGraph's node cache: results of nodes in a store that processes share, kept for a time.

    from langgraph.graph import START, StateGraph
    from langgraph.types import CachePolicy
    from semcache import SemanticCache
    from semcache_langgraph import NodeCache

    builder.add_node("summarise", summarise, cache_policy=CachePolicy(ttl=3600))
    graph = builder.compile(cache=NodeCache(SemanticCache.open(".semcache"), tenant="acme"))

LangGraph hashes what a node was given before it asks a cache, so a node's result is served for the very same input
alone; what a node asks a model may be paraphrased, and is served by `semcache_langchain` or the proxy. The time to live
is the policy's, or the pack's where that is shorter or there is none.
Invariant: `get` and `set` never raise; nothing is unpickled; a tenant is served its own results alone.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from langgraph.cache.base import BaseCache, FullKey, Namespace
from langgraph.checkpoint.serde.base import SerializerProtocol

from semcache import AsyncSemanticCache, SemanticCache
from semcache.cache.found import Found
from semcache.types import Request
from semcache_failopen import FailOpen

_MODEL, _FIELD = "langgraph", "langgraph"


class NodeCache(BaseCache[Any]):
    """The node cache of a graph on an open cache; an `AsyncSemanticCache` serves asynchronous graphs of its own loop.

    `tenant`, `user`, `namespace` and `category` are those of `semcache.SemanticCache.lookup`. Results that LangGraph's
    serializer cannot write without pickle are not kept.
    """

    def __init__(
        self,
        cache: SemanticCache | AsyncSemanticCache,
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "langgraph",
        category: str | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._cache = FailOpen(cache, tenant=tenant, user=user, namespace=namespace, category=category)

    @property
    def faults(self) -> int:
        """Faults of the cache that were survived as misses."""
        return self._cache.faults

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """Return what is known of these keys."""
        found = {}
        for key in keys:
            value = self._value(*self._cache.find(self._request(key, None)))
            if value is not None:
                found[key] = value[0]
        return found

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """Do as `get`, without blocking the running loop."""
        found = {}
        for key in keys:
            value = self._value(*await self._cache.afind(self._request(key, None)))
            if value is not None:
                found[key] = value[0]
        return found

    def set(self, pairs: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """Keep values, each for so many seconds."""
        for key, (value, ttl) in pairs.items():
            body = self._body(value)
            if body is not None:
                self._cache.keep(self._cache.find(self._request(key, ttl))[0], body)

    async def aset(self, pairs: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """Do as `set`, without blocking the running loop."""
        for key, (value, ttl) in pairs.items():
            body = self._body(value)
            if body is not None:
                await self._cache.akeep((await self._cache.afind(self._request(key, ttl)))[0], body)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Delete the results of these nodes, or all. Raises StoreError."""
        for where in self._where(namespaces):
            self._cache.clear(**where)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Do as `clear`, without blocking the running loop."""
        for where in self._where(namespaces):
            await self._cache.aclear(**where)

    def _request(self, key: FullKey, ttl: int | None) -> Request | None:
        namespace, name = key
        said = [{"role": "user", "content": f"node {' '.join(namespace)}"}]
        request = self._cache.chat(said, _MODEL, {_FIELD: [list(namespace), name]})
        if request is None:
            return None
        controls = replace(request.controls, ttl=ttl, tags=(_tag(namespace),), no_cache=ttl is not None)
        # Without a text there is nothing that could be like it.
        return replace(request, text="", controls=controls)

    def _value(self, found: Found | None, serve: bool) -> tuple[Any] | None:
        if found is None or not serve:
            return None
        try:
            kind, data = (found.completion or {})[_FIELD]
            return (self.serde.loads_typed((kind, b64decode(data))),)
        except Exception as error:
            self._cache.failed("reading a result", error)
            return None

    def _body(self, value: Any) -> dict[str, Any] | None:
        try:
            kind, data = self.serde.dumps_typed(value)
        except Exception as error:
            self._cache.failed("writing down a result", error)
            return None
        choice = {"index": 0, "message": {"role": "assistant", "content": kind}, "finish_reason": "stop"}
        return {"object": "chat.completion", "choices": [choice], _FIELD: [kind, b64encode(data).decode()]}

    @staticmethod
    def _where(namespaces: Sequence[Namespace] | None) -> list[dict[str, Any]]:
        return [{}] if namespaces is None else [{"tag": _tag(namespace)} for namespace in namespaces]


def _tag(namespace: Namespace) -> str:
    return f"node-{sha256(json.dumps(list(namespace)).encode()).hexdigest()[:16]}"
