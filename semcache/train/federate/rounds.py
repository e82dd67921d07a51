"""The rounds of a federation on the server: the clients of each, their updates, and the model that the sum gives.

A state machine without network or clock: `now` is an argument, in seconds of any one clock. Knows masked updates, which
say nothing, and their sums. Invariant: an update counts only for the attempt it was masked for and while that attempt
is open, once per client; a sum is read only when every client on its roster has delivered, and has `least` terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from semcache.errors import RequestRejected
from semcache.train.federate import averaging, masking
from semcache.train.federate.averaging import FederatedMap, ScoreHistogram
from semcache.train.federate.local_training import FederationPlan


class Phase(StrEnum):
    """The phase of a round."""

    JOINING = "joining"
    SUMMING = "summing"
    OVER = "over"


@dataclass(slots=True)
class _Attempt:
    keys: dict[str, bytes] = field(default_factory=dict)
    updates: dict[str, masking.Ring] = field(default_factory=dict)
    since: float | None = None  # when patience began to run


class Federation:
    """A federation of `clients` by name, from its start to its end."""

    def __init__(self, plan: FederationPlan, model: FederatedMap, clients: Iterable[str]) -> None:
        self.plan, self.model = plan, model
        self.clients = frozenset(clients)
        self.round, self.attempt, self.phase = 1, 1, Phase.JOINING
        self.seen: list[
            tuple[FederatedMap, ScoreHistogram]
        ] = []  # the model before each round that is over, and what clients saw of it
        self.missing: frozenset[str] = frozenset()  # left out of this round, because they did not deliver
        self.away: frozenset[str] = frozenset()  # not heard of since they were missed: nobody waits for them
        self.failed = ""  # why it ended early
        self.finished: set[str] = set()  # who has the final model
        self._now = _Attempt()

    def state(self) -> dict[str, Any]:
        """The state that every client may know."""
        closed = self.phase is Phase.SUMMING
        return {
            "protocol": 1,
            "plan": asdict(self.plan),
            "phase": self.phase.value,
            "round": self.round,
            "attempt": self.attempt,
            "roster": {name: key.hex() for name, key in self._now.keys.items()} if closed else {},
            "joined": sorted(self._now.keys),
            "delivered": sorted(self._now.updates),
            "left_out": sorted(self.missing),
            "failed": self.failed,
        }

    def greet(self, client: str) -> None:
        """Note that this client is there: the next roster waits for it."""
        self.away -= {client}

    def join(self, client: str, round_: int, attempt: int, key: bytes, now: float) -> None:
        """Take a client's key for this attempt. Raises RequestRejected (409) for another one, or a closed roster.

        The key that it has sent already is taken again: it asks once more when an answer was lost.
        """
        self.pass_time(now)
        if (round_, attempt) == (self.round, self.attempt) and self._now.keys.get(client) == key:
            return
        self._current(round_, attempt, Phase.JOINING)
        if client in self.missing:
            raise RequestRejected(409, f"round {round_} goes on without {client}: join the next one", code="left_out")
        if not masking.usable(key):  # the others would refuse the roster, and end
            raise RequestRejected(400, f"these {len(key)} bytes are no X25519 key of 32", code="bad_key")
        if self._now.keys.setdefault(client, key) != key:
            raise RequestRejected(409, f"{client} has sent another key for this attempt", code="second_key")
        if self._now.since is None:
            self._now.since = now
        if self.clients - self.missing - self.away <= self._now.keys.keys() and self._enough():
            self._close(now)

    def deliver(self, client: str, round_: int, attempt: int, body: bytes, now: float) -> None:
        """Take a masked update. Raises RequestRejected for one that is late, uncalled for, or of another size."""
        self.pass_time(now)
        self._current(round_, attempt, Phase.SUMMING)
        if client not in self._now.keys:
            raise RequestRejected(409, f"{client} is not on the roster of this attempt", code="not_on_roster")
        expected = 8 * averaging.size(self.model)
        if len(body) != expected:
            raise RequestRejected(400, f"an update of {len(body)} bytes, not {expected}", code="bad_size")
        if client in self._now.updates:
            raise RequestRejected(409, f"{client} has delivered already", code="delivered")
        self._now.updates[client] = np.frombuffer(body, "<u8").astype(np.uint64)
        if self._now.updates.keys() == self._now.keys.keys():
            self._read()

    def pass_time(self, now: float) -> None:
        """Let patience end: close a roster that is long enough, or repeat a round without who is missing."""
        if self.phase is Phase.OVER or self._now.since is None or now - self._now.since < self.plan.patience:
            return
        if self.phase is Phase.JOINING:
            if self._enough():
                self.away |= self.clients - self._now.keys.keys()
                self._close(now)
            return
        delivered = self._now.updates.keys()
        missing = self.missing | (self._now.keys.keys() - delivered)
        self.away |= missing
        # With too few left, everybody gets another chance: a sum of fewer would say too much of each.
        self.missing = missing if len(self.clients - missing) >= self.plan.least else frozenset()
        self._again()

    def _current(self, round_: int, attempt: int, phase: Phase) -> None:
        if (round_, attempt, phase) != (self.round, self.attempt, self.phase):
            raise RequestRejected(
                409,
                f"round {round_}, attempt {attempt} is not {phase.value}: round {self.round}, attempt {self.attempt} "
                f"is {self.phase.value}",
                code="not_now",
            )

    def _enough(self) -> bool:
        return len(self._now.keys) >= self.plan.least

    def _close(self, now: float) -> None:
        self.phase, self._now.since = Phase.SUMMING, now

    def _again(self) -> None:
        self.attempt, self.phase, self._now = self.attempt + 1, Phase.JOINING, _Attempt()

    def _read(self) -> None:
        total = masking.decoded(masking.added(self._now.updates.values()))
        if not averaging.is_plausible(total):
            self.phase = Phase.OVER
            self.failed = f"the sum of round {self.round} makes no sense: do all clients have the same secret?"
            return
        before = self.model
        self.model, seen = averaging.applied(before, total)
        self.seen.append((before, seen))
        last = self.round == self.plan.rounds + 1
        if last:
            self.model = averaging.with_best_threshold(self.model, seen)
        self.round, self.attempt, self._now, self.missing = self.round + 1, 1, _Attempt(), frozenset()
        self.phase = Phase.OVER if last else Phase.JOINING


def context(round_: int, attempt: int) -> bytes:
    """The context that masks of this attempt are bound to."""
    return f"{round_}/{attempt}".encode()


def roster(state: Mapping[str, Any]) -> dict[str, bytes]:
    """The public keys of a state, by name."""
    return {str(name): bytes.fromhex(key) for name, key in state["roster"].items()}
