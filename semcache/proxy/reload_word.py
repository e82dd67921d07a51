"""The word that has every worker of a store reload, and what came of it.

Invariant: requests are numbered in ascending order; a result is that of the newest request that a worker has done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from semcache.protocols import SavedStates

_REQUEST, _RESULT = "reload", "reloaded"


class ReloadStore(SavedStates, Protocol):
    """The part of a store by which workers pass the word."""


async def request_reload(store: ReloadStore, who: str) -> int:
    """Have every worker of a store reload; return the number of this request. Raises StoreError."""
    number = await last_request(store) + 1
    await store.learn(_REQUEST, number, msgspec.json.encode({"who": who}))
    return number


async def last_request(store: ReloadStore) -> int:
    """Return the number of the last request, 0 where there was none. Raises StoreError."""
    saved = await store.learned(_REQUEST)
    return saved[0] if saved is not None else 0


async def last_requester(store: ReloadStore) -> str:
    """Return who made the last request. Raises StoreError."""
    saved = await store.learned(_REQUEST)
    return str(msgspec.json.decode(saved[1])["who"]) if saved is not None else "nobody"


async def write_result(store: ReloadStore, number: int, result: Mapping[str, Any]) -> None:
    """Write what came of a request. Raises StoreError."""
    await store.learn(_RESULT, number, msgspec.json.encode(result))


async def result_of(store: ReloadStore, number: int) -> dict[str, Any] | None:
    """Return what came of a request, None until a worker has written it. Raises StoreError."""
    saved = await store.learned(_RESULT)
    if saved is None or saved[0] < number:
        return None
    result: dict[str, Any] = msgspec.json.decode(saved[1])
    return result
