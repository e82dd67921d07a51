"""A proxy at a Unix socket: clients reach it, it leaves nothing behind, and it takes nobody's place."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import openai
import pytest

from semcache.cli import unix_socket
from semcache.cli.listener import check_unix, listening
from semcache.cli.timing.timed_client import TimedClient
from semcache.errors import ConfigError, StoreError
from tests.cli.forked import Fork, Forked
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no Unix sockets")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def path() -> Iterator[str]:
    """A path that is short enough, which those of pytest are not everywhere."""
    with TemporaryDirectory(prefix="uds") as folder:
        yield f"{folder}/proxy.sock"


def served(fork: Fork, path: str, *arguments: object) -> Forked:
    """A proxy that is ready at `path`."""
    server = fork("serve", "--upstream", "echo", "--host", f"unix:{path}", *arguments)
    line = server.stderr.readline()
    assert line.startswith(f"semcache is ready on unix:{path} (http://localhost/v1)"), line + server.stderr.read()
    return server


def status(path: str, prompt: str) -> str:
    """What the cache says of one chat completion of OpenAI's client."""
    transport = httpx2.HTTPTransport(uds=path)
    with (
        openai.DefaultHttpxClient(transport=transport) as http,
        openai.OpenAI(api_key="k", base_url="http://localhost/v1", http_client=http, timeout=PATIENCE) as client,
    ):
        reply = client.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": prompt}]
        )
        assert prompt in (reply.parse().choices[0].message.content or "")
        return reply.headers["cache-status"]


