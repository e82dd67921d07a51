"""The parts of a cache that outlive its policy pack: store, embedder and metrics.

Reloading a pack opens a second cache beside the first one, with the same parts. Invariant: the parts are closed when
the last cache that uses them is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.priors import read_priors
from semcache.models.embedders import open_embedder
from semcache.models.installed import prior_of, spec_of
from semcache.protocols import Embedder, EntryStore
from semcache.runtime.telemetry import Meter
from semcache.storage.stores import open_store
from semcache.storage.stores.seal import Seal


class CommonParts:
    """Store, embedder with the priors that came with it, and metrics."""

    def __init__(self, store: EntryStore, embedder: Embedder, priors: Mapping[str, BeliefPrior], meter: Meter) -> None:
        self.store, self.embedder, self.priors, self.meter = store, embedder, priors, meter
        self._holders = 0
        self._open = False

    @classmethod
    def of(cls, data: str, folder: Path | None, embedder: str | Embedder, seal_keys: str | None) -> CommonParts:
        """Make the parts of a cache in a data folder, or in the store of a URL. Raises ConfigError or EmbedError."""
        seal = Seal.parse(seal_keys) if seal_keys else None
        store = open_store(data if folder is None else str(folder / "semcache.db"), seal=seal)
        if not isinstance(embedder, str):
            return cls(store, embedder, {}, Meter())
        spec = spec_of(embedder, folder)
        return cls(store, open_embedder(spec), read_priors(prior_of(spec)), Meter())

    def hold(self) -> None:
        """Hold the parts for one more cache."""
        self._holders += 1

    async def open(self) -> None:
        """Open the store, unless it is. Raises StoreError."""
        if not self._open:
            await self.store.open()
            self._open = True

    async def release(self) -> None:
        """Hold them for one cache less; the last closes them."""
        self._holders -= 1
        if self._holders == 0:
            try:
                await self.store.close()
            finally:
                await self.embedder.close()
