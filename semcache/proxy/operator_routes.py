"""The routes of operators: requests and their reasons, usage over time, explaining, undoing, the administrators' log.

Turns HTTP requests into calls of `Operating`. Invariant: a caller who is not an administrator sees and undoes what
belongs to its own tenant alone; prompts are shown to trusted callers.
"""

# Annotations are evaluated here, not kept as strings: FastAPI could not find the local dependencies by name.
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from semcache.cache.explaining import explain
from semcache.cache.found import chat_request
from semcache.cache.response_cache import ResponseCache
from semcache.errors import ConfigError, InvalidArgument, RequestRejected
from semcache.proxy.auth import Authenticator, Caller
from semcache.proxy.permissions import REFUSALS, Permissions, own
from semcache.runtime.durations import duration
from semcache.types import Outcome, Scope, Why, public_id


class ExplainBody(BaseModel):
    """A request that is asked about and not sent: a prompt, or the messages of a chat."""

    model_config = ConfigDict(extra="forbid")
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    model: str = "default"
    tenant: str | None = None
    user: str | None = None
    namespace: str = ""
    category: str | None = None
    params: Annotated[dict[str, Any], Field(description="further fields of the chat request")] = {}


class UndoBody(BaseModel):
    """The name that an invalidation gave to what it deleted."""

    model_config = ConfigDict(extra="forbid")
    undo: str


def operator_routes(cache: ResponseCache, auth: Authenticator) -> APIRouter:
    """Return the routes under `/semcache` that operators look back with."""
    router = APIRouter(prefix="/semcache", tags=["semcache"], responses=REFUSALS)
    callers = Permissions(auth)
    operating = cache.operating

    @router.get("/requests")
    async def requests(
        who: Annotated[Caller, Depends(callers.trusted)],
        tenant: str | None = None,
        outcome: Outcome | None = None,
        why: Why | None = None,
        before: float | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    ) -> dict[str, Any]:
        """List recent requests with the reasons for their outcomes, newest first; a sample where there are many."""
        found = await operating.requests(tenant=own(who, tenant), outcome=outcome, why=why, before=before, limit=limit)
        return {"requests": found, "next": found[-1]["at"] if len(found) == limit else None}

    @router.get("/requests/{request_id}")
    async def request(request_id: str, who: Annotated[Caller, Depends(callers.trusted)]) -> dict[str, Any]:
        """Say why one request was served or not."""
        found = await operating.request(request_id, tenant=own(who, None))
        if found is None:
            raise RequestRejected(404, f"no request {request_id[:64]!r}", code="not_found", param="id")
        return found

    @router.post("/explain")
    async def explained(body: ExplainBody, who: Annotated[Caller, Depends(callers.trusted)]) -> dict[str, Any]:
        """Say what would happen to a request now, and why, without serving it or learning from it."""
        if (body.prompt is None) == (body.messages is None):
            raise _refused("give one of prompt and messages", "prompt")
        user = body.user if cache.pack.share == "user" else None
        scope = Scope(own(who, body.tenant) or who.tenant, user, body.namespace)
        try:
            asked = chat_request(body.prompt or body.messages or [], body.model, body.params, scope, body.category)
        except InvalidArgument as error:
            raise _refused(str(error), None) from error
        return await explain(cache, asked)

    @router.get("/usage")
    async def usage(
        who: Annotated[Caller, Depends(callers.known)],
        by: Literal["tenant", "model", "category", "day", "hour"] = "tenant",
        since: Annotated[str, Query(description="an age: 90s, 15m, 12h, 7d, 2w")] = "7d",
        tenant: str | None = None,
    ) -> dict[str, Any]:
        """Requests, hits and what they saved, net of audits, judges and verifiers, over whole hours."""
        try:
            start = cache.clock() - duration(since)
        except ConfigError as error:
            raise _refused(str(error), "since") from error
        rows = await operating.usage(by, since=start, tenant=own(who, tenant))
        return {"by": by, "since": start, "rows": rows}

    @router.get("/deleted")
    async def deleted(who: Annotated[Caller, Depends(callers.trusted)]) -> dict[str, Any]:
        """List the deletions that can be undone."""
        return {"deleted": await operating.deleted(tenant=own(who, None))}

    @router.post("/undo")
    async def undo(body: UndoBody, who: Annotated[Caller, Depends(callers.trusted)]) -> dict[str, Any]:
        """Bring back what was deleted."""
        ids = await operating.undo(body.undo, who=name_of(who), tenant=own(who, None))
        return {"ids": [public_id(one) for one in ids], "count": len(ids)}

    @router.get("/actions")
    async def actions(
        _: Annotated[Caller, Depends(callers.administrator)],
        tenant: str | None = None,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    ) -> dict[str, Any]:
        """Show what administrators did, newest first."""
        return {"actions": await operating.actions(tenant=tenant, limit=limit)}

    return router


def name_of(caller: Caller) -> str:
    """Return a caller as the administrators' log has it."""
    return f"key {caller.key_id}" if caller.key_id else f"HTTP ({caller.tenant})"


def _refused(message: str, param: str | None) -> RequestRejected:
    return RequestRejected(400, message, code="invalid_request_error", param=param)
