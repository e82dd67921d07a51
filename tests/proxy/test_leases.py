"""Of workers that are asked the same at the same moment one asks the backend, and none waits for one that died."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from semcache.proxy.completion_route import CompletionRoute
from semcache.proxy.leases import Leases
from tests.contract.services import ROOT, echo, serving
from tests.proxy.driver import PACK, Answer, Call, Upstream, ask, completion, running
from tests.waiting import soon

DIGEST = bytes(range(32))
HOLD = """
import sys
from pathlib import Path
from semcache.proxy.leases import Leases
leases = Leases(Path(sys.argv[1]))
print(leases.take(bytes.fromhex(sys.argv[2])), flush=True)
sys.stdin.readline()
"""


@contextmanager
def another(file: Path, digest: bytes) -> Iterator[subprocess.Popen[str]]:
    """Another worker, which has the lease."""
    command = [sys.executable, "-c", HOLD, str(file), digest.hex()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "True\n"
        yield child
        child.kill()


@pytest.mark.process
async def test_a_lease_that_a_worker_took_twice_is_given_back_twice(tmp_path: Path) -> None:
    leases = Leases(tmp_path / "lock")
    assert leases.take(DIGEST)
    assert leases.take(DIGEST)
    leases.give_back(DIGEST)
    with pytest.raises(AssertionError), another(tmp_path / "lock", DIGEST):
        pass
    leases.give_back(DIGEST)
    with another(tmp_path / "lock", DIGEST):
        assert not leases.take(DIGEST)
    leases.close()


@pytest.mark.process
async def test_a_lease_is_one_workers_until_it_ends_however_it_ends(tmp_path: Path) -> None:
    leases = Leases(tmp_path / "lock")
    with another(tmp_path / "lock", DIGEST) as child:
        assert not leases.take(DIGEST)
        assert leases.take(DIGEST[::-1])
        waiting = asyncio.create_task(leases.wait(DIGEST))
        await asyncio.sleep(0)
        assert not waiting.done()
        child.kill()
        assert await waiting
    with another(tmp_path / "lock", bytes(32)):
        assert not await Leases(tmp_path / "lock", patience=0.01).wait(bytes(32))
    leases.close()


@pytest.mark.process
def test_what_is_given_back_is_anothers_to_take(tmp_path: Path) -> None:
    leases = Leases(tmp_path / "lock")
    assert leases.take(DIGEST)
    assert leases.take(DIGEST)
    leases.give_back(DIGEST)
    leases.give_back(DIGEST)
    with another(tmp_path / "lock", DIGEST):
        assert not leases.take(DIGEST)
    leases.close()
    assert leases.take(DIGEST)


def test_without_a_file_everybody_asks(tmp_path: Path) -> None:
    leases = Leases(tmp_path / "nowhere" / "lock")
    assert leases.take(DIGEST)
    leases.give_back(DIGEST)
    leases.close()


class Elsewhere(Leases):
    """Every lease is another worker's, until `ended`."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.asked, self.ended = asyncio.Event(), asyncio.Event()

    def take(self, exact: bytes) -> bool:
        self.asked.set()
        return self.ended.is_set() and super().take(exact)


@pytest.mark.parametrize("answered", [True, False])
async def test_what_another_worker_is_asking_is_waited_for_and_asked_anew_if_it_came_to_nothing(
    tmp_path: Path, answered: bool
) -> None:
    upstream = Upstream(lambda _: Answer([completion("Ours.")]))
    store = f"sqlite:///{tmp_path / 'shared.db'}"
    async with (
        running(upstream, tmp_path, store__url=store, server__workers=2) as one,
        running(Upstream(lambda _: Answer([completion("Theirs.")])), tmp_path, store__url=store) as two,
    ):
        elsewhere = Elsewhere(tmp_path / "lock")
        one.generation.completions = CompletionRoute(replace(one.context, leases=elsewhere))
        waiting = [Call(one, ask("What is a fjord?")) for _ in range(3)]
        await soon(elsewhere.asked.wait())
        if answered:
            await Call(two, ask("What is a fjord?")).reply()
        assert upstream.calls == []
        elsewhere.ended.set()
        replies = [await call.reply() for call in waiting]
    said = {reply.json["choices"][0]["message"]["content"] for reply in replies}
    assert said == {"Theirs." if answered else "Ours."}
    assert len(upstream.calls) == (0 if answered else 1)
    # The one that asks may have its answer before the others look again.
    own = [reply for reply in replies if reply.cache.get("hit") is None and "collapsed" not in reply.cache]
    assert len(own) == (0 if answered else 1)


async def test_a_stream_does_not_wait_for_the_end_of_anothers(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion("Ours.")]))
    async with running(upstream, tmp_path, server__workers=2) as proxy:
        proxy.generation.completions = CompletionRoute(replace(proxy.context, leases=Elsewhere(tmp_path / "lock")))
        assert (await Call(proxy, ask("What is a fjord?", stream=True)).reply()).status == 200
    assert len(upstream.calls) == 1


class Counted(Leases):
    """Another worker has the lease when it is first asked for; then it is counted who takes it and gives it back."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.asked = self.taken = self.given = 0

    def take(self, exact: bytes) -> bool:
        self.asked += 1
        mine = self.asked > 1 and super().take(exact)
        self.taken += mine
        return mine

    def give_back(self, exact: bytes) -> None:
        self.given += 1
        super().give_back(exact)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_gives_back_no_lease_but_the_one_it_took(tmp_path: Path, stream: bool) -> None:
    """Else another worker asks what another request of this one is asking still."""
    async with running(Upstream(lambda _: Answer([completion("Ours.")])), tmp_path, server__workers=2) as proxy:
        leases = Counted(tmp_path / "lock")
        proxy.generation.completions = CompletionRoute(replace(proxy.context, leases=leases))
        assert (await Call(proxy, ask("What is a fjord?", stream=stream)).reply()).status == 200
    waited = not stream
    assert (leases.asked, leases.taken, leases.given) == (1 + waited, waited, waited)


def test_a_lease_is_given_back_once(tmp_path: Path) -> None:
    leases = Leases(tmp_path / "lock")
    with leases.lease(DIGEST) as outer:
        with leases.lease(DIGEST) as inner:
            assert (outer.mine, inner.mine) == (True, True)
            inner.give_back()
            inner.give_back()
        assert leases._held.total() == 1
    assert leases._held.total() == 0
    leases.close()


@pytest.mark.slow
@pytest.mark.process
def test_workers_that_are_asked_the_same_at_once_ask_the_backend_once(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK)
    options = ("--workers", "2", "--policies", str(pack), "--embedder", "hashing")
    with (
        # Long enough for all to have come before the first is answered.
        echo("--latency", "2") as upstream,
        serving(upstream.url, tmp_path / "data", *options) as proxy,
        ThreadPoolExecutor(16) as pool,
    ):
        asked = [pool.submit(proxy.post, "/v1/chat/completions", ask("What is a fjord?")) for _ in range(16)]
        assert len({one.result().json()["id"] for one in asked}) == 1


def test_where_there_are_no_locks_every_worker_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    leases = Leases(tmp_path / "lock")
    assert leases.take(DIGEST)
    leases.give_back(DIGEST)
    leases.close()
