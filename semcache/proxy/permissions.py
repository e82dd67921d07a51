"""Permissions of the administrative routes, as dependencies of FastAPI, and the body of a refusal.

Knows keys and rights, nothing of what a route does. Invariant: a right that a key does not give is refused, 403.
"""

from typing import Any

from fastapi import Request
from pydantic import BaseModel

from semcache.errors import RequestRejected
from semcache.proxy.auth import Authenticator, Caller


class Problem(BaseModel):
    """The fault of a request, as the OpenAI API describes one."""

    message: str
    type: str
    param: str | None
    code: str | None


class Refusal(BaseModel):
    """The body of every refusal."""

    error: Problem


REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "a field that cannot be used"},
    401: {"model": Refusal, "description": "no API key, or one that is not known, has been revoked or has expired"},
    403: {"model": Refusal, "description": "this needs a key with more rights"},
    404: {"model": Refusal, "description": "no such entry"},
    503: {"model": Refusal, "description": "the store cannot be reached"},
}


class Permissions:
    """Dependencies that give the caller of a request. Each raises RequestRejected, 401 or 403."""

    def __init__(self, auth: Authenticator) -> None:
        self._auth = auth

    def known(self, request: Request) -> Caller:
        """Return a caller with a key, or on this machine where there are no keys."""
        return self._auth.identify(request.headers.raw)

    def trusted(self, request: Request) -> Caller:
        """Return a caller who may see stored entries."""
        who = self.known(request)
        if not who.trusted and not who.admin:
            raise RequestRejected(403, "this needs a trusted API key: semcache keys create --trusted", code="forbidden")
        return who

    def administrator(self, request: Request) -> Caller:
        """Return a caller who may see and change everything."""
        who = self.known(request)
        if not who.admin:
            raise RequestRejected(403, "this needs an admin API key: semcache keys create --admin", code="forbidden")
        return who


def own(who: Caller, tenant: str | None) -> str | None:
    """Return the tenant that a call is confined to; None, for administrators, is all of them.

    Raises RequestRejected, 403, for the tenant of another.
    """
    if who.admin:
        return tenant
    if tenant not in (None, who.tenant):
        raise RequestRejected(403, f"tenant {tenant!r} is not yours", code="forbidden", param="tenant")
    return who.tenant
