"""The route of chat completions, completions, responses and messages: read, look up, serve, forward, store.

Reads a request through its dialect and looks it up; an `Exchange` makes the reply. Invariant: an outcome is recorded of
every request whose caller is known, and no fault of the cache reaches the client.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from semcache.dialects.headers import controls_from
from semcache.errors import RequestRejected
from semcache.models.language_model import CREDENTIALS
from semcache.protocols import Dialect
from semcache.proxy import hit_replay
from semcache.proxy.asgi import ClientGone, HeaderList, Receive, Scope, Send, decode_headers
from semcache.proxy.auth import Caller, asker_of, forwardable_headers
from semcache.proxy.exchange import Exchange, reject
from semcache.proxy.origin import check_json
from semcache.proxy.relay import id_header, identity_of
from semcache.proxy.route_context import RouteContext
from semcache.runtime.slow_reading import LARGE
from semcache.types import Request


class CompletionRoute:
    """The endpoints whose answer is a model's text."""

    def __init__(self, context: RouteContext) -> None:
        self._context = context

    async def __call__(self, dialect: Dialect, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of this dialect."""
        started, context = time.perf_counter(), self._context
        intake = context.intake
        try:
            caller, epoch = intake.caller(scope), context.replayer.epoch
        except RequestRejected as error:
            await self._refuse(dialect, error, send)
            return
        hold = intake.hold(caller.tenant)
        try:
            context.limiter.admit(caller)
            check_json(scope["headers"])
            body = await intake.body(scope, receive, hold)
            known = context.replayer.find(scope, body)
            if known is not None:
                await self._replay_known(known, send, started)
                return
            if context.trust.lends_key:
                lent = forwardable_headers(scope["headers"], caller)
                CREDENTIALS.set(tuple([pair for pair in lent if pair[0] == "authorization"]))
            if len(body) < LARGE:
                lookup = await context.consult(self._read(dialect, body, scope, caller))
            else:
                async with intake.turns.turn(caller.tenant):
                    request = await asyncio.to_thread(self._read, dialect, body, scope, caller)
                    lookup = await context.consult(request)
            exchange = Exchange(context, dialect, scope, body, caller, started, epoch)
            await exchange.answer(lookup, receive, send)
        except ClientGone:
            return
        except RequestRejected as error:
            request_id = await self._refuse(dialect, error, send)
            context.record_refused(request_id, dialect.endpoint, caller, error.status, started)
        finally:
            hold.release()

    async def _refuse(self, dialect: Dialect, error: RequestRejected, send: Send) -> str:
        """Refuse a request that was not looked up; return the id that it is given."""
        request_id = self._context.replayer.request_id()
        await reject(dialect, error, send, [(id_header(dialect.endpoint), request_id.encode())])
        return request_id

    async def _replay_known(self, known: hit_replay.RenderedHit, send: Send, started: float) -> None:
        cache, replayer = self._context.cache, self._context.replayer
        await replayer.send(known, send, replayer.request_id())
        self._context.limiter.charge(known.template)
        if self._context.tracing is not None:
            self._context.tracing.note(None, known.template)
        cache.event_log.repeat(known.template, cache.clock(), time.perf_counter() - started)

    def _read(self, dialect: Dialect, body: bytes, scope: Scope, caller: Caller) -> Request:
        headers: HeaderList = scope["headers"]
        request = dialect.read(body)
        self._context.account.check_request(scope, caller, request)
        controls = controls_from(decode_headers(scope), request.controls)
        if not self._context.limiter.may_spend(caller):
            controls = replace(controls, spends=False)
        user = self._context.user_of(request.user, headers, caller)
        identity: Mapping[str, Any] = identity_of(request.identity, scope)
        who = self._context.scope_of(caller, user, controls)
        return replace(
            request, identity=identity, controls=controls, scope=who, user=user, asker=asker_of(user, caller)
        )
