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
