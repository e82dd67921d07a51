"""A chat model behind a backend, which answers one question at a time.

Knows the chat dialect and `protocols.Backend`, not the questions. Invariant: every failure on the way is an
UpstreamError, and the request depends on model, instructions and text alone.
"""

from __future__ import annotations

import asyncio

import msgspec

from semcache.dialects import dialects
from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.models.language_model import whole_reply
from semcache.protocols import Backend
from semcache.types import Endpoint

_LONGEST = 1 << 20


class ChatModel:
    """The model `model` behind `backend`, asked for at most `patience` seconds a question."""

    def __init__(self, backend: Backend, model: str, *, patience: float = 60.0) -> None:
        self._backend = backend
        self._model = model
        self._patience = patience

    async def __call__(self, instructions: str, text: str) -> str:
        """Return the answer of the model. Raises UpstreamError or UpstreamTimeout."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        body = msgspec.json.encode({"model": self._model, "messages": messages})
        try:
            async with asyncio.timeout(self._patience):
                status, raw = await whole_reply(
                    self._backend, body, whose=f"the reply of {self._model!r}", longest=_LONGEST
                )
        except TimeoutError as error:
            raise UpstreamTimeout(f"{self._model!r} said nothing within {self._patience} s") from error
        if status != 200:
            raise UpstreamError(f"the backend of {self._model!r} answered with status {status}")
        return dialects()[Endpoint.CHAT].parse(raw).text
