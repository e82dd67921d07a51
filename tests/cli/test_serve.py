"""The proxy as a process: how it starts, says so, refuses and stops."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy.pool import QueuePool

from semcache.cli.listener import listen
from semcache.cli.logging_config import WithoutExpected, config
from semcache.errors import ConfigError, StoreError
from tests.waiting import PATIENCE, eventually

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Start = Callable[..., "subprocess.Popen[str]"]
pytestmark = pytest.mark.process
ECHO = ("--upstream", "echo", "--port", "0")


def ready(server: subprocess.Popen[str]) -> str:
    """The line that says so; the test's own time limit bounds the wait."""
    assert server.stderr is not None
    line = server.stderr.readline()
    assert line.startswith("semcache is ready on "), line + server.stderr.read()
    return line


def url_of(line: str) -> str:
    found = re.search(r"http://\S+", line)
    assert found is not None
    return found[0]


def ask(url: str, prompt: str) -> tuple[str, str]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
    request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        answer = json.load(reply)["choices"][0]["message"]["content"]
        return reply.headers["cache-status"], answer


def test_it_starts_answers_follows_the_command_line_and_stops(run: Run, start: Start, tmp_path: Path) -> None:
    server = start("serve", *ECHO)
    line = ready(server)
    url = url_of(line)
    for fact in ("upstream echo", "policies plain", f"store {tmp_path / 'data'}", "entries 0"):
        assert fact in line
    assert "fwd=miss; stored" in ask(url, "What is a monad?")[0]
    assert "hit" in ask(url, "What is a monad?")[0]
    with urllib.request.urlopen(f"{url}/models", timeout=PATIENCE) as reply:
        assert reply.headers["server"] is None
        assert reply.headers["date"] is not None
    assert (
        "is running"
        in run(
            "doctor", "--json", env={"SEMCACHE_SERVER__PORT": url.split(":")[2][:-3], "SEMCACHE_UPSTREAM__URL": "echo"}
        ).stdout
    )
    assert json.loads(run("purge", "--model", "m", "--yes", "--json").stdout)["count"] == 1
    eventually(lambda: "hit" not in ask(url, "What is a monad?")[0])
    stats = json.loads(run("stats", "--json", "--url", url).stdout)
    assert stats["total"]["requests"] >= 3
    server.send_signal(signal.SIGTERM)
    out, err = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert err == ""
    assert all(json.loads(row)["event"] == "request" for row in out.splitlines())
    # What was stored survives, and the next start says so.
    again = start("serve", *ECHO)
    assert "entries 1" in ready(again)
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=PATIENCE)
    assert again.returncode == 130


