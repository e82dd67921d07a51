"""The digest of what a process serves by: settings, pack, prices and embedder, for comparing replicas.

Knows settings and packs as values, no routes. Invariant: no secret goes into it, nor what may differ from one machine
to another, such as ports and folders; files count by their content and not by where they lie.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from semcache.proxy.reloading import Loaded

# What each machine has of its own, and the names of what counts by its content or its id.
_OWN = frozenset(
    {
        "data",
        "server.host",
        "server.port",
        "server.workers",
        "server.max_connections",
        "log.level",
        "policies",
        "prices",
        "embedder",
    }
)


def configuration_digest(loaded: Loaded, embedder_id: str) -> str:
    """Return twelve hexadecimal digits, the same for two processes that serve by the same."""
    # Secrets are masked there, also those within URLs.
    settings = {key: value for key, value, _ in loaded.settings.explain() if key not in _OWN}
    pack = msgspec.structs.replace(loaded.pack, source="")
    # In their order: of patterns and of rules, the first that matches counts.
    prices = [(pattern, msgspec.to_builtins(rates)) for pattern, rates in loaded.prices.items()]
    return blake2b(msgspec.json.encode([settings, pack, prices, embedder_id]), digest_size=6).hexdigest()
