"""`semcache reseal`: finish a rotation of the keys that encrypt entries.

Invariant: an entry is never left unreadable; stopping half-way leaves the rest under its old key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.config.settings import Settings


def reseal(config: options.Config = None, data: options.Data = None, as_json: options.Json = False) -> None:
    """Encrypt the entries of older keys, or of none, with the newest of store.seal_keys."""
    settings = settings_from(config, data=data)
    if settings.store.seal_keys is None:
        raise ConfigError("store.seal_keys names no key to encrypt with: set SEMCACHE_STORE__SEAL_KEYS")
    done = run_async(_reseal(settings))
    if as_json:
        output.as_json({"resealed": done})
    else:
        output.note(f"{done} entries encrypted anew")


async def _reseal(settings: Settings) -> int:
    async with store_of(settings) as store:
        return await store.reseal()
