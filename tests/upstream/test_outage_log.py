"""What an operator would miss if a log said nothing of an upstream that is away, or a line for each request."""

from __future__ import annotations

import httpx2
import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.upstream.backends.connection import Connection
from semcache.upstream.backends.http import HttpBackend
from semcache.upstream.backends.outage_log import EVERY, OutageLog
from tests.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(clock: Clock) -> OutageLog:
    return OutageLog("http://h", clock)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


async def test_an_upstream_that_is_away_is_said_once_and_that_it_is_back_once(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    away = True

    def answer(request: httpx2.Request) -> httpx2.Response:
        if away:
            raise httpx2.ConnectError("All connection attempts failed")
        return httpx2.Response(500)

    backend = HttpBackend("http://h/v1", Connection(watched=True), transport=httpx2.MockTransport(answer), clock=clock)
    asked = Outbound("GET", "/v1/models", [], b"")
    for _ in range(3):
        with pytest.raises(UpstreamError):
            await backend.send(asked)
    assert messages(caplog) == [
        "the upstream http://h does not answer: cannot connect to http://h: All connection attempts failed; is it "
        "running, and the URL right?"
    ]
    away, clock.now = False, clock.now + 34
    for _ in range(2):
        await (await backend.send(asked)).close()
    assert messages(caplog) == ["the upstream http://h answers again, after 34 s; 3 calls failed"]
    await backend.close()


async def test_a_request_that_is_not_valid_is_no_outage(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.LocalProtocolError("Illegal header value")

    backend = HttpBackend("http://h", Connection(watched=True), transport=httpx2.MockTransport(answer), clock=clock)
    with pytest.raises(UpstreamError, match="header is not valid"):
        await backend.send(Outbound("GET", "/v1/models", [], b""))
    assert messages(caplog) == []
    await backend.close()


def test_one_that_comes_and_goes_does_not_fill_the_log(
    log: OutageLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(40):
        log.failed(UpstreamError("broke off"))
        log.answered(log.begin())
        clock.now += 1
    assert len(messages(caplog)) == 2
    clock.now += EVERY
    log.failed(UpstreamError("broke off"))
    assert messages(caplog) == [
        "the upstream http://h does not answer: broke off; 40 calls have failed since the last such line"
    ]
    log.answered(log.begin())
    assert messages(caplog) == ["the upstream http://h answers again, after 0 s; 1 call failed"]


def test_an_outage_that_began_unsaid_is_said_while_it_goes_on(
    log: OutageLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    log.failed(UpstreamError("broke off"))
    log.answered(log.begin())
    caplog.clear()
    for _ in range(int(EVERY) + 1):
        clock.now += 1
        log.failed(UpstreamError("cannot connect"))
    (line,) = messages(caplog)
    assert "cannot connect; 60 calls have failed" in line


def test_the_answer_to_a_request_from_before_is_not_the_end(
    log: OutageLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    sent = log.begin()
    clock.now += 5
    log.failed(UpstreamError("cannot connect"))
    caplog.clear()
    log.answered(sent)
    assert messages(caplog) == []
    log.answered(log.begin())
    assert len(messages(caplog)) == 1
