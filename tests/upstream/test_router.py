"""The router over scripted replicas: where requests go, what they are told, and what happens when one is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpcore2
import pytest

from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound, Reply
from semcache.upstream.backends import open_backend
from semcache.upstream.routing import server_kind_inquiry
from semcache.upstream.routing.attempt import Routed
from semcache.upstream.routing.kinds import KINDS
from semcache.upstream.routing.replica import Address, Replica
from semcache.upstream.routing.router import Router, RoutingTerms
from tests.waiting import PATIENCE, settled

CHAT = "/v1/chat/completions"
Script = Callable[[Outbound], Reply | Exception]


@dataclass
class Said:
    """A reply. `pieces` may hold an event to wait for, or an error to raise."""

    pieces: Sequence[bytes | asyncio.Event | Exception]
    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),)
    closed: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                yield piece

    async def close(self) -> None:
        self.closed = True


@dataclass
class Scripted:
    """A server that answers by a script and remembers what it was asked."""

    script: Script
    asked: list[Outbound] = field(default_factory=list)
    closed: bool = False

    async def send(self, outbound: Outbound) -> Reply:
        self.asked.append(outbound)
        answer = self.script(outbound)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


def answer(cached: int = 0, prompt: int = 100) -> Said:
    usage = {"prompt_tokens": prompt, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": cached}}
    return Said([json.dumps({"id": "x", "usage": usage}).encode()])


def chat(family: str, number: int = 0, *, tenant: str = "", **more: Any) -> Outbound:
    turns = [
        {"role": "system", "content": f"{family} " * 1500},
        {"role": "user", "content": f"question {number}"},
    ]
    return Outbound("POST", CHAT, [], json.dumps({"model": "m", "messages": turns, **more}).encode(), tenant=tenant)


def refused_connection() -> UpstreamError:
    error = UpstreamError("cannot connect")
    error.__cause__ = httpcore2.ConnectError("refused")
    return error


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A router over scripted servers, and what it noted."""

    def __init__(self, *scripts: Script, kind: str | None = "other", **routing: Any) -> None:
        self.servers = [Scripted(script) for script in scripts]
        self.noted: list[Routed] = []
        self.clock = Clock()
        known = KINDS[kind] if kind is not None else None
        self.router = Router(
            [Replica(f"r{number}", server, kind=known) for number, server in enumerate(self.servers)],
            routing=RoutingTerms(**routing),
            secret=lambda: b"secret",
            note=self.noted.append,
            clock=self.clock,
        )

    async def ask(self, outbound: Outbound) -> int:
        """Read an answer whole; the number of the server that gave it."""
        reply = await self.router.send(outbound)
        try:
            async for _ in reply.chunks():
                pass
        finally:
            await reply.close()
        return int(self.noted[-1].replica[1:])

    def counts(self) -> list[int]:
        return [sum(one.path == CHAT for one in server.asked) for server in self.servers]


async def test_families_of_prompts_stay_together_and_are_spread() -> None:
    bench = Bench(*[lambda _: answer()] * 2)
    homes: dict[str, set[int]] = {}
    for number in range(5):
        for family in "abcdef":
            homes.setdefault(family, set()).add(await bench.ask(chat(family, number)))
    assert all(len(home) == 1 for home in homes.values())
    assert {len([1 for home in homes.values() if home == {server}]) for server in (0, 1)} == {3}


async def test_tenants_share_no_warmth_and_get_salts_of_their_own() -> None:
    bench = Bench(lambda _: answer(), kind="vllm")
    for tenant in ("a", "b", "a"):
        await bench.ask(chat("family", tenant=tenant))
    salts = [json.loads(one.body)["cache_salt"] for one in bench.servers[0].asked]
    assert salts[0] == salts[2] != salts[1]
    assert [routed.predicted > 0 for routed in bench.noted] == [False, False, True]