def left_by_a_killed_process(path: str) -> None:
    """Make the file of a socket that nobody listens on."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)


@pytest.mark.process
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_clients_get_answers_and_hits_and_a_stop_removes_the_file(
    run: Run, fork: Fork, path: str, workers: int
) -> None:
    server = served(fork, path, "--workers", workers)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o666
    assert "fwd=miss" in status(path, "How do I rename a branch?")
    # Another worker learns of the entry a little later.
    eventually(lambda: "; hit" in status(path, "How do I rename a branch?"))
    assert '"entries": 1' in run("stats", "--json", "--url", f"unix:{path}").stdout
    timed = TimedClient(f"unix:{path}/v1", "k")
    assert timed.ask("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Why?"}]}) > 0
    timed.close()
    told = run("doctor", "--json", "--upstream", "echo", "--host", f"unix:{path}")
    assert f"a semcache server is running on unix:{path}" in told.stdout
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=PATIENCE) == 0
    assert not Path(path).exists()


@pytest.mark.process
def test_a_server_at_a_unix_socket_is_an_upstream(run: Run, fork: Fork, path: str) -> None:
    served(fork, path)
    front = f"{path}.front"
    server = fork("serve", "--upstream", f"unix:{path}", "--host", f"unix:{front}")
    assert f"upstream unix:{path}" in server.stderr.readline()
    assert "fwd=miss; stored" in status(front, "How do I rename a branch?")
    assert "; hit" in status(front, "How do I rename a branch?")
    found = run("doctor", "--json", "--upstream", f"unix:{path}").stdout
    assert f"unix:{path} answers 200" in found
    absent = run("doctor", "--json", "--upstream", f"unix:{path}.absent").stdout
    assert f"cannot connect to unix:{path}.absent" in absent


@pytest.mark.process
def test_a_visitor_without_an_address_may_mistype_a_key(fork: Fork, path: str) -> None:
    served(fork, path)
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=path), timeout=PATIENCE) as client:
        assert client.post("http://localhost/semcache/ui/login", data={"key": "wrong"}).status_code == 401


@pytest.mark.process
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_during_the_start_removes_the_file(fork: Fork, path: str, workers: int) -> None:
    server = fork("serve", "--upstream", "echo", "--host", f"unix:{path}", "--workers", workers)
    eventually(Path(path).exists)
    server.send_signal(signal.SIGTERM)
    server.wait(timeout=PATIENCE)
    assert not Path(path).exists()


@pytest.mark.process
def test_what_a_killed_proxy_has_left_is_taken_over(run: Run, fork: Fork, path: str) -> None:
    server = served(fork, path)
    server.kill()
    server.wait(timeout=PATIENCE)
    told = run("doctor", "--json", "--upstream", "echo", "--host", f"unix:{path}")
    assert "was left by a process that was killed" in told.stdout
    assert Path(path).is_socket()
    served(fork, path)
    assert "semcache" in status(path, "How do I rename a branch?")


@pytest.mark.process
def test_of_two_that_start_together_one_serves_and_the_other_says_why(fork: Fork, path: str) -> None:
    left_by_a_killed_process(path)
    both = [fork("serve", "--upstream", "echo", "--host", f"unix:{path}") for _ in range(2)]
    loser = eventually(lambda: [one for one in both if one.poll() is not None])[0]
    assert loser.returncode == 1
    assert f"cannot listen on unix:{path}: a process listens there already" in loser.stderr.read()
    # The other one may still be starting: the client waits.
    assert "semcache" in status(path, "How do I rename a branch?")


@pytest.mark.parametrize("stale", [True, False])
def test_of_many_that_start_together_one_has_the_socket(path: str, stale: bool) -> None:
    meeting = threading.Barrier(8, timeout=PATIENCE)

    def started(_: int) -> bool:
        meeting.wait()
        try:
            with listening(f"unix:{path}", 0) as (listener, _url):
                meeting.wait()
                listener.setblocking(False)  # what was connected is there; the socket of another would wait for ever
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
                    listener.accept()[0].close()
        except StoreError:
            meeting.wait()
            return False
        return True

    for _ in range(25):
        if stale:
            left_by_a_killed_process(path)
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(started, range(8))) == 1
        assert not Path(path).exists()


def test_a_proxy_that_is_starting_is_not_taken_for_a_dead_one(path: str) -> None:
    with listening(f"unix:{path}", 0), pytest.raises(StoreError, match="a process listens there already"):
        check_unix(path)


def test_one_that_ends_leaves_the_socket_of_its_successor(path: str) -> None:
    with listening(f"unix:{path}", 0) as (first, _):
        first.close()  # it drains, and takes no more connections
        second = listening(f"unix:{path}", 0)
        second.__enter__()
    assert Path(path).is_socket()
    second.__exit__(None, None, None)
    assert not Path(path).exists()


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_no_socket_is_left_alone(path: str, kind: str) -> None:
    thing = Path(path)
    match kind:
        case "file":
            thing.write_text("precious")
        case "folder":
            thing.mkdir()
        case _:
            thing.symlink_to("elsewhere")
    with pytest.raises(ConfigError, match="something else than a socket"), listening(f"unix:{path}", 0):
        pass
    assert os.path.lexists(path)


def test_the_longest_path_works_and_a_longer_one_is_measured(path: str) -> None:
    from semcache.cli.unix_socket import LONGEST

    longest = path + "x" * (LONGEST - len(path))
    with listening(f"unix:{longest}", 0):
        assert Path(longest).is_socket()
    said = re.escape(f"the path has {LONGEST + 1} bytes, and the kernel takes {LONGEST} at most")
    with pytest.raises(ConfigError, match=said), listening(f"unix:{longest}x", 0):
        pass


def test_a_folder_that_cannot_be_used_is_named(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(path).parent
    missing = folder / "none" / "proxy.sock"
    said = re.escape(f"there is no folder {str(missing.parent)!r}: make it")
    with pytest.raises(ConfigError, match=said), listening(f"unix:{missing}", 0):
        pass
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    said = re.escape(f"the folder {str(folder)!r} may not be written")
    with pytest.raises(ConfigError, match=said), listening(f"unix:{path}", 0):
        pass


@pytest.mark.process
def test_a_port_beside_a_socket_is_refused_on_the_command_line(run: Run, path: str) -> None:
    done = run("serve", "--upstream", "echo", "--host", f"unix:{path}", "--port", 9000)
    assert done.returncode == 2
    assert f"--port 9000: the host is 'unix:{path}', which has no port" in done.stderr
    told = run("doctor", "--json", "--upstream", "echo", "--host", f"unix:{path}", "--port", 9000)
    assert told.returncode == 1
    assert "which has no port" in told.stdout
    told = run(
        "doctor", "--json", "--upstream", "echo", "--host", f"unix:{path}", env={"SEMCACHE_SERVER__PORT": "9000"}
    )
    assert told.returncode == 0
    assert f"unix:{path} is free" in told.stdout


def test_a_signal_while_it_begins_to_listen_leaves_no_file(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr(Path, "chmod", stopped)
    with pytest.raises(SystemExit), unix_socket.listening_at(path):
        pytest.fail("it listens")
    assert not Path(path).exists()
