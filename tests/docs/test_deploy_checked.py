"""What operators deploy, checked by the programs that will read it, and the composition's processes really started."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import pytest
import yaml

from tests.cli.conftest import CLI
from tests.docs.fences import ROOT
from tests.docs.test_deploy import DEPLOY, SUBSTITUTED
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.waiting import PATIENCE, eventually

SCRATCH = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CHUNKED = b"transfer-encoding: chunked\r\n\r\n7\r\ndata: 1\r\n"


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: Debian has it in the package prometheus, nginx or systemd")
    return found


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "rules", "alerts.yml"],
        ["check", "config", "prometheus.yml"],
        ["test", "rules", "alerts_test.yml"],
    ],
    ids=["rules", "config", "unit-tests"],
)
def test_prometheus_takes_rules_and_configuration(arguments: list[str]) -> None:
    done = subprocess.run([_tool("promtool"), *arguments], cwd=DEPLOY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [["verify", "--man=no"], ["security", "--offline=true", "--threshold=20"]],
    ids=["verify", "security"],
)
def test_systemd_takes_the_unit_and_finds_it_closed_off(tmp_path: Path, arguments: list[str]) -> None:
    text = (DEPLOY / "semcache.service").read_text(encoding="utf-8")
    unit = tmp_path / "semcache.service"
    unit.write_text(text.replace("/opt/semcache/bin/semcache", shutil.which("true") or "/bin/true"))
    program = _tool("systemd-analyze")
    done = subprocess.run([program, *arguments, str(unit)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if arguments[0] == "verify":
        assert not done.stderr, "a setting that systemd does not know is a warning alone"


@pytest.mark.process
def test_through_nginx_as_the_documentation_has_it_what_breaks_off_looks_broken(tmp_path: Path) -> None:
    program, page = _tool("nginx"), (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```nginx\n(.*?)```", page, re.DOTALL)
    large = b"a" * (3 << 20)  # a picture in a prompt
    with TemporaryDirectory(prefix="uds") as folder, ThreadPoolExecutor() as pool:
        behind = socket.socket(socket.AF_UNIX)
        behind.bind(f"{folder}/proxy.sock")
        Path(f"{folder}/proxy.sock").chmod(0o666)
        behind.listen()
        behind.settimeout(PATIENCE)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        scratch = "".join(f"{one}_temp_path {tmp_path}/{one};" for one in SCRATCH)
        block = block.replace("/run/semcache", folder)
        listening = f"listen 127.0.0.1:{port};"
        config = (
            f"pid {tmp_path}/pid; events {{}} http {{ access_log off; {scratch} server {{ {listening} {block} }} }}"
        )
        (tmp_path / "nginx.conf").write_text(config)
        arguments = [program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "log")]
        process = subprocess.Popen([*arguments, "-g", "daemon off; master_process off;"])
        try:
            eventually(lambda: _answers(port))
            told = pool.submit(_broken_stream, behind)
            with pytest.raises(httpx2.RemoteProtocolError), httpx2.Client(timeout=PATIENCE) as client:
                client.post(f"http://127.0.0.1:{port}/v1/chat/completions", content=large)
            assert told.result(PATIENCE) == len(large)
        finally:
            process.terminate()
            process.wait(PATIENCE)
            behind.close()


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _broken_stream(listener: socket.socket) -> int:
    """Answer a request as semcache does when its upstream breaks off; return the length of the request's body."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        version = stream.readline().split()[2]
        length = 0
        while (line := stream.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = stream.read(length)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        ended = b"connection: close\r\n\r\ndata: 1" if version == b"HTTP/1.0" else CHUNKED
        connection.sendall(ended)
        return len(body)


def test_the_manifests_follow_the_schemas_of_kubernetes() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
    assert {one["kind"] for one in documents} == {"Deployment", "Service", "PodDisruptionBudget"}
    for document in documents:
        validate.validate(document, validate.latest_version(), strict=True)
        wrong = json.loads(json.dumps(document))
        wrong["spec"]["selectors"] = wrong["spec"].pop("selector")
        with pytest.raises(validate.ValidationError):
            validate.validate(wrong, validate.latest_version(), strict=True)


@pytest.fixture
def composition() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return services


@pytest.fixture
def processes() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(command: list[str], **options: Any) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(command, text=True, **options))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.postgres
def test_the_composition_runs(
    composition: dict[str, Any],
    processes: Callable[..., subprocess.Popen[str]],
    postgres_url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Its processes, with its variables, on a PostgreSQL and under a Prometheus; images and networks are not there."""
    given = {
        name: SUBSTITUTED.sub(lambda found: found["rest"][2:] if found["rest"].startswith(":-") else "pw", str(value))
        for name, value in composition["proxy"]["environment"].items()
    }
    port, seen = _free(), _free()
    # What the image sets, and what has another name here than between containers.
    given |= {
        "SEMCACHE_DATA": str(tmp_path / "data"),
        "SEMCACHE_SERVER__HOST": "127.0.0.1",
        "SEMCACHE_SERVER__PORT": str(port),
        "SEMCACHE_STORE__URL": postgres_url,
        "SEMCACHE_UPSTREAM__URL": "echo",
    }
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), **given}
    proxy = processes([*CLI, "serve"], env=env, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert proxy.stderr is not None
    assert proxy.stderr.readline().startswith("semcache is ready on ")
    made = subprocess.run(
        [*CLI, "keys", "create", "--tenant", "acme"], env=env, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    key = made.stdout.strip()
    url = f"http://127.0.0.1:{port}"

    def asked() -> str:
        """The answer's cache status, "" while the worker that was met does not know the new key."""
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "What is a monad?"}]}).encode()
        headers = {"content-type": "application/json", "x-semcache-key": key}
        request = urllib.request.Request(f"{url}/v1/chat/completions", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return str(reply.headers["cache-status"])
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
            return ""

    eventually(lambda: "hit" in asked())
    prometheus = shutil.which("prometheus")
    if prometheus is not None:
        text = (DEPLOY / "prometheus.yml").read_text(encoding="utf-8")
        (tmp_path / "prometheus.yml").write_text(text.replace("proxy:8080", f"127.0.0.1:{port}").replace("15s", "1s"))
        shutil.copy(DEPLOY / "alerts.yml", tmp_path)
        options = [f"--web.listen-address=127.0.0.1:{seen}", f"--storage.tsdb.path={tmp_path / 'tsdb'}"]
        command = [prometheus, f"--config.file={tmp_path / 'prometheus.yml'}", *options]
        processes(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

        def scraped() -> bool:
            query = f"http://127.0.0.1:{seen}/api/v1/query?query=sum(semcache_requests_total)"
            try:
                with urllib.request.urlopen(query, timeout=PATIENCE) as reply:
                    found = json.load(reply)["data"]["result"]
            except OSError:
                return False
            return bool(found) and float(found[0]["value"][1]) >= 2

        eventually(scraped)
        with urllib.request.urlopen(f"http://127.0.0.1:{seen}/api/v1/rules", timeout=PATIENCE) as reply:
            [group] = json.load(reply)["data"]["groups"]
        assert {rule["health"] for rule in group["rules"]} <= {"ok", "unknown"}
    proxy.send_signal(signal.SIGTERM)
    assert proxy.wait(timeout=PATIENCE) == 0
    assert composition["proxy"]["stop_grace_period"] == "30s", "longer than the 20 s that a proxy takes to end"


def _free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
