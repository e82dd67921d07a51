"""`semcache reseal`: finish a rotation of the keys that encrypt entries.

Invariant: an entry is never made unreadable, and one that was is counted and said; stopping half-way leaves the rest
under its old key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

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
    done, left = run_async(_reseal(settings))
    if as_json:
        output.as_json({"resealed": done, "unreadable": left})
    else:
        output.note(f"{done} entries encrypted anew")
        if left:
            output.note(
                f"error: {left} could not be opened and were left as they are: they are damaged, or their key is not "
                "among store.seal_keys; add it, or purge what no longer matters"
            )
    if left:
        raise typer.Exit(1)


async def _reseal(settings: Settings) -> tuple[int, int]:
    async with store_of(settings) as store:
        done = await store.reseal()
        return done, getattr(store, "unreadable", 0)