async def test_a_server_is_asked_what_it_is_before_its_first_prompt() -> None:
    def vllm(outbound: Outbound) -> Reply:
        return Said([b'{"data": [{"owned_by": "vllm"}]}']) if outbound.method == "GET" else answer()

    bench = Bench(vllm, kind=None)
    asked = Outbound("POST", CHAT, [("Authorization", "Bearer k"), ("x-other", "1")], chat("a").body)
    await asyncio.gather(*[bench.ask(asked) for _ in range(3)])
    first, *rest = bench.servers[0].asked
    assert (first.path, dict(first.headers).get("Authorization")) == ("/v1/models", "Bearer k")
    assert "x-other" not in dict(first.headers)
    assert len(rest) == 3
    assert all("cache_salt" in json.loads(one.body) for one in rest)


async def test_a_server_that_does_not_say_what_it_is_gets_no_prompt() -> None:
    bench = Bench(lambda _: Said([b""], status=500), kind=None)
    for _ in range(3):
        with pytest.raises(UpstreamError, match=r"with 500; .* say its kind in upstream.replicas"):
            await bench.router.send(chat("a"))
    assert [one.path for one in bench.servers[0].asked] == ["/v1/models"]


async def test_servers_that_fail_to_say_what_they_are_fail_no_prompt_while_another_serves() -> None:
    """A prompt may break two servers at most, and these had counted as broken by it."""

    def fails(outbound: Outbound) -> Reply:
        return Said([b""], status=502) if outbound.method == "GET" else answer()

    def serves(outbound: Outbound) -> Reply:
        return Said([b"{}"]) if outbound.method == "GET" else answer()

    bench = Bench(fails, fails, fails, serves, kind=None)
    for family in "abcdef":
        await bench.ask(chat(family))
    assert bench.counts() == [0, 0, 0, 6]
    assert [sum(one.method == "GET" for one in server.asked) for server in bench.servers] == [1, 1, 1, 1]


async def test_a_server_that_hangs_when_asked_what_it_is_holds_nobody_up_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes first waits once, all at the same time; then others are asked until it speaks again."""
    monkeypatch.setattr(server_kind_inquiry, "_PATIENCE", 0.05)
    free = asyncio.Event()
    said = {"data": [{"id": "m", "owned_by": "vllm"}]}

    def hangs(outbound: Outbound) -> Reply:
        return Said([free, json.dumps(said).encode()]) if outbound.method == "GET" else answer()

    def serves(outbound: Outbound) -> Reply:
        return Said([json.dumps(said).encode()]) if outbound.method == "GET" else answer()

    bench = Bench(hangs, hangs, serves, kind=None)
    await asyncio.gather(*[bench.ask(chat(family)) for family in "abcdefgh"])
    await bench.ask(chat("i"))
    assert bench.counts() == [0, 0, 9]
    assert [sum(one.method == "GET" for one in server.asked) for server in bench.servers] == [1, 1, 1]
    free.set()
    monkeypatch.setattr(bench.router._replicas[0].inquiry, "_again", 0.0)
    await bench.ask(chat("j"))
    await settled()
    bench.clock.now = 60.0
    for family in "klmnop":
        await bench.ask(chat(family))
    assert bench.counts()[0] > 0
    assert all("cache_salt" in json.loads(one.body) for one in bench.servers[0].asked if one.path == CHAT)
    await bench.router.close()


async def test_where_every_server_hangs_when_asked_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_kind_inquiry, "_PATIENCE", 0.01)
    bench = Bench(lambda _: Said([asyncio.Event()]), kind=None)
    for _ in range(3):
        with pytest.raises(UpstreamError, match=r"say its kind in upstream.replicas"):
            await bench.router.send(chat("a"))
    assert len(bench.servers[0].asked) == 1
    await bench.router.close()


async def test_a_server_that_was_of_no_kind_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it was starting, or a gateway before it, it may have known no models."""
    monkeypatch.setattr(server_kind_inquiry, "_AGAIN_SECONDS", 0.0)
    replies = [Said([b"{}"], status=404), Said([b'{"data": [{"id": "m", "owned_by": "vllm"}]}'])]
    bench = Bench(lambda outbound: replies.pop(0) if outbound.method == "GET" else answer(), kind=None)
    for number in range(4):
        await bench.ask(chat("a", number))
        await asyncio.sleep(0)
    salted = ["cache_salt" in json.loads(one.body) for one in bench.servers[0].asked if one.path == CHAT]
    assert salted[0] is False
    assert salted[-1] is True
    assert not replies


