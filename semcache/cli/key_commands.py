"""`semcache keys`: the API keys of a proxy, and the tenants they belong to.

Invariant: a plain key is printed once, on standard output, when it is made.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import StoreError
from semcache.runtime.moments import later

if TYPE_CHECKING:
    from collections.abc import Callable

    from semcache.config.settings import Settings
    from semcache.protocols import EntryStore
    from semcache.types import ApiKey

_MOST = 10**12  # of requests or tokens a minute, or dollars a day: more is no limit
Requests = Annotated[
    int | None, typer.Option("--requests", metavar="N", min=1, max=_MOST, help="Requests a minute that it may make.")
]
Tokens = Annotated[
    int | None, typer.Option("--tokens", metavar="N", min=1, max=_MOST, help="Tokens a minute that it may use.")
]
Dollars = Annotated[
    float | None,
    typer.Option("--dollars", metavar="X", min=0.0, max=_MOST, help="US dollars a day (UTC) that it may spend."),
]

app = typer.Typer(help="Make, list, limit and revoke API keys.", no_args_is_help=True)


@app.command()
def create(
    tenant: Annotated[str, typer.Option("--tenant", metavar="T", help="Callers with this key share one cache.")],
    name: Annotated[str, typer.Option("--name", metavar="N", help="A note for yourself.")] = "",
    trusted: Annotated[bool, typer.Option("--trusted", help="May name users, and sees ids and scores.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="May read and purge entries of every tenant.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Looks at what it may see, and changes nothing.")
    ] = False,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="The key is this user's alone.")] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires", metavar="WHEN", help="Its end: 90d from now, or 2027-01-31 or 2027-01-31T18:00 (UTC)."
        ),
    ] = None,
    requests: Requests = None,
    tokens: Tokens = None,
    dollars: Dollars = None,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Make a key and print it, this once."""
    end = None if expires is None else later(expires, time.time())

    def make(salt: bytes) -> tuple[str, ApiKey]:
        import secrets

        from semcache.proxy.auth import new_key

        plain, made = new_key(
            secrets.token_bytes, time.time(), tenant, name, salt, trusted=trusted, admin=admin, user=user
        )
        return plain, replace(
            made,
            requests_per_minute=requests,
            tokens_per_minute=tokens,
            dollars_per_day=dollars,
            read_only=read_only,
            expires=end,
        )

    plain, key = run_async(_create(settings_from(config, data=data), make))
    if as_json:
        output.as_json({**_view(key), "key": plain})
        return
    print(plain)
    until = "" if key.expires is None else f" until {output.moment(key.expires)}"
    output.note(
        f"{key.id} for tenant {key.tenant}{until}. The key is not shown again; running servers know it in a second."
    )


@app.command("list")
def list_(config: options.Config = None, data: options.Data = None, as_json: options.Json = False) -> None:
    """List the keys, revoked and expired ones included."""
    now = time.time()
    keys = run_async(_list(settings_from(config, data=data)))
    if as_json:
        output.as_json([_view(key) for key in keys])
        return
    if not keys:
        output.note("no key was ever made; `semcache keys create --tenant NAME` makes one")
        return
    rows = [
        [
            key.id,
            key.tenant,
            key.user or "",
            key.name,
            _rights(key),
            _limits(key),
            output.moment(key.created),
            output.moment(key.expires) + (" (expired)" if key.has_expired(now) else ""),
            output.moment(key.revoked),
        ]
        for key in keys
    ]
    output.table(["id", "tenant", "user", "name", "rights", "limits", "created", "expires", "revoked"], rows)


