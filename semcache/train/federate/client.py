"""A client of a federation, which takes part in every round and keeps its prompts to itself.

Knows the protocol and its own vectors. Time, randomness and waiting are arguments. Invariant: nothing is sent but keys
and masked updates; an update is computed once a round, and sent only to a roster of `least` clients at least on which
its own key stands, in an attempt that is not older than its patience. A federation that begins anew, or goes beyond the
plan that was agreed on, is left: what was sent is not sent a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any

import httpx2
import msgspec
import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from semcache.errors import ConfigError, InvalidArgument, UpstreamError
from semcache.runtime.retry_after import asked_pause
from semcache.runtime.unix_address import http_root, unix_path
from semcache.train.federate import averaging, local_training, masking, rounds
from semcache.train.federate.averaging import FederatedMap
from semcache.train.federate.local_training import ClientPairs, FederationPlan

POLL = 0.5  # seconds between two looks
_SILENCE = 120.0  # seconds without an answer before a client gives up
_LONGEST_PAUSE = 30.0  # seconds
# What a proxy answers while the server behind it is away or has too much to do.
_AWAY = frozenset({429, 502, 503, 504})
Told = Callable[[int, str], None]  # round, and what happened in it


@dataclass(frozen=True, slots=True)
class ClientEnvironment:
    """The environment of a client: the time in seconds, how to wait, and bits for its noise."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]
    entropy: Callable[[], int]