async def test_whichever_replica_is_asked_gets_the_guess_at_the_answer() -> None:
    async def guess() -> str:
        return "as before"

    bench = Bench(lambda _: refused_connection(), lambda _: answer(), kind="semcache")
    await bench.ask(replace(chat("a"), draft=guess))
    assert [json.loads(one.body)["prediction"]["content"] for one in bench.servers[1].asked] == ["as before"]


async def test_other_bodies_are_passed_on_as_they_are() -> None:
    bench = Bench(lambda _: answer())
    body = b'{ "model" : "m", "messages": [ ] , "n":1.0}'
    await bench.ask(Outbound("POST", CHAT, [], body))
    await bench.ask(Outbound("POST", "/v1/audio", [], b"\x00binary"))
    assert [one.body for one in bench.servers[0].asked] == [body, b"\x00binary"]


@pytest.mark.parametrize(
    ("gone", "result", "many"),
    [
        (lambda _: refused_connection(), "unreachable", 3),
        (lambda _: Said([b"busy"], status=503), "refused", 3),
        (lambda _: Said([b"slow down"], status=429), "refused", 3),
        (lambda _: UpstreamError("broke off"), "broke-off", 1),
        (lambda _: Said([UpstreamError("broke off")]), "broke-off", 1),
    ],
)
async def test_replicas_that_are_gone_before_the_first_token_cost_nothing(gone: Script, result: str, many: int) -> None:
    bench = Bench(*[gone] * many, lambda _: answer())
    for number in range(8):
        assert await bench.ask(chat(f"family {number}")) == many
    assert {routed.result for routed in bench.noted} == {"ok", result}


@pytest.mark.parametrize("status", [500, 502, 504, 524])
async def test_a_replica_that_answers_that_it_failed_is_replaced_and_left_alone(status: int) -> None:
    """A server with a broken accelerator goes on answering, and sooner than any other."""
    bench = Bench(lambda _: Said([b"failed"], status=status), lambda _: answer())
    for number in range(8):
        assert await bench.ask(chat(f"family {number}")) == 1
    assert bench.counts() == [1, 8]
    bench.servers[0].script = lambda _: answer()
    bench.clock.now = 60.0
    for number in range(8, 16):
        await bench.ask(chat(f"family {number}"))
    assert bench.counts()[0] > 1


async def test_a_request_that_two_replicas_fail_at_is_given_to_no_third_and_takes_none_out_of_use() -> None:
    poison = b"poison"
    script: Script = lambda one: Said([b"no"], status=500) if poison in one.body else answer()  # noqa: E731
    bench = Bench(*[script] * 3)
    reply = await bench.router.send(chat("poison"))
    assert reply.status == 500
    await reply.close()
    assert sum(bench.counts()) == 2
    for number in range(12):
        await bench.ask(chat(f"family {number}"))
    assert min(bench.counts()) >= 3


async def test_a_replica_that_is_too_busy_to_try_a_request_shows_nothing_of_one_that_failed_at_it() -> None:
    bench = Bench(lambda _: Said([b"no"], status=500), lambda _: Said([b"later"], status=503))
    for number in range(8):
        reply = await bench.router.send(chat(f"family {number}"))
        await reply.close()
        assert all(one.breaker.closed(bench.clock.now) for one in bench.router._replicas)


