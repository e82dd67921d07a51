"""The router: several replicas behind one backend; a prompt goes where most of it is cached, unless others wait there.

Connects the pure parts in `routing` to replicas: choose, hold prompts whose beginning is being computed right now, let
tenants take turns where all replicas are full, and try another replica when one is gone.
Knows no dialect. Invariant: a request is answered by one replica alone: another one is tried only while not a byte of
an answer was shown, and a request that may have broken a replica is tried on one more, not on all.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from semcache.errors import ConfigError, UpgradeRefused, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, Reply, WebSocket, WebSocketTerms
from semcache.runtime.token_deficits import TokenDeficits
from semcache.upstream.routing.attempt import Attempt, Routed
from semcache.upstream.routing.block_ledger import BlockLedger
from semcache.upstream.routing.choice import ReplicaView, RoutingReason, RoutingWeights, choose, rank
from semcache.upstream.routing.event_stream import KvEvents
from semcache.upstream.routing.kinds import AUTO, KINDS, of_host, salt_of
from semcache.upstream.routing.prompt_assembly import Assembly, assembled
from semcache.upstream.routing.prompts import BYTES, RoutedPrompt, read
from semcache.upstream.routing.replica import Address, Replica
from semcache.upstream.routing.sessions import Sessions
from semcache.upstream.routing.tokens import ServerTokens
from semcache.upstream.routing.waiting_line import QueuedRequest, WaitingLine
from semcache.upstream.web_socket import connect

_MOST_HOLDS = 8
_BROKEN = 500  # the status of a server that failed at this very request


@dataclass(frozen=True, slots=True)
class RoutingTerms:
    """The terms of routing.

    `session_ttl` and `hold` (the longest wait for a first token that others wait for) are seconds; `quantum` is the
    tokens a tenant is given before others have had as many; `max_running` the requests that a replica is sent at a
    time, None for no limit; `capacity` the blocks remembered per replica.
    """

    weights: RoutingWeights = field(default_factory=RoutingWeights)
    session_ttl: float = 600.0
    hold: float = 10.0
    quantum: float = 65_536.0
    max_running: int | None = None
    capacity: int = 100_000
    assembly: Assembly = "off"


class Router:
    """Sends every request to one of `replicas`, of which there is at least one, and owns them.

    `secret` gives the bytes that tenants' salts are made with: the same ones in every process that shares the replicas.
    `note` is called with the result of each attempt.
    """

    def __init__(
        self,
        replicas: Sequence[Replica],
        *,
        routing: RoutingTerms | None = None,
        secret: Callable[[], bytes] | None = None,
        note: Callable[[Routed], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._replicas = list(replicas)
        self._routing = routing or RoutingTerms()
        drawn = os.urandom(32)
        self._secret = secret or (lambda: drawn)
        self._note, self._clock = note, clock
        self._sessions = Sessions(self._routing.session_ttl)
        self._turns: TokenDeficits[str] = TokenDeficits(self._routing.quantum)
        self._places: TokenDeficits[tuple[str, str]] = TokenDeficits(self._routing.quantum)
        self._leads: dict[bytes, Attempt] = {}
        self._line = WaitingLine(self._replicas, self._turns)
        self._opened: Counter[str] = Counter()  # WebSockets by replica

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as the first bytes of an answer are there. Raises UpstreamError or UpstreamTimeout."""
        prompt = await self._read(outbound)
        await self._hold(prompt)
        tried: frozenset[str] = frozenset()
        failed: list[Attempt] = []
        broken = 0
        while True:
            attempt = await self._board(prompt, tried)
            tried |= {attempt.replica.name}
            left = len(tried) < len(self._replicas)
            try:
                shown = await attempt.start(outbound)
                broken += attempt.status == _BROKEN
                if shown or not left or broken > prompt.known:
                    self._answered(attempt, failed)
                    return attempt
            except UpstreamError as error:
                attempt.replica.breaker.failed(self._clock(), error)
                broken += attempt.reached
                # What was too slow for the whole time limit would be no quicker elsewhere, and what is no prompt (an
                # upload, a batch) may have had its effect.
                if not left or broken > prompt.known or (attempt.reached and isinstance(error, UpstreamTimeout)):
                    raise
                continue
            if attempt.failed:
                failed.append(attempt)
            await attempt.close()

    def _answered(self, attempt: Attempt, failed: Sequence[Attempt]) -> None:
        """Note which replicas are in order: where every one fails at a request, that may be the request's fault."""
        if attempt.failed:
            return
        attempt.replica.breaker.succeeded()
        if attempt.busy:
            return  # it has not tried the request
        for one in failed:
            error = UpstreamError(f"{one.replica.name} answered with {one.status}, and another one did not")
            one.replica.breaker.failed(self._clock(), error)

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Open a WebSocket at one replica after the other, in turn. Raises UpstreamError."""
        now = self._clock()
        usable = [one for one in self._replicas if one.breaker.closed(now)] or self._replicas
        in_turn = sorted(usable, key=lambda one: self._opened[one.name])
        for replica in in_turn:
            self._opened[replica.name] += 1
            try:
                return await connect(replica.backend, outbound, terms)
            except UpgradeRefused:
                raise
            except UpstreamError as error:
                replica.breaker.failed(self._clock(), error)
                if replica is in_turn[-1]:
                    raise
        raise UpstreamError("there is no replica")

    async def close(self) -> None:
        """Close every replica; requests that wait for one fail."""
        for waiting in self._line:
            if not waiting.granted.done():
                waiting.granted.set_exception(UpstreamError("the router is closing"))
        self._line.clear()
        for replica in self._replicas:
            await replica.close()

    async def _read(self, outbound: Outbound) -> RoutedPrompt:
        """The prompt as it will be sent."""
        tenant = outbound.tenant
        prompt = read(outbound.path, outbound.headers, outbound.body, tenant=tenant)
        prompt.salt = salt_of(self._secret(), tenant, prompt.text("cache_salt"))
        came = prompt.fields
        prompt.fields = assembled(came, self._routing.assembly)
        prompt.rewritten = prompt.fields is not came
        if prompt.known:
            for replica in self._replicas:
                replica.inquiry.meet(outbound.headers)
                replica.liveness.meet(outbound.headers)
            await self._tokenize(prompt, outbound)
        return prompt

    async def _tokenize(self, prompt: RoutedPrompt, outbound: Outbound) -> None:
        now = self._clock()
        for replica in self._replicas:
            if replica.events is not None:
                replica.events.start()
        for replica in self._replicas:
            if replica.unit != BYTES and replica.tokens is not None and replica.breaker.closed(now):
                prompt.ids = await replica.tokens.ids(prompt, outbound)
                return

    async def _hold(self, prompt: RoutedPrompt) -> None:
        """Wait while the beginning of this prompt is being computed for another: then it is there to be reused."""
        if not prompt.known:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._routing.hold):
                for _ in range(_MOST_HOLDS):
                    lead = self._lead(prompt)
                    if lead is None:
                        return
                    await lead.first.wait()

    def _lead(self, prompt: RoutedPrompt) -> Attempt | None:
        """The attempt under way that will make most of this prompt warm, if that is much more than is warm already."""
        best: tuple[float, Attempt] | None = None
        now = self._clock()
        for chain in {id(chain): chain for chain in (replica.chain(prompt) for replica in self._replicas)}.values():
            for depth, key in enumerate(chain.keys, 1):
                lead = self._leads.get(key)
                if lead is not None and lead.prompt.streamed:
                    best = max(best or (0.0, lead), (depth * chain.unit_tokens, lead), key=lambda pair: pair[0])
        if best is None:
            return None
        warm = max(replica.matched(prompt, now, confirmed=True) for replica in self._replicas)
        return best[1] if self._routing.weights.matters(best[0] - warm, prompt.tokens()) else None

    async def _board(self, prompt: RoutedPrompt, tried: frozenset[str]) -> Attempt:
        """Choose a replica, when one has room. Raises UpstreamError."""
        attempt = None if self._line else self._choose(prompt, tried)
        if attempt is not None:
            return attempt
        waiting = QueuedRequest(prompt, tried, self._clock(), asyncio.get_running_loop().create_future())
        self._line.append(waiting)
        self._call_up()  # those before it may wait for replicas that they have not tried, and leave others idle
        try:
            return await waiting.granted
        except asyncio.CancelledError:
            self._line.remove(waiting)
            if waiting.granted.done() and not waiting.granted.cancelled() and waiting.granted.exception() is None:
                await waiting.granted.result().close()
            raise

    def _choose(self, prompt: RoutedPrompt, tried: frozenset[str]) -> Attempt | None:
        """An attempt at the best replica that was not tried; None while all of them are full."""
        now, room = self._clock(), self._room(tried)
        if not room:
            return None
        if not prompt.known:
            replica, why = self._by_path(prompt, room, now)
        else:
            likely = [one for one in room if not one.liveness.doubtful()] or room
            replica, why = self._by_prefix(prompt, likely, now)
        attempt = Attempt(
            replica, prompt, why, now, retries=len(tried), clock=self._clock, came=self._landed, over=self._over
        )
        self._turns.charge(prompt.tenant, attempt.fresh)
        self._places.charge((prompt.tenant, replica.name), attempt.fresh)
        for key in attempt.unseen:
            self._leads.setdefault(key, attempt)
        return attempt

    def _room(self, tried: frozenset[str]) -> list[Replica]:
        """The replicas that may be asked now, of those that were not tried."""
        now, most = self._clock(), self._routing.max_running
        untried = [replica for replica in self._replicas if replica.name not in tried]
        # Where all are out of order, one of them has to be asked: it may be back.
        answering = [one for one in untried if one.breaker.closed(now) and not one.silent] or untried
        return [replica for replica in answering if most is None or replica.running < most]

    def _by_prefix(self, prompt: RoutedPrompt, room: Sequence[Replica], now: float) -> tuple[Replica, RoutingReason]:
        home = self._sessions.home(prompt.tenant, prompt.session, now)
        allowed = self._places.allowed((prompt.tenant, replica.name) for replica in room)
        views = [
            ReplicaView(
                replica.name,
                replica.matched(prompt, now),
                replica.load,
                replica.placed(now),
                home=replica.name == home,
                owing=(prompt.tenant, replica.name) not in allowed and replica.busy_for_others(prompt.tenant),
            )
            for replica in room
        ]
        keys = room[0].chain(prompt).keys
        view, why = choose(views, prompt.tokens(), self._routing.weights, keys[0] if keys else prompt.salt.encode())
        self._sessions.settle(prompt.tenant, prompt.session, view.name, now)
        return next(replica for replica in room if replica.name == view.name), why

    def _by_path(self, prompt: RoutedPrompt, room: Sequence[Replica], now: float) -> tuple[Replica, RoutingReason]:
        """Where nothing is known of a prompt, what belongs together goes to one place: a response, the files."""
        steps = prompt.path.split("/")
        home = self._sessions.home(prompt.tenant, steps[3] if len(steps) > 3 else "", now)
        at = next((replica for replica in room if replica.name == home), None)
        if at is not None:
            return at, "session"
        name = "/".join([prompt.tenant, *steps[:3]]).encode("utf-8", "surrogatepass")
        return max(room, key=lambda replica: rank(name, replica.name)), "hash"

    def _landed(self, attempt: Attempt) -> None:
        """The first token came, or never will: those that waited for it go on."""
        for key in attempt.unseen:
            if self._leads.get(key) is attempt:
                del self._leads[key]

    def _over(self, attempt: Attempt) -> None:
        if attempt.usage.completion:
            self._turns.charge(attempt.prompt.tenant, attempt.usage.completion)
        if attempt.usage.response_id:
            self._sessions.settle(attempt.prompt.tenant, attempt.usage.response_id, attempt.replica.name, self._clock())
        self._note(attempt.routed())
        self._call_up()

    def _call_up(self) -> None:
        """Give what has become free to those whose turn it is."""
        while (waiting := self._line.next(self._room, self._clock())) is not None:
            attempt = self._choose(waiting.prompt, waiting.tried)
            if attempt is None:
                return
            self._line.remove(waiting)
            waiting.granted.set_result(attempt)


def open_router(
    addresses: Sequence[Address],
    connect: Callable[[str], Backend],
    *,
    questions: Callable[[str], Backend | None] = lambda _: None,
    routing: RoutingTerms | None = None,
    secret: Callable[[], bytes] | None = None,
    note: Callable[[Routed], object] = lambda _: None,
) -> Router:
    """A router over these addresses; `connect` makes the backend of a URL, `questions` a second. Raises ConfigError."""
    routing = routing or RoutingTerms()
    names = [address.name for address in addresses]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"upstream: {twice} is there twice; name each replica once")
    replicas = []
    for address in addresses:
        if address.kind != AUTO and address.kind not in KINDS:
            raise ConfigError(f"upstream {address.url!r}: kind {address.kind!r} is none of {', '.join([AUTO, *KINDS])}")
        replicas.append(
            Replica(
                address.name,
                connect(address.url),
                kind=KINDS.get(address.kind) or of_host(address.name),
                capacity=routing.capacity,
                follow=_follower(address),
                tokens=ServerTokens(connect(address.url.rstrip("/").removesuffix("/v1"))) if address.events else None,
                questions=questions(address.url),
            )
        )
    return Router(replicas, routing=routing, secret=secret, note=note)


def _follower(address: Address) -> Callable[[BlockLedger], KvEvents] | None:
    endpoint = address.events
    if endpoint is None:
        return None
    return lambda ledger: KvEvents(endpoint, ledger, replay=address.replay)
