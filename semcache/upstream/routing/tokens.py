"""The token ids of a prompt, as the server that will compute it cuts them.

Knows `POST /tokenize` of vLLM, SGLang and the local engine. Invariant: what goes wrong here costs a better choice of a
replica, and never more than `patience` seconds; it is not an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from semcache.errors import UpstreamError
from semcache.protocols import Backend, Outbound
from semcache.upstream.routing.prompts import RoutedPrompt
from semcache.upstream.routing.whole_reply import whole_reply

_SENT = ("model", "messages", "tools", "chat_template", "chat_template_kwargs", "prompt")
_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "content-type"})
_PATIENCE = 2.0  # seconds
_LEAST_BYTES, _BYTES_PER_BYTE = 2**20, 16  # of a reply, which holds a number for each byte of a prompt at most


class _Answer(msgspec.Struct):
    tokens: list[int]


class ServerTokens:
    """Asks the server at `backend`, whose paths start at its root."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def ids(self, prompt: RoutedPrompt, outbound: Outbound) -> Sequence[int] | None:
        """The prompt's token ids; None where the server cannot say, or there is no single prompt."""
        given = prompt.fields.get("prompt")
        try:
            if given is not None and bytes(given).startswith(b"["):
                return msgspec.json.decode(bytes(given), type=list[int])
            if given is None and "messages" not in prompt.fields:
                return None
            sent = {name: prompt.fields[name] for name in _SENT if name in prompt.fields}
            headers = [(name, value) for name, value in outbound.headers if name.lower() in _HEADERS]
            async with asyncio.timeout(_PATIENCE):
                asked = Outbound("POST", "/tokenize", headers, msgspec.json.encode(sent))
                most = _LEAST_BYTES + _BYTES_PER_BYTE * len(asked.body)
                status, body = await whole_reply(self._backend, asked, most)
            return msgspec.json.decode(body, type=_Answer).tokens if status == 200 and body is not None else None
        except (msgspec.DecodeError, UnicodeDecodeError, UpstreamError, TimeoutError):
            return None

    async def close(self) -> None:
        """Close its connections."""
        await self._backend.close()
