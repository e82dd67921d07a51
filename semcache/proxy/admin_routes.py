"""The administrative API: feedback, invalidation, entries, statistics.

Turns HTTP requests into calls of the cache. Invariant: a caller who is not an administrator sees and touches entries of
its own tenant alone, and cannot tell an entry of another tenant from one that does not exist.
"""

# Annotations are evaluated here, not kept as strings: FastAPI could not find the local dependencies by name.
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from semcache.cache.response_cache import ResponseCache
from semcache.errors import ConfigError, RequestRejected
from semcache.proxy.auth import Authenticator, Caller
from semcache.proxy.operator_routes import name_of
from semcache.proxy.permissions import REFUSALS, Permissions, own
from semcache.runtime.durations import duration
from semcache.types import Selector, parse_id, public_id


class FeedbackBody(BaseModel):
    """A verdict of a user on a served answer, or the withdrawal of reports that it was wrong."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, Field(description="the entry's id: the header x-semcache-id of the reply")]
    correct: bool | None = None
    withdraw: Annotated[bool, Field(description="take back the reports that it was wrong")] = False


class InvalidateBody(BaseModel):
    """The entries to delete: those that match every field given."""

    model_config = ConfigDict(extra="forbid")
    ids: Annotated[list[str] | None, Field(max_length=10_000)] = None
    tag: str | None = None
    tenant: str | None = None
    user: str | None = None
    namespace: str | None = None
    category: str | None = None
    model: str | None = None
    source: str | None = None
    older_than: Annotated[str | None, Field(description="an age: 90s, 15m, 12h, 7d, 2w")] = None
    everything: bool = False
    dry_run: bool = False
    forever: Annotated[bool, Field(description="erase it, with all that was recorded of it")] = False


class EntryView(BaseModel):
    """An entry without its answer."""

    id: str
    tenant: str
    user: str | None
    namespace: str
    endpoint: str
    model: str
    category: str
    prompt: str
    created: float
    expires: float
    tags: list[str]
    source: str
    semantic: bool


class EntryDetail(EntryView):
    """An entry with its answer, in the dialect it was asked in."""

    answer: Any


class Page(BaseModel):
    """A slice of a listing; `next` is the `after` of the next slice, None at the end."""

    entries: list[EntryView]
    next: str | None


class Deleted(BaseModel):
    """The entries that were deleted, or would be."""

    ids: list[str]
    count: int
    dry_run: bool


def admin_routes(cache: ResponseCache, auth: Authenticator) -> APIRouter:
    """Return the routes under `/semcache`."""
    router = APIRouter(prefix="/semcache", tags=["semcache"], responses=REFUSALS)

    callers = Permissions(auth)

    @router.post("/feedback")
    async def feedback(body: FeedbackBody, who: Annotated[Caller, Depends(callers.known)]) -> dict[str, bool]:
        """Say that a served answer was right or wrong, or withdraw the reports that it was wrong."""
        if body.withdraw == (body.correct is not None):
            raise RequestRejected(400, "give one of correct and withdraw", code="invalid_request_error")
        tenant, name, trusted = None if who.admin else who.tenant, name_of(who), who.trusted or who.admin
        if body.correct is None:
            if not trusted:
                raise RequestRejected(403, "withdrawing a report needs a trusted API key", code="forbidden")
            told = await cache.operating.withdraw(parse_id(body.id), who=name, tenant=tenant) is not None
        else:
            # A trusted key may delete what it likes of its tenant anyway.
            reporter = None if trusted or who.key_id is None else auth.reporter(who)
            told = await cache.feedback(body.id, correct=body.correct, tenant=tenant, who=name, reporter=reporter)
        if not told:
            raise _unknown(body.id)
        return {"ok": True}

    @router.post("/invalidate")
    async def invalidate(
        body: InvalidateBody, who: Annotated[Caller, Depends(callers.trusted)], response: Response
    ) -> Deleted:
        """Delete entries; with `dry_run` only say which. The reply's x-semcache-undo is what `undo` brings back."""
        where = _selector(body, own(who, body.tenant), cache.clock(), confined=not who.admin)
        undo = None
        if body.dry_run:
            ids = await cache.invalidate(where, dry_run=True)
        else:
            ids, undo = await cache.operating.delete(where, who=name_of(who), forever=body.forever)
        if undo is not None:
            response.headers["x-semcache-undo"] = undo
        return Deleted(ids=[public_id(i) for i in ids], count=len(ids), dry_run=body.dry_run)

    @router.get("/entries")
    async def entries(
        who: Annotated[Caller, Depends(callers.trusted)],
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        after: str | None = None,
        tenant: str | None = None,
        category: str | None = None,
        model: str | None = None,
        tag: str | None = None,
        namespace: str | None = None,
    ) -> Page:
        """List entries by ascending id."""
        where = Selector(tenant=own(who, tenant), category=category, model=model, tag=tag, namespace=namespace)
        where = replace(where, everything=where.is_empty())
        start = 0 if after is None else _start(after)
        found = await cache.select(where, limit=limit, after=start)
        following = public_id(found[-1].id) if len(found) == limit else None
        return Page(entries=[EntryView(**entry.facts()) for entry in found], next=following)

    @router.get("/entries/{entry_id}")
    async def entry(entry_id: str, who: Annotated[Caller, Depends(callers.trusted)]) -> EntryDetail:
        """One entry, with its answer."""
        found = await cache.get(_number(entry_id))
        if found is None or (not who.admin and found.key.scope.tenant != who.tenant):
            raise _unknown(entry_id)
        return EntryDetail(**found.facts(), answer=msgspec.json.decode(found.body))

    @router.get("/stats")
    async def stats(_: Annotated[Caller, Depends(callers.administrator)]) -> dict[str, Any]:
        """Requests, hits and savings by category."""
        return await cache.stats()

    return router


def _selector(body: InvalidateBody, tenant: str | None, now: float, *, confined: bool) -> Selector:
    try:
        older_than = now - duration(body.older_than) if body.older_than is not None else None
    except ConfigError as error:
        raise RequestRejected(400, str(error), code="invalid_request_error", param="older_than") from error
    where = Selector(
        ids=tuple(_number(i) for i in body.ids) if body.ids is not None else None,
        tenant=tenant,
        user=body.user,
        namespace=body.namespace,
        category=body.category,
        model=body.model,
        tag=body.tag,
        source=body.source,
        older_than=older_than,
        everything=body.everything,
    )
    if (replace(where, tenant=None) if confined else where).is_empty():
        message = (
            "name at least one of ids, tag, tenant, user, namespace, category, model, source, older_than, everything"
        )
        raise RequestRejected(400, message, code="invalid_request_error")
    return where


def _number(text: str) -> int:
    number = parse_id(text)
    if number is None:
        raise _unknown(text)
    return number


def _start(after: str) -> int:
    number = parse_id(after)
    if number is None:
        raise RequestRejected(400, f"after={after[:64]!r} is no entry id", code="invalid_request_error", param="after")
    return number


def _unknown(entry_id: str) -> RequestRejected:
    return RequestRejected(404, f"no entry {entry_id[:64]!r}", code="not_found", param="id")