class Client:
    """Takes part in the federation at `url`, an address or `unix:PATH`.

    `secret` is what clients share and the server does not know.
    """

    def __init__(
        self,
        url: str,
        token: str,
        world: ClientEnvironment,
        *,
        secret: bytes = b"",
        transport: httpx2.BaseTransport | None = None,
        told: Told = lambda _, __: None,
    ) -> None:
        token = token.strip()
        if not (token.isascii() and token.isprintable()):  # said without the token, which is a secret
            raise ConfigError("the token holds what no header can carry: copy it from the server's file of tokens")
        root, path = http_root(url) if unix_path(url) is not None else (url.rstrip("/"), None)
        if path is not None and transport is None:
            transport = httpx2.HTTPTransport(uds=path)
        self._http = httpx2.Client(
            base_url=root,
            headers={"authorization": f"Bearer {token}"},
            timeout=60.0,
            transport=transport,
            follow_redirects=False,
        )
        self._url, self._world, self._secret, self._told = url, world, secret, told
        self._agreed: FederationPlan | None = None
        self._reached = self._sent_to = (0, 0)  # round and attempt: the newest one, and the newest that was sent to

    def plan(self) -> FederationPlan:
        """The plan of the federation. Raises UpstreamError, ConfigError for another protocol."""
        state = self._state()
        known = {one.name for one in fields(FederationPlan)}
        if state.get("protocol") == 1 and isinstance(state.get("plan"), dict) and set(state["plan"]) == known:
            with suppress(msgspec.ValidationError):
                return msgspec.convert(state["plan"], FederationPlan)
        raise ConfigError(f"{self._url} speaks another protocol than version 1: use the same release on both sides")

    def take_part(self, held: ClientPairs, plan: FederationPlan) -> FederatedMap:
        """Stay until the federation is over; the final model. Raises SemcacheError."""
        self._agreed = plan
        while True:
            state = self._state()
            if state["failed"]:
                raise UpstreamError(f"the federation has ended without a model: {state['failed']}")
            if state["phase"] == rounds.Phase.OVER:
                model = self._received(int(state["round"]), plan)
                assert model is not None  # there is no later round
                return model
            name, round_ = str(state["you"]), int(state["round"])
            if name in state["left_out"]:
                self._world.sleep(POLL)
                continue
            self._round(name, round_, held, plan)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _round(self, name: str, round_: int, held: ClientPairs, plan: FederationPlan) -> None:
        """Take part in one round until it is over, or until it goes on without this client."""
        received = self._received(round_, plan)
        if received is None:
            return
        bare = local_training.contribution(received, held, plan, round_=round_)
        state = self._state()
        while (state["round"], state["failed"]) == (round_, "") and name not in state["left_out"]:
            attempt, key = int(state["attempt"]), X25519PrivateKey.generate()
            if not self._joined(round_, attempt, key):
                self._world.sleep(POLL)
                state = self._state()
                continue
            state = self._roster_closed(name, round_, attempt)
            since = self._world.clock()
            if (state["round"], state["attempt"], state["phase"]) != (round_, attempt, rounds.Phase.SUMMING):
                continue
            roster = rounds.roster(state)
            if len(roster) < plan.least:
                raise UpstreamError(f"a roster of {len(roster)} is below the agreed {plan.least}: nothing was sent")
            rng = np.random.default_rng(self._world.entropy())
            noisy = local_training.add_noise(bare, plan, clients=len(roster), round_=round_, rng=rng)
            sent = masking.masked(
                masking.encoded(noisy, len(roster)), name, key, roster, rounds.context(round_, attempt), self._secret
            )
            # Later, the round may have been repeated without this client: two sums that differ by it would tell of it.
            if self._world.clock() - since < plan.patience:
                self._sent_to = (round_, attempt)
                if self._sent(round_, attempt, sent):
                    self._told(round_, f"sent to a sum of {len(roster)}")
            state = self._summed(round_, attempt)

    def _roster_closed(self, name: str, round_: int, attempt: int) -> dict[str, Any]:
        """The first state after joining, or one in which a server that was restarted knows this client no more."""
        while True:
            state = self._state()
            joining = (state["round"], state["attempt"], state["phase"]) == (round_, attempt, rounds.Phase.JOINING)
            if not joining or name not in state["joined"]:
                return state
            self._world.sleep(POLL)

    def _summed(self, round_: int, attempt: int) -> dict[str, Any]:
        """The first state after this attempt's summing."""
        while True:
            state = self._state()
            if (state["round"], state["attempt"], state["phase"]) != (round_, attempt, rounds.Phase.SUMMING):
                return state
            self._world.sleep(POLL)

    def _state(self) -> dict[str, Any]:
        try:
            found = self._asked("GET", "/v1/federation").json()
        except ValueError as error:
            raise UpstreamError(f"{self._url} is no federation: it answered with something else than JSON") from error
        state = found if isinstance(found, dict) else {}
        if self._agreed is not None:
            self._check_course(state, self._agreed)
        return state

    def _check_course(self, state: Mapping[str, Any], plan: FederationPlan) -> None:
        """Raise UpstreamError for what was not agreed on: more would be told of the pairs than the plan says."""
        if state.get("plan") != asdict(plan):
            raise UpstreamError(
                f"{self._url} now has another plan than this client agreed to: nothing more was sent; "
                "start the client again to take part in that one"
            )
        now = (int(state["round"]), int(state["attempt"]))
        again = now == self._sent_to and state["phase"] == rounds.Phase.JOINING
        if now < self._reached or again:
            raise UpstreamError(
                f"the federation at {self._url} has begun anew: it is in round {now[0]}, attempt {now[1]}, after round "
                f"{self._reached[0]}, attempt {self._reached[1]}. What was sent before counts for privacy beside what "
                "would be sent now: start the client again if that may be"
            )
        if now[0] > plan.rounds + 1 and not (state["failed"] or state["phase"] == rounds.Phase.OVER):
            raise UpstreamError(
                f"{self._url} asks for round {now[0]}, and the plan has {plan.rounds + 1}: nothing more was sent"
            )
        self._reached = now

    def _received(self, round_: int, plan: FederationPlan) -> FederatedMap | None:
        """The model before this round, None where the round is over. Raises UpstreamError for one that does not fit."""
        reply = self._asked("GET", f"/v1/federation/weights/{round_}")
        if reply.status_code == 409:
            return None
        if len(reply.content) != len(averaging.encode_model(local_training.start(plan))):
            raise UpstreamError(f"{self._url} sent a model of {len(reply.content)} bytes, which does not fit the plan")
        model = averaging.decode_model(reply.content)
        if not (np.all(np.isfinite(model.parameters)) and np.isfinite(model.threshold)):
            raise UpstreamError(f"{self._url} sent a model that is not finite: a client's training diverged")
        return model

    def _joined(self, round_: int, attempt: int, key: X25519PrivateKey) -> bool:
        said: Mapping[str, Any] = {"round": round_, "attempt": attempt, "key": masking.public(key).hex()}
        return self._asked("POST", "/v1/federation/join", json=said).status_code == 204

    def _sent(self, round_: int, attempt: int, update: masking.Ring) -> bool:
        body = update.astype("<u8").tobytes()
        return self._asked("PUT", f"/v1/federation/updates/{round_}/{attempt}", content=body).status_code == 204

    def _asked(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        """The reply; a conflict (409) is one, anything else that is refused is not. A silent server is asked again."""
        since = self._world.clock()
        while True:
            try:
                reply = self._http.request(method, path, **sent)
            except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
                raise InvalidArgument(f"{self._url!r} is no address of a federation: {error}") from error
            except httpx2.HTTPError as error:
                if self._world.clock() - since > _SILENCE:
                    raise UpstreamError(f"{self._url} does not answer: {error or type(error).__name__}") from error
                self._world.sleep(POLL)
                continue
            if reply.status_code in _AWAY and self._world.clock() - since <= _SILENCE:
                self._world.sleep(min(max(asked_pause(reply.headers), POLL), _LONGEST_PAUSE))
                continue
            if reply.status_code == 401:
                raise ConfigError(f"{self._url} refuses the token: ask its operator for yours")
            if reply.status_code >= 400 and reply.status_code != 409:
                raise UpstreamError(f"{self._url}{path} answered {reply.status_code}: {reply.text[:200]}")
            return reply