@pytest.mark.slow
def test_workers_share_one_cache_and_clean_up(start: Start, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    server = start("serve", *ECHO, "--workers", 2, env={"TMPDIR": str(tmp_path / "tmp")})
    url = url_of(ready(server))
    assert [path.name[:17] for path in (tmp_path / "tmp").iterdir()] == ["semcache-metrics-"]
    assert "stored" in ask(url, "What is a monad?")[0]
    eventually(lambda: all("hit" in ask(url, "What is a monad?")[0] for _ in range(20)))
    with urllib.request.urlopen(url.removesuffix("/v1") + "/metrics", timeout=PATIENCE) as reply:
        metrics = reply.read().decode()
    assert "semcache_requests_total" in metrics
    [memory] = re.findall(r"^process_resident_memory_bytes (\S+)", metrics, re.MULTILINE)
    workers = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()[-2:]
    own = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") for pid in workers]
    assert float(memory) > max(own), "the memory of both workers is added up"
    server.send_signal(signal.SIGTERM)
    _, err = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0, err
    assert list((tmp_path / "tmp").iterdir()) == []


def test_workers_reload_together_and_a_mistake_is_said(run: Run, start: Start, tmp_path: Path) -> None:
    server = start("serve", *ECHO, "--workers", 2)
    url = url_of(ready(server))
    health = url.removesuffix("/v1") + "/readyz"

    def packs() -> set[str]:
        found = set()
        for _ in range(20):
            with urllib.request.urlopen(health, timeout=PATIENCE) as reply:
                found.add(json.load(reply)["policies"])
        return found

    (tmp_path / "plain.yaml").write_text("name: other\ntarget: 0.04\n")
    done = run("reload")
    assert done.returncode == 0, done.stderr
    assert "reloaded: policies" in done.stdout
    assert "guards or the like changed: default" in done.stdout
    assert packs() == {"other"}, "it waits for both workers"
    (tmp_path / "plain.yaml").write_text("name: other\ntarget: often\n")
    done = run("reload", "--json")
    assert done.returncode == 1
    assert "plain.yaml:2" in json.loads(done.stdout)["error"]
    (tmp_path / "plain.yaml").write_text("name: third\n")
    server.send_signal(signal.SIGHUP)
    eventually(lambda: packs() == {"third"})
    actions = json.loads(run("actions", "--json").stdout)
    assert "pid" not in json.dumps(actions), "the log is not of processes"
    assert [(one["action"], one["who"]) for one in actions if not one["who"].startswith("worker")] == [
        ("reload", "SIGHUP"),
        ("reload failed", "command line"),
        ("reload", "command line"),
    ]


def test_a_proxy_on_its_own_reloads_on_the_signal(start: Start, tmp_path: Path) -> None:
    server = start("serve", *ECHO)
    url = url_of(ready(server)).removesuffix("/v1")

    def pack() -> str:
        with urllib.request.urlopen(f"{url}/readyz", timeout=PATIENCE) as reply:
            return str(json.load(reply)["policies"])

    (tmp_path / "plain.yaml").write_text("name: [broken\n")
    server.send_signal(signal.SIGHUP)
    assert server.stderr is not None
    assert "not reloaded, everything is as it was" in server.stderr.readline()
    (tmp_path / "plain.yaml").write_text("name: other\n")
    server.send_signal(signal.SIGHUP)
    eventually(lambda: pack() == "other")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads what a process holds back")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_reload_that_is_asked_for_during_the_start_comes_after_it(start: Start, workers: int) -> None:
    """The signal ended a proxy that was not ready yet."""
    server = start("serve", *ECHO, "--workers", workers)

    def held() -> bool:
        status = Path(f"/proc/{server.pid}/status").read_text()
        return bool(int(status.partition("SigBlk:")[2].split()[0], 16) & 1 << signal.SIGHUP - 1)

    eventually(held)
    server.send_signal(signal.SIGHUP)
    assert server.stderr is not None
    said = [server.stderr.readline() for _ in range(workers + 1)]
    assert sum(line.startswith("info: reloaded for SIGHUP") for line in said) == workers
    assert sum(line.startswith("semcache is ready on ") for line in said) == 1


def test_nobody_to_reload_is_an_error(run: Run, fill: Callable[..., object], tmp_path: Path) -> None:
    assert run("keys", "create", "--tenant", "acme").returncode == 0
    done = run("reload", "--wait", "0.2")
    assert done.returncode == 1
    assert "no proxy" in done.stderr


def test_a_worker_that_dies_is_named_counted_and_replaced(start: Start) -> None:
    server = start("serve", *ECHO, "--workers", 2)
    url = url_of(ready(server)).removesuffix("/v1")
    [victim, *_] = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()[::-1]
    os.kill(int(victim), signal.SIGKILL)
    assert server.stderr is not None
    line = server.stderr.readline()
    assert f"worker {victim} died: killed by SIGKILL" in line
    assert "takes its place" in line

    def counted() -> bool:
        with urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE) as reply:
            return b'semcache_worker_deaths_total{how="signal"} 1.0' in reply.read()

    eventually(counted)


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed_and_leave_the_port_free(start: Start) -> None:
    server = start("serve", *ECHO, "--workers", 2)
    port = int(url_of(ready(server)).split(":")[2][:-3])
    server.kill()
    assert server.wait(timeout=PATIENCE) == -signal.SIGKILL

    def free() -> bool:
        try:
            listen("127.0.0.1", port).close()
        except StoreError:
            return False
        return True

    eventually(free)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--port", "70000"], "command line: server.port"),
        (["--policies", "suport"], "'support'"),
        (["--upstream", "api.example.com"], "with its scheme"),
        (["--host", "0.0.0.0"], "semcache keys create"),
    ],
)
def test_a_mistake_is_2_and_one_line(run: Run, arguments: list[str], says: str) -> None:
    done = run("serve", *ECHO, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_is_said_before_anything_starts(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        done = run("serve", "--upstream", "echo", "--port", busy.getsockname()[1])
    assert done.returncode == 1
    assert "in use" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("host", "port", "says"),
    [
        ("nowhere.invalid", 0, "'nowhere.invalid' is no address of this machine: name one with --host"),
        ("192.0.2.1", 0, "'192.0.2.1' is no address of this machine"),
        ("a" * 80, 0, "is no address of this machine"),
        ("127.0.0.1", 70000, "port 70000 is none: choose one from 0 to 65535"),
    ],
)
def test_where_nobody_can_listen_is_a_mistake_of_the_settings(host: str, port: int, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        listen(host, port)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_cannot_start_ends_the_command(run: Run, tmp_path: Path, workers: int) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name in ("model.onnx", "tokenizer.json", "model.json"):
        (model / name).write_text("{}")
    done = run("serve", *ECHO, "--embedder", f"onnx:{model}", "--workers", workers)
    assert done.returncode not in (0, None)
    assert "error: " in done.stderr
    assert str(model) in done.stderr
    assert "ready" not in done.stderr


def test_an_upstream_that_breaks_off_is_no_error_of_ours(start: Start) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    with socket.create_server(("127.0.0.1", 0)) as upstream:

        def cut() -> None:
            connection, _ = upstream.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head + b"%x\r\n%s\r\n" % (len(chunk), chunk))

        thread = threading.Thread(target=cut)
        thread.start()
        address = f"http://127.0.0.1:{upstream.getsockname()[1]}/v1"
        # The one connection is for the prompt, not for the question what kind of server this is.
        server = start("serve", "--upstream", address, "--port", 0, env={"SEMCACHE_UPSTREAM__CACHE_SALT": "false"})
        url = url_of(ready(server))
        body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi?"}]}).encode()
        request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply, pytest.raises(http.client.IncompleteRead):
            reply.read()
        thread.join()
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    assert err == ""
    assert server.returncode == 0


def test_a_websocket_that_the_upstream_has_none_of_is_refused(start: Start) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    url = url_of(ready(start("serve", *ECHO)))
    with pytest.raises(InvalidStatus) as caught, connect(url.replace("http:", "ws:") + "/realtime?model=m"):
        pass
    assert caught.value.response.status_code == 501
    assert b"has no WebSockets" in caught.value.response.body
    assert "hit" not in ask(url, "What is a monad?")[0], "and others are served"


def test_a_client_that_waits_for_100_is_told_to_go_on(start: Start) -> None:
    url = urllib.parse.urlsplit(url_of(ready(start("serve", *ECHO))))
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: {url.netloc}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n"
    )
    with socket.create_connection((url.hostname, url.port), PATIENCE) as client:
        client.sendall(head.encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 100 ")
        client.sendall(body)
        reply = b"".join(iter(lambda: client.recv(65536), b""))
    assert reply.startswith(b"HTTP/1.1 200 ")


def test_workers_count_a_keys_requests_together(run: Run, start: Start) -> None:
    key = run("keys", "create", "--tenant", "acme", "--requests", 5).stdout.strip()
    url = url_of(ready(start("serve", *ECHO, "--workers", 2)))

    def status(number: int) -> int:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"question {number}"}]}).encode()
        headers = {"content-type": "application/json", "x-semcache-key": key}
        try:
            with urllib.request.urlopen(
                urllib.request.Request(f"{url}/chat/completions", body, headers), timeout=PATIENCE
            ) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code if error.headers["retry-after"] else 0

    with ThreadPoolExecutor(8) as pool:
        found = Counter(pool.map(status, range(24)))
    assert found == {200: 5, 429: 19}


