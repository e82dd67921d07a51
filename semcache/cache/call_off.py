"""Which calls may be called off: those that have no effect upstream except their answer.

Knows the fields of requests that have effects. Pure. Invariant: a request that cannot be read is not called off.
"""

from __future__ import annotations

from typing import Any

import msgspec

from semcache.types import Endpoint, Request


class _Effects(msgspec.Struct):
    """The fields of a body that have effects upstream."""

    store: Any = None
    background: Any = None
    tools: Any = None
    functions: Any = None
    web_search_options: Any = None
    mcp_servers: Any = None


def may_be_called_off(request: Request) -> bool:
    """Return True if a call for this request has no effect upstream except its answer, so that it may be cancelled.

    A response is stored upstream unless the request says otherwise; any other answer only if the request asks for that.
    """
    if request.traits.tools or request.traits.stateful or request.endpoint is Endpoint.EMBEDDINGS:
        return False
    try:
        fields = msgspec.json.decode(request.raw, type=_Effects)
    except msgspec.MsgspecError:
        return False
    if any([fields.tools, fields.functions, fields.background, fields.web_search_options, fields.mcp_servers]):
        return False
    return fields.store is False or (request.endpoint is not Endpoint.RESPONSES and not fields.store)
