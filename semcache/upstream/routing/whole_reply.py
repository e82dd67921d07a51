"""A reply read whole, up to a bound: what a server says about itself, or about a prompt.

Knows backends alone. Invariant: no more is held than the bound and one chunk, whatever the server sends, and the reply
is closed.
"""

from __future__ import annotations

from semcache.protocols import Backend, Outbound


async def whole_reply(backend: Backend, outbound: Outbound, most: int) -> tuple[int, bytes | None]:
    """The status and the body of a reply, None for a body of more than `most` bytes. Raises UpstreamError."""
    reply = await backend.send(outbound)
    try:
        body = bytearray()
        async for chunk in reply.chunks():
            body += chunk
            if len(body) > most:
                return reply.status, None
        return reply.status, bytes(body)
    finally:
        await reply.close()