async def test_what_is_no_prompt_is_not_repeated_after_a_failure() -> None:
    bench = Bench(*[lambda _: Said([b"failed"], status=500)] * 2)
    reply = await bench.router.send(Outbound("POST", "/v1/batches", [], b"{}"))
    assert reply.status == 500
    await reply.close()
    assert sum(len(server.asked) for server in bench.servers) == 1


async def test_after_the_first_token_nothing_is_tried_again() -> None:
    script: Script = lambda _: Said([b"data: one\n\n", UpstreamError("broke off")])  # noqa: E731
    bench = Bench(script, script)
    reply = await bench.router.send(chat("a", stream=True))
    got: list[bytes] = []
    with pytest.raises(UpstreamError):
        async for chunk in reply.chunks():
            got.append(chunk)
    await reply.close()
    assert got == [b"data: one\n\n"]
    assert sum(bench.counts()) == 1
    assert [routed.result for routed in bench.noted] == ["broke-off"]


async def test_a_prompt_that_breaks_servers_does_not_break_them_all() -> None:
    bench = Bench(*[lambda _: UpstreamError("broke off")] * 4)
    with pytest.raises(UpstreamError):
        await bench.router.send(chat("a"))
    assert sum(bench.counts()) == 2


async def test_what_may_have_had_its_effect_is_not_sent_twice() -> None:
    bench = Bench(*[lambda _: UpstreamError("broke off")] * 3)
    with pytest.raises(UpstreamError):
        await bench.router.send(Outbound("POST", "/v1/batches", [], b'{"input_file_id": "f"}'))
    assert sum(len(server.asked) for server in bench.servers) == 1


@pytest.mark.parametrize("status", [502, 504])
async def test_an_upload_behind_a_gateway_without_an_answer_is_not_sent_twice(status: int) -> None:
    bench = Bench(*[lambda _: Said([b"bad gateway"], status=status)] * 2)
    reply = await bench.router.send(Outbound("POST", "/v1/batches", [], b'{"input_file_id": "f"}'))
    await reply.close()
    assert reply.status == status
    assert sum(len(server.asked) for server in bench.servers) == 1
    for again in (chat("a"), Outbound("GET", "/v1/batches", [], b"")):
        for server in bench.servers:
            server.asked.clear()
        await (await bench.router.send(again)).close()
        assert sum(len(server.asked) for server in bench.servers) == 2, "this changes nothing, or costs no more"


async def test_a_replica_that_was_too_slow_is_not_asked_again_elsewhere() -> None:
    bench = Bench(*[lambda _: UpstreamTimeout("silent")] * 3)
    with pytest.raises(UpstreamTimeout):
        await bench.router.send(chat("a"))
    assert sum(bench.counts()) == 1


async def test_when_all_refuse_the_client_is_told_what_the_last_one_said() -> None:
    replies = [Said([b"slow down"], status=429, headers=(("retry-after", "7"),)) for _ in range(2)]
    left = iter(replies)
    bench = Bench(*[lambda _: next(left)] * 2)
    reply = await bench.router.send(chat("a"))
    assert (reply.status, dict(reply.headers)["retry-after"]) == (429, "7")
    await reply.close()
    assert all(one.closed for one in replies)


async def test_a_broken_replica_is_left_alone_and_comes_back() -> None:
    state = {"gone": True}
    bench = Bench(lambda _: refused_connection() if state["gone"] else answer(), lambda _: answer())
    for number in range(6):
        await bench.ask(chat(f"family {number}"))
    assert bench.counts()[0] == 1
    state["gone"] = False
    bench.clock.now = 60.0
    for number in range(6):
        await bench.ask(chat(f"family {number + 10}"))
    assert bench.counts()[0] > 1


async def test_with_every_replica_down_the_error_says_so_and_each_is_still_tried() -> None:
    bench = Bench(*[lambda _: refused_connection()] * 3)
    for _ in range(2):
        with pytest.raises(UpstreamError, match="cannot connect"):
            await bench.router.send(chat("a"))
    assert bench.counts() == [2, 2, 2]


