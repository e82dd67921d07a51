"""Request headers of agents: the agent, the session and the run that a request belongs to.

Pure. Invariant: no agent can name itself into the templates of a namespace.
"""

from __future__ import annotations

from urllib.parse import quote

from semcache.proxy.asgi import HeaderList, header_text
from semcache.types import Request

SESSION = b"x-semcache-session"
AGENT = b"x-semcache-agent"
RUN = b"x-semcache-run"
WHY = b"x-semcache-plan-why"


def header(headers: HeaderList, name: bytes) -> str:
    """Return the value of a header, "" without it."""
    return next((header_text(value) for key, value in headers if key == name), "")


def agent_of(request: Request, headers: HeaderList) -> str:
    """Return the agent whose templates a request may see: its namespace, user where the pack says so, and agent.

    Without a namespace there is no slash in it, so that no agent can name itself into one.
    """
    scope, agent = request.scope, header(headers, AGENT)
    inner = [scope.namespace, scope.user or ""] if scope.namespace or scope.user is not None else []
    return "/".join(quote(one, safe=" @:+") for one in (*inner, agent))
