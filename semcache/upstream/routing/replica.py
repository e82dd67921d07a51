"""One replica: how it is reached, what it is believed to hold and how busy it is.

Knows its backend and its own prompts, no other replica. Invariant: a server of an unknown kind is asked what it is
before it is sent a prompt, so that no tenant's prompt enters a shared cache without its salt.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from semcache.protocols import Backend, Outbound, Reply
from semcache.runtime.breaker import Breaker
from semcache.upstream.routing.block_ledger import BlockLedger
from semcache.upstream.routing.event_stream import KvEvents
from semcache.upstream.routing.kinds import AUTO, ServerKind, fields_for, wants_draft
from semcache.upstream.routing.liveness import Liveness
from semcache.upstream.routing.prompts import BYTES, BlockChain, RoutedPrompt
from semcache.upstream.routing.server_kind_inquiry import ServerKindInquiry
from semcache.upstream.routing.tokens import ServerTokens
from semcache.upstream.routing.tree import PromptTree

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

    `kind` None is asked for, by `inquiry`. Times are monotonic seconds, work is in tokens.

    With `follow`, which makes the follower of KV events that keeps a ledger, and `tokens`, blocks are the server's own;
    without them they are of bytes, and what it holds is what it was sent. `capacity` is in blocks. `questions` reaches
    the same server where `backend` is full.
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
        questions: Backend | None = None,
    ) -> None:
        self.name = name
        self.backend = backend
        self._questions = questions
        self.tokens = tokens
        self.tree = PromptTree(capacity)
        self.ledger = BlockLedger(self.tree) if follow is not None else None
        self.events = follow(self.ledger) if follow is not None and self.ledger is not None else None
        self.breaker = Breaker()
        self._queue: Counter[str] = Counter()
        self.running = 0
        self.reports = False
        self.inquiry = ServerKindInquiry(name, backend, kind=kind)
        self.liveness = Liveness(name, questions or backend)
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
    def silent(self) -> bool:
        """True while it answers no question: neither of which kind it is, nor with requests that wait for it."""
        return self.inquiry.silent or self.liveness.hangs

    @property
    def unit(self) -> int:
        """Tokens of a block as the server's events cut them; bytes where none came yet."""
        return self.ledger.unit if self.ledger is not None and self.ledger.unit is not None else BYTES

    def chain(self, prompt: RoutedPrompt) -> BlockChain:
        """The prompt's blocks as this replica names them."""
        adapters = self.ledger.adapters if self.ledger is not None else ()
        return prompt.chain(self.unit, prompt.model if adapters and prompt.model in adapters else "")

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
            kind = await self.inquiry.kind(outbound.headers)
            fields = fields_for(kind, prompt, await drafted(kind, prompt, outbound))
            if prompt.rewritten or fields is not prompt.fields:
                outbound = replace(outbound, body=msgspec.json.encode(fields))
        return await self.backend.send(outbound)

    async def close(self) -> None:
        """Follow no events any more and close every connection."""
        await self.inquiry.close()
        await self.liveness.close()
        for part in (self.events, self.tokens, self._questions, self.backend):
            if part is not None:
                await part.close()


async def drafted(kind: ServerKind, prompt: RoutedPrompt, outbound: Outbound) -> str:
    """A guess at the answer for a server of this kind, "" where it is to be given none."""
    return await outbound.draft() if outbound.draft is not None and wants_draft(kind, prompt) else ""
