"""The mistakes that end the start of `semcache serve`, found before a worker stumbles over them, and by the doctor.

Invariant: nothing is opened that stays open, and nothing is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.config.settings import Settings


def check_workers(settings: Settings) -> None:
    """Raise ConfigError if several workers were to share what only one can have."""
    if settings.server.workers > 1 and settings.store.url is not None and settings.store_url == "memory://":
        raise ConfigError(
            "server.workers: workers share a store, and memory:// cannot be shared; use a file or a server"
        )


def check_prices(settings: Settings) -> None:
    """Raise ConfigError if the file of prices cannot be read."""
    from semcache.storage.price_file import read_own_prices

    read_own_prices(settings.prices)


def check_judge(settings: Settings) -> None:
    """Raise ConfigError if the judge is to ask a model that is not named."""
    if settings.cache.judge == "llm" and not settings.judge.model:
        raise ConfigError("judge.model is not set: name the model that cache.judge=llm is to ask")


async def check_verifiers(settings: Settings, pack: Pack) -> None:
    """Raise ConfigError if a verifier cannot be set up."""
    from semcache.models.verifiers import open_verifiers

    await open_verifiers(settings, pack).close()
