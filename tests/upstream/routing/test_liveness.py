"""Servers that accept requests and say nothing: who hangs is left, and who only takes its time is waited for."""

from __future__ import annotations

import asyncio

import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound, Reply
from semcache.upstream.backends import open_backend
from semcache.upstream.routing import liveness
from semcache.upstream.routing.kinds import KINDS
from semcache.upstream.routing.replica import Replica
from semcache.upstream.routing.router import Router
from tests.upstream.test_router import CHAT, Bench, Said, answer, chat
from tests.waiting import PATIENCE, settled, soon, until


class Server:
    """A script of a server that answers prompts, and the question what it serves, while these are set."""

    def __init__(self) -> None:
        self.prompts, self.questions = asyncio.Event(), asyncio.Event()
        self.prompts.set()
        self.questions.set()
        self.questioned = 0

    def freeze(self) -> None:
        self.prompts.clear()
        self.questions.clear()

    def __call__(self, outbound: Outbound) -> Reply:
        if outbound.method == "GET":
            self.questioned += 1
        free = self.questions if outbound.method == "GET" else self.prompts
        return answer() if free.is_set() else Said([free, b"late"])


class _Slow(Bench):
    """A bench whose servers send no status either before they say something."""

    def __init__(self, *servers: Server, kind: str | None = "other") -> None:
        super().__init__(*servers, kind=kind)
        for server, script in zip(self.servers, servers, strict=True):
            plain = server.send

            async def send(outbound: Outbound, plain=plain, script=script) -> Reply:  # type: ignore[no-untyped-def]
                reply = await plain(outbound)
                await (script.questions if outbound.method == "GET" else script.prompts).wait()
                return reply

            server.send = send  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_QUIET", "_PAUSE", "_BEFORE", "_AFTER"):
        monkeypatch.setattr(liveness, name, 0.01)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "_PATIENCE", 0.05)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "_PATIENCE", PATIENCE)


async def shown_to_answer_beside_its_work(bench: Bench, server: Server) -> int:
    """Have a server answer questions while a prompt waits; return its number."""
    server.prompts.clear()
    number = [script is server for script in (one.script for one in bench.servers)].index(True)
    waiting = asyncio.create_task(bench.ask(chat("a")))
    await until(lambda: bench.router._replicas[number].liveness._answers_beside)
    server.prompts.set()
    assert await soon(waiting) == number
    return number


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", ["other", None], ids=["kind-given", "kind-asked"])
async def test_a_server_that_hangs_loses_what_waits_for_it_and_gets_no_more_until_it_answers(kind: str | None) -> None:
    servers = Server(), Server()
    bench = _Slow(*servers, kind=kind)
    home = await bench.ask(chat("a"))
    await shown_to_answer_beside_its_work(bench, servers[home])
    await settled()
    servers[home].freeze()
    other = 1 - home
    for number in range(1, 4):
        assert await soon(bench.ask(chat("a", number))) == other
    assert [one.result for one in bench.noted if one.replica == f"r{home}"] == ["ok", "ok", "broke-off"], (
        "it was asked once"
    )
    servers[home].prompts.set()
    servers[home].questions.set()
    hung = bench.router._replicas[home].liveness
    hung._again = 0.0
    await bench.ask(chat("b"))
    await until(lambda: not hung.hangs)
    await bench.router.close()


@pytest.mark.usefixtures("patient")
async def test_a_server_that_takes_its_time_and_answers_questions_is_waited_for() -> None:
    servers = Server(), Server()
    bench = _Slow(*servers)
    home = await bench.ask(chat("a"))
    servers[home].prompts.clear()
    waiting = asyncio.create_task(bench.ask(chat("a", 1)))
    await until(lambda: servers[home].questioned > 3)
    assert not waiting.done()
    servers[home].prompts.set()
    assert await soon(waiting) == home
    await bench.router.close()


