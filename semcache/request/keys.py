"""The keys of a request: canonical bytes, keyed digests and the name of an index partition.

Pure. Knows no dialect: a dialect has already separated a request into `identity` and `text`. Ids of tool calls count by
the order in which they appear (`conversation.cache_key`).
Invariant: two requests get the same exact digest iff scope, endpoint, identity and text are equal as JSON values, and
the upstream is to keep both answers or neither; the same signature iff scope, endpoint and identity are equal. The
scope is inside every digest, so no lookup can cross it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from semcache.types import CacheKey, Request, Scope

_EXACT = 2.0**53
_encoder = msgspec.json.Encoder(order="sorted")


def canonical(identity: Mapping[str, Any]) -> bytes:
    """JSON with sorted keys and no white space, in which a top-level 1.0 is 1.

    Numbers nested deeper keep their spelling: a different spelling there costs a miss, never a wrong answer.
    """
    return _encoder.encode({name: plain_number(value) for name, value in identity.items()})


def plain_number(value: Any) -> Any:
    """Return the integer that a float spells (1.0 is 1), as far as floats count one by one; others as they are."""
    return int(value) if type(value) is float and value.is_integer() and abs(value) < _EXACT else value


def cache_key(request: Request, salt: bytes, *, alike: Mapping[str, Any] | None = None) -> CacheKey:
    """The key of a request; `salt` is the store's 32 random bytes, without which digests cannot be guessed.

    The signature is that of the identity `alike`, where another may stand for the request's own.
    """
    identity = canonical(request.identity)
    signed = identity if alike is None or alike is request.identity else canonical(alike)
    scope = _scope(request.scope)
    endpoint = request.endpoint.value.encode()
    text = request.text.encode("utf-8", "surrogatepass")
    signature = digest(salt, b"signature", scope, endpoint, signed)
    # An answer that the upstream does not keep cannot be built on: it is replayed to those alone who want none kept.
    unkept = [b"unkept"] if request.replay.get("store") is False else []
    exact = digest(salt, b"exact", scope, endpoint, identity, text, *unkept)
    return CacheKey(request.scope, signature, exact, request.text, _frame(scope, endpoint, identity, text))


def loose_signature(request: Request, rest: Mapping[str, Any], salt: bytes) -> bytes:
    """The signature of a request whose earlier turns may be in other words; `rest` is `conversation.TurnChain.rest`."""
    return digest(salt, b"context", _scope(request.scope), request.endpoint.value.encode(), canonical(rest))


def partitions_of(signature: bytes, categories: Iterable[str], embedder_id: str, salt: bytes) -> list[bytes]:
    """The 16-byte names of the index partitions in which requests of this signature may find neighbours, by category.

    What they have in common is digested once.
    """
    common = blake2b(_frame(b"shelf", signature), digest_size=32, key=salt)  # an older name, in every store
    names = []
    for category in categories:
        one = common.copy()
        one.update(_frame(category.encode(), embedder_id.encode()))
        names.append(one.digest()[:16])
    return names


def digest(salt: bytes, *parts: bytes) -> bytes:
    """32 bytes of BLAKE2b keyed with `salt` over the length-prefixed parts."""
    return blake2b(_frame(*parts), digest_size=32, key=salt).digest()


def unframe(framed: bytes) -> list[bytes]:
    """The parts that were framed together: of `CacheKey.canonical`, these are scope, endpoint, identity and text."""
    parts = []
    while framed:
        end = 8 + int.from_bytes(framed[:8], "big")
        parts.append(framed[8:end])
        framed = framed[end:]
    return parts


def _scope(scope: Scope) -> bytes:
    return _encoder.encode([scope.tenant, scope.user, scope.namespace])


def _frame(*parts: bytes) -> bytes:
    return b"".join([len(part).to_bytes(8, "big") + part for part in parts])
