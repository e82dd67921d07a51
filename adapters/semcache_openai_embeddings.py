"""Embeddings of the wrapped `openai` client: every input is cached on its own, and those that are missing are asked.

Part of `semcache_openai`, which sends what this makes. Knows the embeddings format, what a request is known by, and the
cache; sends nothing.
Invariant: a reply has one item per input, in the order asked; an item keeps the bytes of its vector; the same input
alone is ever served, never one that only means the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semcache.cache.found import Found
from semcache.dialects import embeddings
from semcache.dialects.headers import controls_from
from semcache.dialects.vary_headers import beside_body
from semcache.errors import IntegrityError, RequestRejected
from semcache.types import Assembled, Request, Usage
from semcache_failopen import FailOpen

if TYPE_CHECKING:
    import httpx2

__all__ = ["EmbeddingBatch", "identity_at", "is_embeddings", "read_batch"]

# The address whose answers are those of every request that names none, as in logs that were imported.
_USUAL_BASE = "https://api.openai.com/v1"
_PATH = "/embeddings"


def is_embeddings(path: str) -> bool:
    """Return True for the path of the embeddings endpoint."""
    return path.endswith(_PATH)


def identity_at(sent: httpx2.Request, suffix: str, identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the identity of a request whose path ends with `suffix`: the address, query and headers count as well."""
    url = sent.url
    port = "" if url.port is None else f":{url.port}"
    base = f"{url.scheme}://{url.host}{port}{url.path.removesuffix(suffix)}"
    headers = [(name.lower(), value) for name, value in sent.headers.raw]
    return beside_body(identity, query=url.query, headers=headers, base="" if base == _USUAL_BASE else base)


def read_batch(sent: httpx2.Request, cache: FailOpen) -> EmbeddingBatch | None:
    """Return the inputs of a request, None when it is not for the cache.

    Raises RequestRejected for a wish about the cache that cannot be understood.
    """
    try:
        asked = embeddings.read(sent.content)
        controls = controls_from(sent.headers.multi_items(), asked.controls)
    except RequestRejected as error:
        if (error.param or "").startswith("cache"):
            raise
        return None
    controls = replace(controls, category=controls.category or cache.category)
    asked = replace(asked, controls=controls, identity=identity_at(sent, _PATH, asked.identity))
    scope = cache.scope(asked.user, controls.namespace)
    requests = [
        replace(embeddings.request_for(asked, index), scope=scope, controls=controls)
        for index in range(len(asked.inputs))
    ]
    return EmbeddingBatch(asked, requests)


class EmbeddingBatch:
    """A request for several inputs. `took` is given the look-up of each of `requests`."""

    def __init__(self, asked: embeddings.EmbeddingsRequest, requests: Sequence[Request]) -> None:
        self.requests = requests
        self._asked = asked
        self._found: list[Found | None] = []
        self._learned = 0
        self._items: dict[int, tuple[bytes, Usage]] = {}
        self._hits: set[int] = set()

    def took(self, found: Found | None, serve: bool) -> None:
        """Take the look-up of the next input."""
        if serve and found is not None and found.entry is not None:
            # One that cannot be read is asked for anew.
            with suppress(IntegrityError):
                embeddings.merge([found.entry.body], "", found.entry.usage)
                self._items[len(self._found)] = found.entry.body, found.entry.usage
                self._hits.add(len(self._found))
        self._found.append(found)

    @property
    def asked(self) -> bool:
        """True once the provider has been asked for some."""
        return self._learned > 0

    @property
    def served(self) -> bool:
        """True if the cache had some."""
        return len(self._hits) > 0

    @property
    def missing(self) -> list[int]:
        """The places of the inputs that have to be asked for."""
        return [index for index in range(len(self.requests)) if index not in self._items]

    @property
    def only_if_cached(self) -> bool:
        """True if the request wants no other answer than the cache's."""
        return self._asked.controls.only_if_cached

    @property
    def whole(self) -> bytes:
        """The body that asks for every input."""
        return self._asked.raw

    def body(self) -> bytes:
        """Return the body that asks for what is missing."""
        return embeddings.subset(self._asked, self.missing)

    def learn(self, reply: bytes) -> list[tuple[Found, Assembled]] | None:
        """Take the reply to `body`; return what is to be kept, None where it is no answer to these inputs."""
        missing = self.missing
        items = embeddings.split(reply, len(missing))
        if items is None:
            return None
        shares = embeddings.shares(self._asked, missing, embeddings.usage_of(reply))
        kept = []
        self._learned = len(missing)
        for index, item, share in zip(missing, items, shares, strict=True):
            self._items[index] = item, share
            found = self._found[index]
            if found is not None:
                kept.append((found, Assembled(item, "", complete=True, usage=share)))
        return kept

    def reply(self) -> bytes:
        """Return the answer to all inputs, once none is missing."""
        items = [self._items[index] for index in range(len(self.requests))]
        used = Usage(sum(usage.prompt_tokens for _, usage in items))
        return embeddings.merge([item for item, _ in items], self._asked.model, used)
