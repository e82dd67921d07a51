"""A chat model behind a backend, which answers one question at a time.

Knows the chat dialect and `protocols.Backend`, not the questions. Invariant: every failure on the way is an
UpstreamError, and the request depends on model, instructions and text alone. A provider that says to come later is
asked again when it says, for some minutes: nobody waits for these answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from semcache.dialects import dialects
from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.models.language_model import headed_reply
from semcache.protocols import Backend
from semcache.runtime.retry_after import asked_pause
from semcache.types import Endpoint

_LONGEST = 1 << 20
_AWAY = frozenset({429, 500, 502, 503, 504, 529})
_WAITED = 300.0  # seconds that a question may be put off
_LONGEST_PAUSE = 60.0
_PATIENCE = 60.0  # seconds, of one question and try


class ChatModel:
    """The model `model` behind `backend`, asked for at most a minute a question and try."""

    def __init__(
        self,
        backend: Backend,
        model: str,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._backend = backend
        self._model = model
        self._sleep = sleep

    async def __call__(self, instructions: str, text: str) -> str:
        """Return the answer of the model. Raises UpstreamError or UpstreamTimeout."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        body = msgspec.json.encode({"model": self._model, "messages": messages})
        waited, pause = 0.0, 1.0
        while True:
            status, headers, raw = await self._asked(body)
            wait = min(max(asked_pause(headers), pause), _LONGEST_PAUSE)
            if status not in _AWAY or waited + wait > _WAITED:
                break
            await self._sleep(wait)
            waited, pause = waited + wait, 2 * pause
        if status != 200:
            raise UpstreamError(f"the backend of {self._model!r} answered with status {status}: {raw[:200]!r}")
        return dialects()[Endpoint.CHAT].parse(raw).text

    async def _asked(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await headed_reply(self._backend, body, whose=f"the reply of {self._model!r}", longest=_LONGEST)
        except TimeoutError as error:
            raise UpstreamTimeout(f"{self._model!r} said nothing within {_PATIENCE:g} s") from error
