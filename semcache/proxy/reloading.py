"""Reloading of packs, prices and limits while requests are served: the files, what has changed in them, and its log.

Knows settings, packs and files; nothing of routes, nor of other workers. Invariant: whatever is wrong with a file is
found before anything changes, and said.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from semcache.config.packs import Pack, load
from semcache.config.settings import KEYS, Settings
from semcache.errors import SemcacheError
from semcache.learning.changed_promises import promises
from semcache.protocols import OperatorStore
from semcache.storage.price_file import read_own_prices
from semcache.storage.prices import TokenRates
from semcache.types import AdminAction

_LIMITS = "limits."
_log = logging.getLogger(__name__)
_HOT = ("policies", "prices", "cache.target")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The files of a generation as they were read.

    `number` is that of the last reload that had been asked for when they were, None if nobody knows.
    """

    settings: Settings
    pack: Pack
    prices: Mapping[str, TokenRates]
    number: int | None = None


def read_files(settings: Settings) -> Loaded:
    """Read pack and prices, and find every mistake in them. Raises ConfigError."""
    pack = load(settings.policies)
    if settings.cache.target is not None:
        pack = pack.with_target(settings.cache.target)
    return Loaded(settings, pack, read_own_prices(settings.prices))


def differences(old: Loaded, new: Loaded) -> dict[str, Any]:
    """Return what a reload changes, what it has relearned, and which settings need a restart, as JSON has it."""
    were, are = (dict(_values(one.settings)) for one in (old, new))
    other = [key for key in are if were[key] != are[key] and key not in _HOT and not key.startswith(_LIMITS)]
    changed = []
    if old.pack != new.pack:
        changed.append("policies")
    if old.prices != new.prices:
        changed.append("prices")
    if old.settings.limits != new.settings.limits:
        changed.append("limits")
    return {
        "policies": new.pack.name,
        "changed": changed,
        "relearned": _relearned(promises(old.pack), promises(new.pack)),
        "needs_restart": other,
    }


def said(result: Mapping[str, Any]) -> list[str]:
    """Return what a reload has changed, in words: a line or some."""
    lines = [", ".join(result["changed"]) or "nothing has changed"]
    if result["relearned"]:
        anew = ", ".join(result["relearned"])
        lines.append(f"learned anew, because their strategy, target, guards or the like changed: {anew}")
    if result["needs_restart"]:
        lines.append(f"changed too, and in force after a restart: {', '.join(result['needs_restart'])}")
    return lines


def is_new(old: Loaded, new: Loaded) -> bool:
    """Return True if a generation must be opened for what was read."""
    return old.pack != new.pack or old.prices != new.prices


def not_reloaded(error: Exception) -> str:
    """Log why nothing was reloaded, and return it; what nobody foresaw with its traceback."""
    foreseen = isinstance(error, SemcacheError)
    _log.error("not reloaded, everything is as it was: %s", error if foreseen else repr(error), exc_info=not foreseen)
    return str(error) if foreseen else f"{type(error).__name__}: {error}"


def reloaded(who: str, result: Mapping[str, Any]) -> None:
    """Log what was reloaded."""
    _log.info("reloaded for %s: %s", who, "; ".join(said(result)))


async def write_action(store: object, who: str, result: Mapping[str, Any]) -> None:
    """Write down for administrators what was reloaded, where the store has their log. Raises StoreError."""
    if isinstance(store, OperatorStore):
        name = "reload" if "error" not in result else "reload failed"
        await store.act(AdminAction(time.time(), who, name, None, dict(result)))


def _values(settings: Settings) -> list[tuple[str, Any]]:
    # As they are, and not as they are shown: a key that is rotated has changed.
    return [(key, reduce(getattr, key.split("."), settings)) for key in KEYS]


def _relearned(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return sorted(name for name, promised in new.items() if name in old and old[name] != promised)
