"""The routes of plan templates, `/semcache/plans`: outcomes of runs; list, read, edit and purge templates.

Knows requests, bodies and permissions; `PlanService` does the work. Invariant: a caller who is no administrator sees
and changes nothing of another tenant.
"""

# Annotations are evaluated here, not kept as strings: FastAPI could not find the local dependencies by name.
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from semcache.agents.found_plan import LearnedRun
from semcache.agents.template import view
from semcache.errors import InvalidArgument, RequestRejected
from semcache.proxy.auth import Authenticator, Caller
from semcache.proxy.permissions import REFUSALS, Permissions, own
from semcache.proxy.plan_service import PlanService
from semcache.types import Scope


class OutcomeBody(BaseModel):
    """The outcome of a run, named by the header x-semcache-run of a reply, by its session, or by its plan."""

    model_config = ConfigDict(extra="forbid")
    success: bool
    run: str | None = None
    session: str | None = None
    plan: str | None = None
    agent: Annotated[str, Field(description="as in the header x-semcache-agent")] = ""
    namespace: Annotated[str, Field(description="as in the header x-semcache-namespace, for a session")] = ""
    user: Annotated[str | None, Field(description="as in the requests of the session")] = None


class PurgeBody(BaseModel):
    """The templates to delete."""

    model_config = ConfigDict(extra="forbid")
    ids: Annotated[list[str] | None, Field(max_length=10_000)] = None
    tenant: str | None = None
    agent: str | None = None
    everything: bool = False
    dry_run: bool = False


def plan_routes(service: PlanService, auth: Authenticator) -> APIRouter:
    """Return the routes under `/semcache/plans`."""
    router = APIRouter(prefix="/semcache/plans", tags=["plans"], responses=REFUSALS)
    callers = Permissions(auth)

    @router.post("/outcome")
    async def outcome(
        request: Request, body: OutcomeBody, who: Annotated[Caller, Depends(callers.known)]
    ) -> dict[str, Any]:
        """Say whether a run ended well: it becomes a template, or its template is counted up or down."""
        tenant = None if who.admin else who.tenant
        if body.plan is not None:
            known = await service.plans.outcome(body.plan, success=body.success, tenant=tenant)
            became = LearnedRun("counted", body.plan) if known else None
        elif body.run is not None or body.session is not None:
            of = Scope(who.tenant, service.user_of(body.user, request.headers.raw, who), body.namespace)
            run = body.run or service.run_of(of, body.agent, body.session or "", [])
            user = None if who.admin or who.trusted else who.user
            became = await service.outcome(run, success=body.success, tenant=tenant, user=user)
        else:
            raise RequestRejected(400, "name a run, a session or a plan", code="invalid_request_error")
        if became is None:
            raise RequestRejected(404, "no such run or plan", code="not_found")
        return {"ok": True, "why": became.why, "plan": became.plan_id}

    @router.get("")
    async def plans(who: Annotated[Caller, Depends(callers.trusted)], agent: str | None = None) -> list[dict[str, Any]]:
        """List templates."""
        found = service.plans.library.summaries(None if who.admin else who.tenant, service.plans.now())
        return [one for one in found if agent in (None, one["agent"])]

    @router.get("/{plan_id}")
    async def plan(plan_id: str, who: Annotated[Caller, Depends(callers.trusted)]) -> dict[str, Any]:
        """One template, as `PUT` takes it."""
        found = service.plans.library.get(plan_id, None if who.admin else who.tenant)
        if found is None:
            raise _unknown(plan_id)
        return view(found)

    @router.put("/{plan_id}")
    async def edit(
        plan_id: str, data: dict[str, Any], who: Annotated[Caller, Depends(callers.trusted)]
    ) -> dict[str, Any]:
        """Put an edited template in the place of the old one, as its next version."""
        tenant = None if who.admin else who.tenant
        if service.plans.library.get(plan_id, tenant) is None:
            raise _unknown(plan_id)
        try:
            return view(await service.plans.library.edit(plan_id, data, tenant))
        except InvalidArgument as error:
            raise RequestRejected(400, str(error), code="invalid_request_error") from error

    @router.post("/purge")
    async def purge(body: PurgeBody, who: Annotated[Caller, Depends(callers.trusted)]) -> dict[str, Any]:
        """Delete templates; with `dry_run` only say which."""
        tenant = own(who, body.tenant)
        # The tenant of a caller that sees no other chooses nothing.
        named = body.ids is not None or body.agent is not None or (who.admin and tenant is not None)
        if not named and not body.everything:
            message = "name at least one of ids, tenant, agent, everything"
            raise RequestRejected(400, message, code="invalid_request_error")
        now = service.plans.now()
        ids = await service.plans.library.purge(
            body.ids, tenant=tenant, agent=body.agent, now=now, dry_run=body.dry_run
        )
        return {"ids": ids, "count": len(ids), "dry_run": body.dry_run}

    return router


def _unknown(plan_id: str) -> RequestRejected:
    return RequestRejected(404, f"no plan {plan_id[:64]!r}", code="not_found", param="id")
