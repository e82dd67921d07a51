"""Statistics read from a store, for commands that run without a server, or beside one.

Nothing is written. Invariant: what is said of a category is what a server would say that opens this store.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from semcache.cli import output
from semcache.cli.open_store import store_of

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.config.settings import Settings
    from semcache.protocols import LabelStore, SavedStates, Threshold

    class _LearnedStore(LabelStore, SavedStates, Protocol):
        """A store with the label log and the states that were learned from it."""


_FEW = 5  # findings of a kind that are shown


async def read_statistics(settings: Settings) -> dict[str, Any]:
    """Return the statistics in the store. Raises ConfigError or StoreError."""
    from semcache.cache.disk_bound import SizedStore
    from semcache.cache.prompt_sample import ignored_in_service, varying_prompts
    from semcache.config.packs import load
    from semcache.storage.accounting import statistics

    pack = load(settings.policies)
    if settings.cache.target is not None:
        pack = pack.with_target(settings.cache.target)
    async with store_of(settings) as store:
        threshold = await learned_strategies(store, pack, settings)
        found = statistics(pack, await store.tally(), await store.counts(), threshold)
        ignored = await ignored_in_service(store)
        varying = await varying_prompts(store, pack.ignore_in_system if ignored is None else ignored)
        said = [one.told() for one in varying[:_FEW]]
        if isinstance(store, SizedStore):
            found["disk"] = {"bytes": await store.bytes_used(), "most": settings.store.max_bytes}
        return found | {"unpriced_models": await unpriced_models(settings, store, pack), "varying_prompts": said}


async def unpriced_models(settings: Settings, store: object, pack: Pack) -> list[str]:
    """Return the models that were called within a month and have no price. Raises ConfigError or StoreError."""
    from semcache.protocols import OperatorStore
    from semcache.storage.price_file import read_prices

    if not isinstance(store, OperatorStore) or is_free(settings):
        return []
    prices = read_prices(settings.prices).naming(pack.models)
    found = await store.unpriced(since=time.time() - 30 * 86400.0)
    return [model for model in found if model and not prices.knows(model)]


def is_free(settings: Settings) -> bool:
    """Return True for an upstream in this process, whose calls nobody charges for."""
    return not settings.upstream.replicas and settings.upstream.url.partition(":")[0] in ("echo", "engine")


async def learned_strategies(store: _LearnedStore, pack: Pack, settings: Settings) -> Threshold:
    """Return the strategies of a pack with what the store has learned; nothing is written. Raises StoreError.

    They are those that a server would have that opens this store.
    """
    import msgspec

    from semcache.cache.opening_from_settings import learning_terms
    from semcache.learning import label_log
    from semcache.learning.changed_promises import ChangedPromises, promises
    from semcache.learning.restored_log import restored_log
    from semcache.runtime.telemetry import Meter

    saved = await store.learned(label_log.STRATEGY)
    if saved is not None:
        with suppress(msgspec.MsgspecError, TypeError, LookupError):
            if ChangedPromises(msgspec.json.decode(saved[1])["promises"], promises(pack)):
                output.note("the server has learned under another pack or target: name its own, or ask it with --url")
    return (await restored_log(store, learning_terms(settings, pack), Meter())).strategy


async def read_usage(settings: Settings, by: str, since: float, tenant: str | None) -> list[dict[str, Any]]:
    """Return net savings over time, as the store has them. Raises InvalidArgument or StoreError."""
    from semcache.cache.operating import usage_of

    async with store_of(settings) as store:
        return await usage_of(store, by, since=since, until=time.time() + 3600.0, tenant=tenant)
