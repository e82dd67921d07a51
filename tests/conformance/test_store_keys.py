"""Conformance of `KeyStore`: the API keys that map callers to tenants."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semcache.errors import StoreError
from semcache.types import ApiKey
from tests.conformance.stores import every
from tests.storage.stores.values import NOW, digest


@every
async def test_keys_are_kept_and_revoked_once(store):
    first = ApiKey("k1", digest("one"), "acme", "first", NOW, trusted=True)
    second = ApiKey("k2", digest("two"), "beta", "second", NOW + 1, admin=True)
    await store.add_key(second)
    await store.add_key(first)
    assert await store.keys() == [first, second]
    with pytest.raises(StoreError):
        await store.add_key(replace(first, digest=digest("three")))
    with pytest.raises(StoreError):
        await store.add_key(replace(first, id="k3"))
    assert await store.revoke_key("k1", now=NOW + 5)
    assert not await store.revoke_key("k1", now=NOW + 6)
    assert not await store.revoke_key("k9", now=NOW + 6)
    assert await store.keys() == [replace(first, revoked=NOW + 5), second]


@every
async def test_the_limits_of_a_key_are_kept_and_changed(store):
    plain = ApiKey("k1", digest("one"), "acme", "first", NOW)
    bound = ApiKey("k2", digest("two"), "acme", "", NOW + 1, requests_per_minute=60, dollars_per_day=2.5)
    await store.add_key(plain)
    await store.add_key(bound)
    assert await store.keys() == [plain, bound]
    assert await store.limit_key("k1", requests=None, tokens=9_000_000_000, dollars=None)
    assert await store.limit_key("k2", requests=None, tokens=None, dollars=None)
    assert not await store.limit_key("k9", requests=1, tokens=None, dollars=None)
    assert await store.keys() == [
        replace(plain, tokens_per_minute=9_000_000_000),
        replace(bound, requests_per_minute=None, dollars_per_day=None),
    ]