def test_workers_that_drain_refuse_who_comes_late(start: Start) -> None:
    server = start("serve", *ECHO, "--workers", "2")
    url = urllib.parse.urlsplit(url_of(ready(server)))
    assert url.port is not None

    def refused() -> bool:
        try:
            socket.create_connection(("127.0.0.1", url.port or 0)).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:  # it came between the signal and the end of listening
            return False
        return False

    with socket.create_connection(("127.0.0.1", url.port)) as half:
        half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n{")
        server.send_signal(signal.SIGTERM)
        eventually(refused)
    server.wait(PATIENCE)


def test_a_reply_that_a_drain_cuts_is_no_traceback() -> None:
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "Exception in ASGI application\n", (), None)
    assert WithoutExpected().filter(record)
    record.exc_info = False  # type: ignore[assignment]
    assert WithoutExpected().filter(record)
    record.exc_info = (asyncio.CancelledError, asyncio.CancelledError("timeout graceful shutdown exceeded"), None)
    assert not WithoutExpected().filter(record)


def test_a_database_that_goes_away_is_no_traceback_of_its_pool(caplog: pytest.LogCaptureFixture) -> None:
    class Lost:
        def _lost(self) -> None:
            raise OSError("the connection is lost")

        rollback = close = _lost

    pool = QueuePool(Lost)  # type: ignore[arg-type]
    with caplog.at_level(logging.ERROR, "sqlalchemy.pool"):
        pool.connect().close()
        pool.dispose()
    assert caplog.records
    assert not any(WithoutExpected().filter(record) for record in caplog.records)
    assert "sqlalchemy.pool" in config("info")["loggers"]