async def test_siblings_wait_for_the_first_token_of_the_one_that_computes_their_beginning() -> None:
    gate = asyncio.Event()
    bench = Bench(lambda _: Said([gate, b"data: 1\n\n"]), lambda _: Said([gate, b"data: 1\n\n"]))
    first = asyncio.create_task(bench.ask(chat("family", 0, stream=True)))
    await asyncio.sleep(0)
    others = [asyncio.create_task(bench.ask(chat("family", number, stream=True))) for number in (1, 2, 3)]
    stranger = asyncio.create_task(bench.ask(chat("stranger", stream=True)))
    await settled()
    assert sorted(bench.counts()) == [1, 1], "siblings were sent before their beginning was there"
    gate.set()
    homes = await asyncio.gather(first, *others)
    assert len(set(homes)) == 1
    assert await stranger not in homes


async def test_siblings_of_one_that_fails_or_is_given_up_go_on() -> None:
    gate = asyncio.Event()
    bench = Bench(lambda _: Said([gate, UpstreamError("broke off")]))
    first = asyncio.create_task(bench.ask(chat("family", 0, stream=True)))
    await asyncio.sleep(0)
    second = asyncio.create_task(bench.ask(chat("family", 1, stream=True)))
    await settled()
    first.cancel()
    await asyncio.wait([first])
    await settled()
    assert bench.counts() == [2]
    gate.set()
    with pytest.raises(UpstreamError):
        await second


async def test_one_that_is_given_up_takes_nothing_away_from_those_that_were_answered() -> None:
    gate = asyncio.Event()
    bench = Bench(lambda _: Said([gate, b"x"]))
    left = asyncio.create_task(bench.ask(chat("family", 0)))
    await asyncio.sleep(0)
    bench.servers[0].script = lambda _: answer()
    await bench.ask(chat("family", 1))
    left.cancel()
    await asyncio.wait([left])
    await bench.ask(chat("family", 2))
    assert bench.noted[-1].predicted > 90, "the beginning that was computed for the second one was forgotten"


async def test_nobody_waits_longer_for_a_sibling_than_allowed() -> None:
    bench = Bench(lambda _: Said([asyncio.Event()]), hold=0.02)
    tasks = [asyncio.create_task(bench.ask(chat("family", number, stream=True))) for number in range(3)]
    while bench.counts() != [3]:
        await asyncio.sleep(0.005)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_load_and_line_are_settled_however_a_request_ends() -> None:
    gate = asyncio.Event()
    bench = Bench(lambda _: Said([gate, b"x", UpstreamError("broke off")]), max_running=1)
    tasks = [asyncio.create_task(bench.ask(chat(f"f{number}"))) for number in range(4)]
    await settled()
    assert bench.counts() == [1]
    tasks[0].cancel()  # under way
    tasks[1].cancel()  # in line, or just called up
    await settled()
    gate.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(error) for error in done] == [asyncio.CancelledError] * 2 + [UpstreamError] * 2
    replica = bench.router._replicas[0]
    assert (replica.load, replica.running, list(bench.router._line), bench.router._leads) == (0, 0, [], {})


async def test_a_tenant_that_floods_the_line_does_not_keep_others_out() -> None:
    bench = Bench(lambda _: answer(), max_running=1, quantum=2000.0)
    gate = asyncio.Event()
    bench.servers[0].script = lambda _: Said([gate, b"x"])
    flood = [asyncio.create_task(bench.ask(chat(f"unique {number}", tenant="greedy"))) for number in range(12)]
    await settled()
    polite = asyncio.create_task(bench.ask(chat("mine", tenant="polite")))
    await settled()
    gate.set()
    await polite
    assert sum(not task.done() for task in flood) >= 9
    await asyncio.gather(*flood)


