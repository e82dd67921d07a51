"""The route by which administrators have packs, prices, limits and keys read anew.

Invariant: a mistake in a file is refused with its place, and changes nothing; an answer of 200 means every worker.
"""

# Annotations are evaluated here, not kept as strings: FastAPI could not find the local dependencies by name.
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from semcache.errors import ConfigError, RequestRejected
from semcache.proxy.auth import Authenticator, Caller
from semcache.proxy.operator_routes import name_of
from semcache.proxy.permissions import REFUSALS, Permissions
from semcache.proxy.reload_requests import WAIT, refusals

_LONGEST = 600.0


def reload_routes(auth: Authenticator, reload: Callable[[str, float], Awaitable[dict[str, Any]]]) -> APIRouter:
    """Return the route `/semcache/reload`; `reload` does it, in somebody's name."""
    router = APIRouter(prefix="/semcache", tags=["semcache"], responses=REFUSALS)
    callers = Permissions(auth)

    @router.post("/reload")
    async def reloaded(
        who: Annotated[Caller, Depends(callers.administrator)],
        response: Response,
        wait: Annotated[float, Query(ge=0.0, le=_LONGEST, allow_inf_nan=False)] = WAIT,
    ) -> dict[str, Any]:
        """Read policy pack, prices, limits and keys anew, in every worker; say what has changed, and where.

        The status is 202 if workers are `late`: they have not reloaded within `wait` seconds. It is 409 if one refused.
        """
        try:
            result = await reload(name_of(who), wait)
        except ConfigError as error:
            raise RequestRejected(400, str(error), code="invalid_configuration") from error
        if refused := refusals(result["workers"]):
            lines = "; ".join(refused)
            raise RequestRejected(
                409, f"not reloaded by every worker, reload again or restart: {lines}", code="partly_reloaded"
            )
        if result["late"]:
            response.status_code = 202
        return result

    return router
