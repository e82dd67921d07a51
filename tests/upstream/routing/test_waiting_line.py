"""A long line costs no more than a short one, and nobody in it is overlooked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from semcache.runtime.token_deficits import TokenDeficits
from semcache.upstream.routing.kinds import KINDS
from semcache.upstream.routing.prompts import read
from semcache.upstream.routing.replica import Replica
from semcache.upstream.routing.tree import PromptTree
from semcache.upstream.routing.waiting_line import QueuedRequest, WaitingLine
from tests.upstream.routing.test_server_kind_inquiry import showing


class Line:
    """A line for two replicas, of which `room` names the tried ones that are no hindrance."""

    def __init__(self, *, quantum: float = 1e9) -> None:
        self.replicas = [Replica(name, showing(200), kind=KINDS["other"]) for name in ("r0", "r1")]
        self.turns: TokenDeficits[str] = TokenDeficits(quantum)
        self.line = WaitingLine(self.replicas, self.turns)
        self.came = 0

    def joins(self, tenant: str, text: str = "x", tried: frozenset[str] = frozenset()) -> QueuedRequest:
        fields: dict[str, Any] = {"model": "m", "messages": [{"role": "system", "content": f"{text} " * 1000}]}
        prompt = read("/v1/chat/completions", [], json.dumps(fields).encode(), tenant=tenant, salt=tenant)
        self.came += 1
        request = QueuedRequest(prompt, tried, self.came, asyncio.get_running_loop().create_future())
        self.line.append(request)
        return request

    def served(self, *, room: frozenset[str] | None = None) -> QueuedRequest | None:
        request = self.line.next(lambda tried: room is None or tried == room, 0.0)
        if request is not None:
            self.line.remove(request)
            self.replicas[0].computed(self.replicas[0].chain(request.prompt), 0.0)
        return request


async def test_a_turn_looks_at_a_bounded_part_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred tenants with 1,200 requests had kept the event loop busy for most of the time."""
    looked_up: list[int] = []
    for name in ("match", "match_again"):
        method = getattr(PromptTree, name)

        def counted(self: PromptTree, keys: Any, *rest: Any, _method: Any = method) -> Any:
            looked_up.append(1)
            return _method(self, keys, *rest)

        monkeypatch.setattr(PromptTree, name, counted)
    line = Line()
    for number in range(1200):
        line.joins(f"t{number % 100}")
    looked_up.clear()
    for _ in range(20):
        assert line.served() is not None
    each = len(looked_up) / 20 / len(line.replicas)
    assert each < 200, f"{each} of {len(list(line.line))} requests were compared for a turn"


async def test_the_longest_warm_prefix_is_first_then_the_oldest() -> None:
    line = Line()
    first, second, same, other = [line.joins("a", text) for text in ("one", "two", "one", "three")]
    assert [line.served() for _ in range(5)] == [first, same, second, other, None]


async def test_what_has_left_a_replica_is_no_longer_warm() -> None:
    line = Line()
    first, older, same = [line.joins("a", text) for text in ("one", "two", "one")]
    assert line.served() is first
    assert line.line.next(lambda _: True, 0.0) is same
    line.replicas[0].tree.clear()
    assert line.served() is older


async def test_one_that_waited_longest_is_compared_however_many_have_come_before_its_tenant() -> None:
    line = Line()
    for tenant in range(30):
        for _ in range(20):
            line.joins(f"early {tenant}")
    late = line.joins("late")
    assert [line.served() for _ in range(601)].index(late) == 600, "others are older, or warm"
    line = Line()
    for tenant in range(30):
        line.joins(f"early {tenant}")
    late = line.joins("late")
    for tenant in range(30):
        for number in range(20):
            line.joins(f"early {tenant}", f"new {number}")
    assert late in [line.served() for _ in range(31)]


async def test_turns_go_by_what_tenants_have_had() -> None:
    line = Line(quantum=100.0)
    greedy = [line.joins("greedy") for _ in range(3)]
    polite = line.joins("polite")
    line.turns.charge("greedy", 150.0)
    assert line.served() is polite
    assert [line.served() for _ in range(3)] == greedy, "alone, one is not kept waiting"


async def test_those_without_room_and_those_who_left_are_passed_over() -> None:
    line = Line()
    refused = line.joins("a", tried=frozenset({"r0"}))
    gone, next_one = line.joins("a"), line.joins("a")
    gone.granted.cancel()
    assert line.served(room=frozenset()) is next_one
    line.line.remove(gone)
    line.line.remove(gone)
    assert line.served(room=frozenset()) is None
    assert list(line.line) == [refused]
    assert line.served(room=frozenset({"r0"})) is refused
    assert not line.line