async def test_one_that_waits_for_another_replica_does_not_keep_this_one_idle() -> None:
    gate = asyncio.Event()
    bench = Bench(lambda _: Said([b"busy"], status=429), lambda _: Said([gate, b"x"]), max_running=1)
    long = asyncio.create_task(bench.router.send(chat("long")))  # wherever it begins, it ends up at r1
    await settled()
    refused = asyncio.create_task(bench.router.send(chat("refused")))  # r0 sends it away, and it waits for r1
    await settled()
    assert bench.counts()[1] == 1
    bench.servers[0].script = lambda _: answer()
    assert await asyncio.wait_for(bench.ask(chat("new")), PATIENCE) == 0
    assert not refused.done()
    gate.set()
    for task in (long, refused):
        reply = await task
        async for _ in reply.chunks():
            pass
        await reply.close()


async def test_closing_tells_those_in_line() -> None:
    bench = Bench(lambda _: Said([asyncio.Event()]), max_running=1)
    tasks = [asyncio.create_task(bench.ask(chat(f"f{number}"))) for number in range(2)]
    await settled()
    await bench.router.close()
    with pytest.raises(UpstreamError, match="closing"):
        await tasks[1]
    tasks[0].cancel()
    await asyncio.wait(tasks)
    assert bench.servers[0].closed


async def test_sessions_files_and_responses_stay_where_they_are() -> None:
    bench = Bench(*[lambda _: Said([b'{"id": "resp_1", "usage": {}}'])] * 4)
    made = await bench.ask(Outbound("POST", "/v1/responses", [], b'{"model": "m", "input": "hi"}'))
    assert {await bench.ask(Outbound("GET", "/v1/responses/resp_1", [], b"")) for _ in range(3)} == {made}
    going_on = b'{"model": "m", "input": "go on", "previous_response_id": "resp_1"}'
    assert await bench.ask(Outbound("POST", "/v1/responses", [], going_on)) == made
    files = {await bench.ask(Outbound("GET", f"/v1/files/{number}", [], b"")) for number in range(5)}
    assert len(files) == 1


async def test_what_was_predicted_and_what_was_reported_are_noted_together() -> None:
    reported = iter([0, 1900])
    bench = Bench(lambda _: answer(next(reported), prompt=2000))
    for number in range(2):
        await bench.ask(chat("family", number))
    cold, warm = bench.noted
    assert (cold.predicted, cold.reported, cold.prompt_tokens) == (0, 0, 2000)
    assert warm.reported == 1900
    assert 1500 < warm.predicted <= 2000


async def test_a_replica_that_lost_its_cache_is_no_longer_believed() -> None:
    state = {"cached": 1900}
    bench = Bench(lambda _: answer(state["cached"], prompt=2000))
    for number in range(8):
        await bench.ask(chat(f"family {number % 4}", number))
    before = len(bench.router._replicas[0].tree)
    state["cached"] = 0
    await bench.ask(chat("family 0", 99))
    assert len(bench.router._replicas[0].tree) < 0.8 * before


async def test_a_server_that_always_reports_zero_is_not_doubted() -> None:
    bench = Bench(*[lambda _: answer(0, prompt=2000)] * 2)
    assert len({await bench.ask(chat("family", number)) for number in range(6)}) == 1


async def test_assembly_is_switched_on_by_the_operator() -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in "ba"]
    for assembly, names in (("off", ["b", "a"]), ("canonical", ["a", "b"])):
        bench = Bench(lambda _: answer(), assembly=assembly)
        await bench.ask(chat("family", tools=tools))
        sent = json.loads(bench.servers[0].asked[0].body)["tools"]
        assert [tool["function"]["name"] for tool in sent] == names


@pytest.mark.parametrize(
    ("upstream", "replicas", "message"),
    [
        ("http://a:1,http://a:1/v1", (), "a:1 is there twice"),
        ("http://a:1,nonsense", (), "nonsense"),
        ("x", (Address("http://a:1", kind="vlm"),), "'vlm'"),
        ("x", (Address("http://a:1", events="a:5557"),), "'a:5557' must start with"),
    ],
)
def test_bad_settings_are_refused_by_name(upstream: str, replicas: Sequence[Address], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_backend(upstream, replicas=replicas)
