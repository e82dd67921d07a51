"""Real sockets for backend tests: ASGI applications under uvicorn in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from semcache.upstream.backends.echo import echo_app


@contextmanager
def served(app: Any) -> Iterator[str]:
    config = uvicorn.Config(
        app, port=0, log_level="critical", lifespan="off", access_log=False, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """Serve an application until the test ends; returns its URL."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda app: stack.enter_context(served(app))


@pytest.fixture(scope="session")
def upstream() -> Iterator[str]:
    """The URL of a scripted upstream without delays."""
    with served(echo_app({"What is the capital of France?": "Paris is the capital of France."})) as url:
        yield url
