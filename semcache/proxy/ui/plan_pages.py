"""Plans: the plan templates of agents, and forgetting them.

Invariant: a visitor who is no administrator sees and forgets those of its own tenant alone.
"""

from __future__ import annotations

import json

from starlette.responses import Response

from semcache.agents.template import view
from semcache.proxy.ui.visit import PageRoute, Right, Visit, not_found


async def plans(visit: Visit) -> Response:
    """List the templates."""
    service = visit.parts.plans
    rows = [] if service is None else service.plans.library.summaries(visit.tenant, service.plans.now())
    return visit.page("plans.html", on=service is not None, plans=rows)


async def plan(visit: Visit) -> Response:
    """Show one template."""
    service, wanted = visit.parts.plans, visit.request.path_params["id"]
    found = service.plans.library.get(wanted, visit.visitor.tenant) if service is not None else None
    if found is None:
        raise not_found(f"plan {wanted[:64]!r}")
    text = json.dumps(view(found), indent=2, ensure_ascii=False, default=str)
    return visit.page("plan.html", id=wanted, task=found.patterns[0].text(), text=text)


async def forget_plan(visit: Visit) -> Response:
    """Forget one template; this cannot be undone."""
    service, wanted = visit.parts.plans, visit.asked("plan")
    if service is None:
        raise not_found("plan")
    done = await service.plans.library.purge(
        [wanted], tenant=visit.visitor.tenant, agent=None, now=service.plans.now(), dry_run=False
    )
    if not done:
        raise not_found(f"plan {wanted[:64]!r}")
    await visit.cache.operating.act("forget plan", who=visit.who, tenant=visit.visitor.tenant, id=wanted)
    return visit.back("/plans", "The plan was forgotten. It is learned again from successful runs.")


ROUTES = (
    PageRoute("/plans", plans, Right.READS),
    PageRoute("/plans/forget", forget_plan, Right.CHANGES, post=True),
    PageRoute("/plans/{id}", plan, Right.READS),
)
