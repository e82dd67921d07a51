"""Every server that requests may go to is looked at, and one of several that is away stops nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from semcache.cli import doctor_upstreams
from semcache.cli.doctor_finding import Finding
from semcache.config.settings import Settings


@contextmanager
def server(status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        thread = Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{found.server_port}/v1"
        finally:
            found.shutdown()
            thread.join()


def away() -> str:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}/v1"


def look(**upstream: Any) -> list[Finding]:
    return asyncio.run(doctor_upstreams.check_upstreams(Settings.model_validate({"upstream": upstream})))


def test_every_replica_is_asked_and_one_that_is_away_is_a_warning() -> None:
    gone = away()
    with server() as one, server(503) as other:
        found = look(replicas=[{"url": one}, {"url": gone}, {"url": other}])
    assert [(row.check, row.state) for row in found] == [
        ("upstream 1", "ok"),
        ("upstream 2", "warn"),
        ("upstream 3", "warn"),
    ]
    assert gone in found[1].found
    assert found[1].remedy


@pytest.mark.parametrize("upstream", ["replicas", "url"])
def test_all_of_them_away_is_a_failure(upstream: str) -> None:
    found = look(**{upstream: f"{away()},{away()}"})
    assert [row.state for row in found] == ["fail", "fail"]


def test_a_proxy_that_other_programs_are_told_of_is_named_where_the_upstream_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert "check the address" in look(url=away())[0].remedy
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@127.0.0.1:9")
    (found,) = look(url=away())
    assert found.remedy.startswith("HTTP_PROXY is set, and is not read")
    assert "secret" not in found.remedy
    (chosen,) = look(url=away(), proxy=away())
    assert "check the address" in chosen.remedy


def test_upstreams_in_this_process(tmp_path: Any) -> None:
    assert look(url="echo")[0].state == "ok"
    (wrong,) = look(url="nonsense")
    assert (wrong.check, wrong.state) == ("upstream", "fail")
    assert look(url=f"engine:{tmp_path}")[0].state == "fail"
