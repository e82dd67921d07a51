"""Opening settings, the store or a whole cache for a command.

Invariant: a store or cache that was opened here is closed when the block ends; only commands that fill a cache make
one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from semcache.errors import StoreError

if TYPE_CHECKING:
    from semcache.agents.library import AsyncSemanticCache
    from semcache.config.settings import Settings
    from semcache.protocols import EntryStore
    from semcache.storage.stores.seal import Seal

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own."""
    import asyncio

    return asyncio.run(work)


def settings_from(config: Path | None, **options: Any) -> Settings:
    """Return the settings of this command; `options` maps dotted keys ("server.port") to values, None if not given.

    Raises ConfigError.
    """
    from semcache.config.settings import Settings, find_file

    env = dict(os.environ)
    return Settings.load(options, env, config or find_file(env, Path.cwd()))


def seal_of(settings: Settings) -> Seal | None:
    """Return the ring of keys that seals entries. Raises ConfigError."""
    from semcache.storage.stores.seal import Seal

    keys = settings.store.seal_keys
    return Seal.parse(keys.get_secret_value()) if keys else None


def database(settings: Settings) -> str:
    """Return the argument of `open_store`: a URL, or the plain path of the file in the data folder."""
    return settings.store_url if settings.store.url else str(settings.data / "semcache.db")


def exists(settings: Settings) -> bool:
    """Return True if the store was ever made, as far as a look at the disk can tell."""
    if settings.store.url is None:
        return (settings.data / "semcache.db").is_file()
    return settings.store_url != "memory://"


@asynccontextmanager
async def store_of(settings: Settings, *, create: bool = False) -> AsyncIterator[EntryStore]:
    """Open the store. Raises ConfigError, or StoreError, also where there is none and `create` is False."""
    from semcache.storage.stores import open_store

    if not create and not exists(settings):
        raise StoreError(
            f"there is no cache in {settings.data}: name its folder with --data, or start one with `semcache serve`"
        )
    store = open_store(database(settings), seal=seal_of(settings))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def cache_of(
    settings: Settings, clock: Callable[[], float], *, looks: bool = False
) -> AsyncIterator[AsyncSemanticCache]:
    """Open the whole cache, embedder and index included; one that only `looks` is left as it is. Raises SemcacheError.

    What servers of the same store owe a judgement waits for them: this command may have another judge, or clock.
    """
    from semcache.agents.library import AsyncSemanticCache
    from semcache.cache.opening_from_settings import open_from

    async with AsyncSemanticCache(await open_from(settings, clock=clock, looks=looks)) as cache:
        cache.components.learner.leave_queue()
        yield cache
