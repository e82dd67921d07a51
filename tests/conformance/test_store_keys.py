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


@every
async def test_the_end_of_a_key_is_kept_and_moved_until_it_is_revoked(store):
    first = ApiKey("k1", digest("one"), "acme", "first", NOW, expires=NOW + 10.5)
    second = ApiKey("k2", digest("two"), "acme", "second", NOW + 1)
    await store.add_key(first)
    await store.add_key(second)
    assert await store.keys() == [first, second]
    assert await store.expire_key("k1", expires=None)
    assert await store.expire_key("k2", expires=NOW + 99)
    assert await store.keys() == [replace(first, expires=None), replace(second, expires=NOW + 99)]
    assert not await store.expire_key("k9", expires=None)
    await store.revoke_key("k2", now=NOW + 2)
    assert not await store.expire_key("k2", expires=None)


@every
async def test_a_key_that_has_expired_is_noted_once(store):
    await store.add_key(ApiKey("k1", digest("one"), "acme", "", NOW, expires=NOW + 10))
    await store.add_key(ApiKey("k2", digest("two"), "acme", "", NOW, expires=NOW + 10))
    await store.add_key(ApiKey("k3", digest("three"), "acme", "", NOW, expires=NOW - 100))
    await store.add_key(ApiKey("k4", digest("four"), "acme", "", NOW))
    await store.revoke_key("k2", now=NOW + 1)
    await store.note_expired(since=NOW - 50, now=NOW + 9)
    assert await store.actions() == []
    for later in (10, 70):
        await store.note_expired(since=NOW - 50, now=NOW + later)
    [noted] = await store.actions()
    assert (noted.action, noted.at, noted.tenant, noted.detail) == ("key expired", NOW + 10, "acme", {"key": "k1"})
    await store.expire_key("k1", expires=NOW + 200)
    await store.note_expired(since=NOW, now=NOW + 201)
    assert [one.at for one in await store.actions()] == [NOW + 200, NOW + 10]
