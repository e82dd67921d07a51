"""A backend that is the local engine in this process: a miss is answered without a socket.

Knows how to open the engine's application and hand requests to it. The model is loaded with the first request, in a
thread. Invariant: requests that come while it is being loaded wait for the same one.
"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.engine.engine_config import EngineConfig
from semcache.errors import ConfigError, UpstreamError
from semcache.protocols import Outbound, Reply
from semcache.upstream.backends.inprocess import InProcessBackend

if TYPE_CHECKING:
    from semcache.engine.worker import Worker


class EngineBackend:
    """Answer with the model of `config`, whatever model a request names. `timeout` is seconds to a reply.

    Raises ConfigError where the extra is not installed or the folder holds no model.
    """

    def __init__(self, config: EngineConfig, *, timeout: float = 600.0) -> None:
        if find_spec("torch") is None or find_spec("transformers") is None:
            raise ConfigError("an upstream engine: needs torch and transformers: pip install 'semcache-llm[engine]'")
        folder = Path(config.model)
        if folder.is_dir() and not (folder / "config.json").is_file():
            raise ConfigError(f"an upstream engine: {config.model!r} holds no config.json")
        self._config, self._timeout = config, timeout
        self._opening: asyncio.Task[InProcessBackend] | None = None
        self._inner: InProcessBackend | None = None
        self._worker: Worker | None = None

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        return await (await self._opened()).send(outbound)

    async def close(self) -> None:
        """End what is still running, and the engine, once it is loaded if it is just being loaded."""
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._inner is not None:
            await self._inner.close()
        if self._worker is not None:
            await asyncio.to_thread(self._worker.close)

    async def _opened(self) -> InProcessBackend:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="semcache-engine-open")
        # A thread that loads a model cannot be cancelled: whoever leaves, the others go on waiting for it.
        return await asyncio.shield(self._opening)

    async def _open(self) -> InProcessBackend:
        from semcache.engine.startup import open_server

        try:
            server, self._worker = await asyncio.to_thread(open_server, self._config, any_model=True)
        except Exception as error:  # whatever torch and transformers raise where memory or a file is lacking
            self._opening = None  # the next request tries again
            raise UpstreamError(f"the engine cannot be opened: {error}") from error
        self._inner = InProcessBackend(server, timeout=self._timeout)
        return self._inner
