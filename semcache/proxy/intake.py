"""Request intake: the caller from the headers, then the body, within the bytes that the process may hold at once.

Knows keys, sizes and the server's messages; nothing of what a body says. Invariant: no byte of a body is read before
its caller is known; the bodies in flight of a tenant, and of all tenants, never exceed their budgets: what does not fit
waits unread, which holds its sender up, and is refused when that takes too long.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from semcache.dialects.body import UNREADABLE, encode
from semcache.errors import RequestRejected
from semcache.proxy.asgi import Receive, Scope, read_body
from semcache.proxy.auth import Authenticator, Caller
from semcache.proxy.origin import TrustedHosts

DEPLOYMENT = "semcache.deployment"  # in a scope: the model of a body that names none


class BytesInFlight:
    """The bodies that are held now, in bytes, of the process and by tenant. `patience` is seconds."""

    def __init__(self, most: int, tenant_most: int, *, patience: float = 30.0) -> None:
        self._most, self._tenant_most, self._patience = most, min(tenant_most, most), patience
        self._held: defaultdict[str, int] = defaultdict(int)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.held = 0

    def fits(self, tenant: str, amount: int) -> bool:
        """Return True if so many more bytes of this tenant may be held now; whoever holds none may always begin."""
        own = self._held.get(tenant, 0)
        return self.held + amount <= self._most and (own + amount <= self._tenant_most or own == 0)

    async def take(self, tenant: str, amount: int) -> None:
        """Hold so many more bytes, once they fit. Raises RequestRejected(503) after `patience`."""
        if not self.fits(tenant, amount):
            await self._room(tenant, amount)
        self._held[tenant] += amount
        self.held += amount

    def give_back(self, tenant: str, amount: int) -> None:
        """Hold so many fewer."""
        self.held -= amount
        self._held[tenant] -= amount
        if not self._held[tenant]:
            del self._held[tenant]
        while self._waiting:
            one = self._waiting.popleft()
            if not one.done():
                one.set_result(None)

    async def _room(self, tenant: str, amount: int) -> None:
        try:
            async with asyncio.timeout(self._patience):
                while not self.fits(tenant, amount):
                    freed = asyncio.get_running_loop().create_future()
                    self._waiting.append(freed)
                    await freed
        except TimeoutError:
            message = "too many bytes of requests are in flight: send this one again when others are answered"
            raise RequestRejected(503, message, code="busy") from None


class Hold:
    """The bytes of one request."""

    def __init__(self, budget: BytesInFlight, tenant: str) -> None:
        self._budget, self._tenant = budget, tenant
        self.held = 0

    async def grow(self, upto: int) -> None:
        """Hold at least so many bytes. Raises RequestRejected(503)."""
        if upto > self.held:
            await self._budget.take(self._tenant, upto - self.held)
            self.held = upto

    def release(self) -> None:
        """Hold none any more."""
        if self.held:
            self._budget.give_back(self._tenant, self.held)
            self.held = 0


class Turns:
    """Turns for work that takes long: one at a time, and tenants that wait take it in rotation."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._busy = False

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """Run a block when it is this tenant's turn."""
        if self._busy:
            mine = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(tenant, deque()).append(mine)
            try:
                await mine
            except asyncio.CancelledError:
                if mine.done() and not mine.cancelled():
                    self._next()
                raise
        self._busy = True
        try:
            yield
        finally:
            self._next()

    def _next(self) -> None:
        self._busy = False
        while self._waiting:
            tenant, queue = next(iter(self._waiting.items()))
            del self._waiting[tenant]
            one = queue.popleft()
            if queue:
                self._waiting[tenant] = queue  # behind the others
            if not one.done():
                self._busy = True
                one.set_result(None)
                return


class Intake:
    """Takes requests in. `max_body` is in bytes; `turns` are for large bodies."""

    def __init__(self, auth: Authenticator, hosts: TrustedHosts, budget: BytesInFlight, max_body: int) -> None:
        self._auth, self._hosts, self._budget = auth, hosts, budget
        self.max_body = max_body
        self.turns = Turns()

    def caller(self, scope: Scope) -> Caller:
        """Return who sends a request. Raises RequestRejected: 401, or 403 for a web page of elsewhere."""
        caller = self._auth.identify(scope["headers"])
        self.check_host(scope, keyless=self._auth.keyless and caller.key_id is None)
        if caller.read_only and not _only_reads(scope):
            raise RequestRejected(403, f"the API key {caller.key_id} is read-only", code="forbidden")
        return caller

    def check_host(self, scope: Scope, *, keyless: bool) -> None:
        """Raise RequestRejected(403) for a request that a web page of elsewhere may have sent.

        `keyless`: it is answered without a key, because only this machine can send it.
        """
        self._hosts.check(scope["headers"], keyless=keyless)

    def hold(self, tenant: str) -> Hold:
        """Return a hold on the budget, to be released when the request has been answered."""
        return Hold(self._budget, tenant)

    async def body(self, scope: Scope, receive: Receive, hold: Hold, *, most: int | None = None) -> bytes:
        """Read the body; one sent to an Azure deployment that names no model is given that of the deployment.

        Raises RequestRejected and ClientGone.
        """
        body = await read_body(scope, receive, most or self.max_body, hold.grow)
        model: str | None = scope.get(DEPLOYMENT)
        return body if model is None else _with_model(body, model)


def _with_model(body: bytes, model: str) -> bytes:
    """Return a body with this model; as it is where it names one, or is for the route to refuse."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return body
    if bytes(fields.get("model", b"")) not in (b"", b"null", b'""'):
        return body
    return encode({**fields, "model": model})


def _only_reads(scope: Scope) -> bool:
    """Return True for what changes nothing and asks no backend."""
    path: str = scope["path"]
    return path == "/semcache/explain" or (scope["method"] in ("GET", "HEAD") and not path.startswith("/v1/"))
