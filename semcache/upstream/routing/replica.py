"""One replica: how it is reached, what kind of server it is, what it is believed to hold and how busy it is.

Knows its backend and its own prompts, no other replica. Invariant: a server of an unknown kind is asked what it is
before it is sent a prompt, so that no tenant's prompt enters a shared cache without its salt.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from semcache.errors import UpstreamError
from semcache.protocols import Backend, Outbound, Reply
from semcache.runtime.breaker import Breaker
from semcache.upstream.routing.block_ledger import BlockLedger
from semcache.upstream.routing.event_stream import KvEvents
from semcache.upstream.routing.kinds import AUTO, KINDS, ServerKind, fields_for, of_models, wants_draft
from semcache.upstream.routing.prompts import BYTES, BlockChain, RoutedPrompt
from semcache.upstream.routing.tokens import ServerTokens
from semcache.upstream.routing.tree import PromptTree

_CREDENTIALS = frozenset({"authorization", "x-api-key", "api-key"})
_SAYS_WHAT_IT_IS = frozenset({200, 404, 405})  # not a refused credential, which may be another one next time
_REFUSES = frozenset({401, 403})
_REFUSED_SECONDS = 60.0  # how long a refused credential is not asked with again: not with every prompt
_PATIENCE = 2.0  # seconds to say what it is
_PAUSE = 5.0  # seconds between questions that it did not answer
_AGAIN_SECONDS = 60.0  # after which one that is of no known kind is asked again: it may have been starting
_HALF_LIFE = 60.0
_RUNNING_TOKENS = 128  # what a request that is being decoded weighs against one that waits
_EXPECTED_SECONDS = 2.0  # how long blocks that were sent for are believed in until an event names them


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a replica.

    `kind` is one of `routing.kinds.KINDS` or "auto"; `events` and `replay` are ZeroMQ endpoints of its KV events, as
    the server's `--kv-events-config` names them.
    """

    url: str
    kind: str = AUTO
    events: str | None = None
    replay: str | None = None

    @property
    def name(self) -> str:
        """The name in logs and metrics: the URL without its scheme."""
        return self.url.partition("://")[2].rstrip("/").removesuffix("/v1") or self.url


