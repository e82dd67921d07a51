"""The route by which administrators have packs, prices, limits and keys read anew.

Invariant: a mistake in a file is refused with its place, and changes nothing.
"""

# Annotations are evaluated here, not kept as strings: FastAPI could not find the local dependencies by name.
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from semcache.errors import ConfigError, RequestRejected
from semcache.proxy.auth import Authenticator, Caller
from semcache.proxy.operator_routes import name_of
from semcache.proxy.permissions import REFUSALS, Permissions


def reload_routes(auth: Authenticator, reload: Callable[[str], Awaitable[dict[str, Any]]]) -> APIRouter:
    """Return the route `/semcache/reload`; `reload` does it, in somebody's name."""
    router = APIRouter(prefix="/semcache", tags=["semcache"], responses=REFUSALS)
    callers = Permissions(auth)

    @router.post("/reload")
    async def reloaded(who: Annotated[Caller, Depends(callers.administrator)]) -> dict[str, Any]:
        """Read policy pack, prices, limits and keys anew, in every worker; what has changed is said."""
        try:
            return await reload(name_of(who))
        except ConfigError as error:
            raise RequestRejected(400, str(error), code="invalid_configuration") from error

    return router