@app.command()
def limit(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `semcache keys list` shows it.")],
    requests: Requests = None,
    tokens: Tokens = None,
    dollars: Dollars = None,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Set the limits of a key; one that is left out is that of the settings. Running servers follow within a second."""
    done = run_async(_limit(settings_from(config, data=data), key_id, (requests, tokens, dollars)))
    if as_json:
        output.as_json({"id": key_id, "limited": done})
    else:
        output.note(f"{key_id} is limited" if done else f"error: no key {key_id!r}: see `semcache keys list`")
    if not done:
        raise typer.Exit(1)


@app.command()
def expire(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `semcache keys list` shows it.")],
    when: Annotated[
        str, typer.Argument(metavar="WHEN", help="7d from now, 2027-01-31 or 2027-01-31T18:00 (UTC), or never.")
    ],
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Set or move the end of a key, from which on it is refused; one that has expired is in force again."""
    end = None if when == "never" else later(when, time.time())
    done = run_async(_expire(settings_from(config, data=data), key_id, end))
    if as_json:
        output.as_json({"id": key_id, "expires": end, "changed": done})
    elif done:
        output.note(f"{key_id} {'has no end' if end is None else f'ends at {output.moment(end)}'}")
    else:
        output.note(f"error: no key {key_id!r} that is not revoked: see `semcache keys list`")
    if not done:
        raise typer.Exit(1)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `semcache keys list` shows it.")],
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Revoke a key; running servers refuse it within a second."""
    done = run_async(_revoke(settings_from(config, data=data), key_id))
    if as_json:
        output.as_json({"id": key_id, "revoked": done})
    else:
        output.note(
            f"{key_id} is revoked" if done else f"error: no key {key_id!r} is in force: see `semcache keys list`"
        )
    if not done:
        raise typer.Exit(1)


async def _create(settings: Settings, make: Callable[[bytes], tuple[str, ApiKey]]) -> tuple[str, ApiKey]:
    async with store_of(settings, create=True) as store:
        plain, key = make(store.salt)
        await store.add_key(key)
        await _note(
            store,
            "make key",
            key.tenant,
            key=key.id,
            rights=_rights(key) or "plain",
            user=key.user,
            expires=output.moment(key.expires) or None,
        )
    return plain, key


async def _list(settings: Settings) -> list[ApiKey]:
    async with store_of(settings) as store:
        return await store.keys()


async def _limit(settings: Settings, key_id: str, limits: tuple[int | None, int | None, float | None]) -> bool:
    from semcache.protocols import KeyLimitStore

    requests, tokens, dollars = limits
    async with store_of(settings) as store:
        if not isinstance(store, KeyLimitStore):
            raise StoreError(
                f"a store of kind {type(store).__name__} keeps no limits of keys: use those of the settings"
            )
        done = await store.limit_key(key_id, requests=requests, tokens=tokens, dollars=dollars)
        if done:
            [key] = [one for one in await store.keys() if one.id == key_id]
            await _note(store, "limit key", key.tenant, key=key_id, limits=_limits(key) or "those of the settings")
        return done


async def _expire(settings: Settings, key_id: str, end: float | None) -> bool:
    from semcache.protocols import KeyExpiryStore

    async with store_of(settings) as store:
        if not isinstance(store, KeyExpiryStore):
            raise StoreError(f"a store of kind {type(store).__name__} keeps no ends of keys: revoke them in time")
        done = await store.expire_key(key_id, expires=end)
        if done:
            [key] = [one for one in await store.keys() if one.id == key_id]
            await _note(store, "set end of key", key.tenant, key=key_id, expires=output.moment(end) or "never")
        return done


async def _revoke(settings: Settings, key_id: str) -> bool:
    async with store_of(settings) as store:
        done = await store.revoke_key(key_id, now=time.time())
        if done:
            [key] = [one for one in await store.keys() if one.id == key_id]
            await _note(store, "revoke key", key.tenant, key=key_id)
        return done


async def _note(store: EntryStore, action: str, tenant: str, **detail: str | None) -> None:
    """Write into the administrators' log, if the store keeps one."""
    from semcache.protocols import OperatorStore
    from semcache.types import AdminAction

    if isinstance(store, OperatorStore):
        said = {name: value for name, value in detail.items() if value is not None}
        await store.act(AdminAction(time.time(), output.user(), action, tenant, said))


def _rights(key: ApiKey) -> str:
    return " ".join(right.replace("_", "-") for right in ("trusted", "admin", "read_only") if getattr(key, right))


_LIMITS = ("requests_per_minute", "tokens_per_minute", "dollars_per_day")
_SHOWN = ("id", "tenant", "name", "user", "trusted", "admin", "read_only", "created", "revoked", "expires", *_LIMITS)


def _limits(key: ApiKey) -> str:
    shown = zip(_LIMITS, ("requests/min", "tokens/min", "$/day"), strict=True)
    return " ".join(f"{value:g} {unit}" for name, unit in shown if (value := getattr(key, name)) is not None)


def _view(key: ApiKey) -> dict[str, object]:
    return {name: getattr(key, name) for name in _SHOWN}