class Replica:
    """The server behind `backend`, which it owns.

    `kind` None is asked for; it is `silent` when it did not answer that in time. Times are monotonic seconds, work is
    in tokens.

    With `follow`, which makes the follower of KV events that keeps a ledger, and `tokens`, blocks are the server's own;
    without them they are of bytes, and what it holds is what it was sent. `capacity` is in blocks.
    """

    def __init__(
        self,
        name: str,
        backend: Backend,
        *,
        kind: ServerKind | None = None,
        capacity: int = 100_000,
        follow: Callable[[BlockLedger], KvEvents] | None = None,
        tokens: ServerTokens | None = None,
    ) -> None:
        self.name = name
        self.backend = backend
        self.tokens = tokens
        self.tree = PromptTree(capacity)
        self.ledger = BlockLedger(self.tree) if follow is not None else None
        self.events = follow(self.ledger) if follow is not None and self.ledger is not None else None
        self.breaker = Breaker()
        self._queue: Counter[str] = Counter()
        self.running = 0
        self.reports = False
        self.silent = False
        self._kind = kind
        self._again = math.inf if kind is not None else -math.inf
        self._asking: asyncio.Task[ServerKind | UpstreamError] | None = None
        self._shown: Sequence[tuple[str, str]] = ()
        self._refused: Sequence[tuple[str, str]] | None = None
        self._refused_until = 0.0
        self._placed, self._placed_at = 0.0, 0.0

    @property
    def load(self) -> float:
        """Tokens that wait to be computed here, and what is being decoded in the same unit."""
        return self._queue.total() + _RUNNING_TOKENS * self.running

    def queued(self, tenant: str, tokens: int) -> None:
        """Tokens of a tenant's wait here, or no longer, when negative."""
        self._queue[tenant] += tokens
        if not self._queue[tenant]:
            del self._queue[tenant]

    def busy_for_others(self, tenant: str) -> bool:
        """Return True if another tenant's prompts wait here."""
        return any(other != tenant for other in self._queue)

    @property
    def unit(self) -> int:
        """Tokens of a block as the server's events cut them; bytes where none came yet."""
        return self.ledger.unit if self.ledger is not None and self.ledger.unit is not None else BYTES

    def chain(self, prompt: RoutedPrompt) -> BlockChain:
        """The prompt's blocks as this replica names them."""
        adapters = self.ledger.adapters if self.ledger is not None else ()
        return prompt.chain(self.unit, prompt.model if prompt.model in adapters else "")

    def matched(self, prompt: RoutedPrompt, now: float, *, confirmed: bool = False) -> float:
        """Tokens of the prompt that are warm here, weighted by how near they are to the accelerator."""
        chain = self.chain(prompt)
        return self.tree.match(chain.keys, now, confirmed=confirmed).credit * chain.unit_tokens

    def sent(self, chain: BlockChain, until: float) -> None:
        """Blocks are on their way to being held."""
        self.tree.expect(chain.keys, until)

    def computed(self, chain: BlockChain, now: float) -> None:
        """The first token came: the blocks are there. Events will say so themselves, and when they leave."""
        if self.unit != BYTES and chain.unit_tokens == self.unit:
            self.tree.expect(chain.keys, now + _EXPECTED_SECONDS)
        else:
            self.tree.confirm(chain.keys)

    def disappointed(self, chain: BlockChain) -> None:
        """It held far less of a prompt than was believed: it has restarted, or what is older has gone too."""
        if self.unit == BYTES:
            self.tree.halve()
            self.tree.confirm(chain.keys)

    def placed(self, now: float, tokens: float = 0.0) -> float:
        """Tokens newly computed here, those of a minute ago counting half; `tokens` are added first."""
        faded = self._placed * math.exp2((self._placed_at - now) / _HALF_LIFE)
        self._placed, self._placed_at = faded + tokens, now
        return self._placed

    async def send(self, prompt: RoutedPrompt, outbound: Outbound) -> Reply:
        """Ask it, with what its kind takes. Raises UpstreamError or UpstreamTimeout."""
        if prompt.known:
            kind = await self.kind(outbound.headers)
            fields = fields_for(kind, prompt, await drafted(kind, prompt, outbound))
            if prompt.rewritten or fields is not prompt.fields:
                outbound = replace(outbound, body=msgspec.json.encode(fields))
        return await self.backend.send(outbound)

    async def close(self) -> None:
        """Follow no events any more and close every connection."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])
        for part in (self.events, self.tokens, self.backend):
            if part is not None:
                await part.close()

    async def kind(self, headers: Sequence[tuple[str, str]]) -> ServerKind:
        """The kind of the server, asked for with the credentials of a request until it has said so.

        One that refuses them is taken for "other", and asked with them again after a while. Raises UpstreamError.
        """
        shown = _shown(headers)
        while self._kind is None:
            if shown == self._refused and asyncio.get_running_loop().time() < self._refused_until:
                return KINDS["other"]
            if self.silent:  # not with every request does one wait for it to say nothing again
                self.meet(headers)
                raise self._said_nothing()
            asking = self._asking or self._ask(shown)
            mine = self._shown == shown
            answer = await asyncio.shield(asking)
            if isinstance(answer, UpstreamError):
                raise answer
            if mine:  # else another's credentials may have been refused
                return answer
        self.meet(headers)
        return self._kind

    def meet(self, headers: Sequence[tuple[str, str]]) -> None:
        """Ask the server for its kind in the background, unless it was asked recently."""
        if self._asking is None and asyncio.get_running_loop().time() >= self._again:
            self._ask(_shown(headers))

    def _ask(self, shown: Sequence[tuple[str, str]]) -> asyncio.Task[ServerKind | UpstreamError]:
        self._shown = shown
        self._asking = asyncio.create_task(self._asked(shown), name="semcache-replica-kind")
        return self._asking

    async def _asked(self, shown: Sequence[tuple[str, str]]) -> ServerKind | UpstreamError:
        self._again = asyncio.get_running_loop().time() + _PAUSE
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self._answer(shown)
        except TimeoutError:
            self.silent = self._kind is None
            return self._said_nothing()
        except UpstreamError as error:
            return error
        finally:
            self._asking = None

    async def _answer(self, shown: Sequence[tuple[str, str]]) -> ServerKind:
        reply = await self.backend.send(Outbound("GET", "/v1/models", [("accept", "application/json"), *shown], b""))
        try:
            body = b"".join([chunk async for chunk in reply.chunks()])
        finally:
            await reply.close()
        self.silent = False
        if reply.status >= 500:
            raise UpstreamError(f"{self.name} answered /v1/models with {reply.status}")
        kind, now = KINDS[of_models(body)], asyncio.get_running_loop().time()
        if reply.status in _SAYS_WHAT_IT_IS:
            self._kind, self._again = kind, now + _AGAIN_SECONDS if kind is KINDS["other"] else math.inf
        elif reply.status in _REFUSES:
            self._refused, self._refused_until = shown, now + _REFUSED_SECONDS
            self._again = self._refused_until
        return kind

    def _said_nothing(self) -> UpstreamError:
        return UpstreamError(
            f"{self.name} did not answer /v1/models within {_PATIENCE:g} s; where it serves all the same, say its kind "
            "in upstream.replicas"
        )


async def drafted(kind: ServerKind, prompt: RoutedPrompt, outbound: Outbound) -> str:
    """A guess at the answer for a server of this kind, "" where it is to be given none."""
    return await outbound.draft() if outbound.draft is not None and wants_draft(kind, prompt) else ""


def _shown(headers: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() in _CREDENTIALS]
