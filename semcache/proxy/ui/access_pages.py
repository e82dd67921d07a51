"""Tenants and keys: who uses the cache, what each saved last week, and keys that are made, ended and revoked.

Invariant: a plain key is shown once, in the reply that made it, and kept nowhere.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace

from starlette.responses import Response

from semcache.errors import InvalidArgument, StoreError
from semcache.protocols import KeyExpiryStore
from semcache.proxy.auth import new_key
from semcache.proxy.ui.visit import PageRoute, Right, Visit, not_found
from semcache.runtime.moments import iso, later
from semcache.types import ApiKey, Selector

_NEVER = "never"
_WEEK = 7 * 86400.0
_FIELDS = ("tenant", "rights", "user", "name", "expires", "read_only")  # of the form that makes a key


async def access(visit: Visit, made: str = "", note: str = "", refusal: str = "") -> Response:
    """Show tenants and keys. With a refusal the form keeps what was typed."""
    usage, keys, entries = await asyncio.gather(
        visit.cache.operating.usage("tenant", since=visit.now - _WEEK),
        visit.cache.api_keys(),
        visit.cache.operating.tenants(),
    )
    used = {row["tenant"]: row for row in usage[:-1]}
    names = sorted({*used, *(key.tenant for key in keys), *entries})
    tenants = [
        {"name": name, "usage": used.get(name), "keys": sum(k.tenant == name and k.in_force(visit.now) for k in keys)}
        for name in names
    ]
    tenants.sort(key=lambda one: -(one["usage"] or {}).get("net_usd", 0.0))
    ended = {key.id for key in keys if not key.in_force(visit.now)}
    return visit.page(
        "access.html", tenants=tenants, total=usage[-1], keys=keys[::-1], ended=ended, made=made, note=note,
        refusal=refusal, typed=visit.asked if refusal else dict.fromkeys(_FIELDS, "").get,
        trusts_anybody=visit.parts.auth.trusts_anybody, status=400 if refusal else 200,
    )  # fmt: skip


async def make_key(visit: Visit) -> Response:
    """Create a key and show it, this once."""
    rights = visit.choice("rights", ("plain", "trusted", "admin"), "plain")
    user = visit.asked("user") or None
    try:
        expires = _end(visit)
        plain, key = new_key(
            secrets.token_bytes, visit.now, visit.asked("tenant"), visit.asked("name"), visit.cache.salt,
            trusted=rights == "trusted", admin=rights == "admin", user=user,
        )  # fmt: skip
    except InvalidArgument as error:
        return await access(visit, refusal=str(error))
    key = replace(key, read_only=visit.asked("read_only") == "yes", expires=expires)
    await visit.cache.components.store.add_key(key)
    rights = rights + (" read-only" if key.read_only else "")
    bound = {} if user is None else {"user": user}
    if expires is not None:
        bound["expires"] = _told(expires)
    await visit.cache.operating.act("make key", who=visit.who, tenant=key.tenant, key=key.id, rights=rights, **bound)
    await _renew(visit)
    return await access(visit, plain, f"{key.id} for tenant {key.tenant}")


async def end_key(visit: Visit) -> Response:
    """Set or move the end of a key."""
    key = await _chosen(visit)
    if not visit.asked("expires"):
        return _ask_end(visit, key)
    store = visit.cache.components.store
    try:
        expires = _end(visit)
    except InvalidArgument as error:
        return _ask_end(visit, key, str(error))
    if not isinstance(store, KeyExpiryStore):
        return visit.back("/access", "This store keeps no ends of keys: revoke them in time.", bad=True)
    if not await store.expire_key(key.id, expires=expires):
        return visit.back("/access", f"{key.id} is revoked: it has no other end.", bad=True)
    end = _told(expires)
    await visit.cache.operating.act("set end of key", who=visit.who, tenant=key.tenant, key=key.id, expires=end)
    await _renew(visit)
    return visit.back("/access", f"{key.id} has no end." if expires is None else f"{key.id} is in force until {end}.")


async def revoke_key(visit: Visit) -> Response:
    """Revoke a key."""
    key = await _chosen(visit)
    key_id = key.id
    if visit.asked("sure") != "yes":
        return visit.page("revoke.html", key=key, own=visit.visitor.caller.key_id == key_id)
    if not await visit.cache.components.store.revoke_key(key_id, now=visit.now):
        return visit.back("/access", f"{key_id} was revoked already.", bad=True)
    await visit.cache.operating.act("revoke key", who=visit.who, tenant=key.tenant, key=key_id)
    await _renew(visit)
    return visit.back("/access", f"{key_id} is revoked: every worker refuses it within a second.")


def _ask_end(visit: Visit, key: ApiKey, refusal: str = "") -> Response:
    own = visit.visitor.caller.key_id == key.id
    return visit.page("end_key.html", key=key, own=own, refusal=refusal, status=400 if refusal else 200)


async def _chosen(visit: Visit) -> ApiKey:
    key_id = visit.asked("key")
    for key in await visit.cache.api_keys():
        if key.id == key_id:
            return key
    raise not_found(f"key {key_id[:64]!r}")


def _end(visit: Visit) -> float | None:
    """The end that was typed, None for none. Raises InvalidArgument."""
    typed = visit.asked("expires")
    return later(typed, visit.now) if typed and typed.lower() != _NEVER else None


def _told(expires: float | None) -> str:
    return _NEVER if expires is None else iso(expires)


async def _renew(visit: Visit) -> None:
    """Have this worker know the keys of now at once; the others know them within a second."""
    auth = visit.parts.auth
    async with auth.reading:
        auth.replace(await visit.cache.api_keys())


async def erase_tenant(visit: Visit) -> Response:
    """Erase everything stored for a tenant, for good."""
    # As they were sent: without the spaces around it, the name may be another tenant's.
    tenant, typed = ("".join(visit.form.get(name, ())[:1]) for name in ("erase", "typed"))
    where = Selector(tenant=tenant)
    if not tenant:
        raise not_found("tenant without a name")
    meant = await visit.cache.invalidate(where, dry_run=True)
    if typed != tenant:
        return visit.page("erase.html", erased=tenant, meant=len(meant), wrong=bool(typed))
    try:
        ids, _ = await visit.cache.operating.delete(where, who=visit.who, forever=True)
    except StoreError as error:
        return visit.back("/access", f"Not everything was erased: {error}. Try again.", bad=True)
    return visit.back("/access", f"Everything stored for {tenant} was erased, including {len(ids)} entries.")


ROUTES = (
    PageRoute("/access", access, Right.ADMIN),
    PageRoute("/access/keys", make_key, Right.ADMIN_CHANGES, post=True),
    PageRoute("/access/end", end_key, Right.ADMIN_CHANGES, post=True),
    PageRoute("/access/revoke", revoke_key, Right.ADMIN_CHANGES, post=True),
    PageRoute("/access/erase", erase_tenant, Right.ADMIN_CHANGES, post=True),
)