@pytest.mark.usefixtures("patient")
async def test_others_are_preferred_to_a_server_that_has_sent_nothing_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = Server(), Server()
    bench = _Slow(*servers)
    home = await bench.ask(chat("a"))
    assert await bench.ask(chat("a", 1)) == home
    servers[home].prompts.clear()
    waiting = asyncio.create_task(bench.ask(chat("a", 2)))
    await settled()
    monkeypatch.setattr(liveness, "_DOUBTFUL", -1.0)
    assert await bench.ask(chat("a", 3)) == 1 - home
    servers[home].prompts.set()
    assert await soon(waiting) == home
    await bench.router.close()


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_has_never_answered_the_question_is_waited_for() -> None:
    servers = Server(), Server()
    for server in servers:
        server.questions.clear()
    bench = _Slow(*servers)
    home = await bench.ask(chat("a"))
    servers[home].prompts.clear()
    waiting = asyncio.create_task(bench.ask(chat("a", 1)))
    await until(lambda: servers[home].questioned > 5)
    assert not waiting.done()
    servers[home].prompts.set()
    assert await soon(waiting) == home
    await bench.router.close()


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_does_one_thing_at_a_time_is_waited_for() -> None:
    """It answers questions as long as it has no prompt, and behind a prompt once that is done."""
    servers = Server(), Server()
    bench = _Slow(*servers, kind=None)
    home = await bench.ask(chat("a"))
    await until(lambda: servers[home].questioned > 0)
    for number in (1, 2):
        servers[home].freeze()
        before = servers[home].questioned
        waiting = asyncio.create_task(bench.ask(chat("a", number)))
        await until(lambda: servers[home].questioned > before + 5)  # noqa: B023
        assert not waiting.done()
        servers[home].prompts.set()
        servers[home].questions.set()
        assert await soon(waiting) == home
    await bench.router.close()


@pytest.mark.usefixtures("impatient")
async def test_requests_that_fill_the_connections_to_a_server_do_not_keep_it_from_being_asked() -> None:
    """Questions waited for a free connection until they were given up, and with them all those requests."""
    requests, questions = Server(), Server()
    requests.questions.clear()
    replica = Replica("r", _Slow(requests).servers[0], kind=KINDS["other"], questions=_Slow(questions).servers[0])
    replica.liveness._answers_beside = True
    async with replica.liveness.awaiting([]):
        await until(lambda: questions.questioned > 5)
    await replica.close()


async def test_a_server_behind_http_is_asked_by_connections_of_their_own() -> None:
    router = open_backend("http://127.0.0.1:9,http://127.0.0.1:10")
    assert isinstance(router, Router)
    assert all(one.liveness._backend is not one.backend for one in router._replicas)
    await router.close()


async def test_a_file_of_a_server_that_thinks_for_long_is_asked_for_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    servers = Server(), Server()
    bench = _Slow(*servers)
    file = Outbound("GET", "/v1/files/file-1", [], b"")
    home = await bench.ask(file)
    monkeypatch.setattr(liveness, "_DOUBTFUL", -1.0)
    async with bench.router._replicas[home].liveness.awaiting([]):
        assert await bench.ask(chat("a")) == 1 - home
        assert await bench.ask(file) == home
    await bench.router.close()


@pytest.mark.usefixtures("impatient")
async def test_an_upload_to_a_server_that_hangs_is_not_sent_twice() -> None:
    servers = Server(), Server()
    bench = _Slow(*servers)
    for family in "abcdefgh":
        await bench.ask(chat(family))
    for replica in bench.router._replicas:
        replica.liveness._answers_beside = True
    for server in servers:
        server.freeze()
    upload = Outbound("POST", "/v1/files", [], b"x")
    with pytest.raises(UpstreamError, match="hangs"):
        await soon(bench.router.send(upload))
    assert sum(one.path == "/v1/files" for server in bench.servers for one in server.asked) == 1
    assert CHAT not in upload.path
    await bench.router.close()
