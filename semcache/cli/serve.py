"""`semcache serve`: the proxy as a service of this machine.

Knows uvicorn and processes, nothing of requests. Options of the command line are passed on in the environment, because
every process reads its settings again for a reload. Invariant: a mistake that can be known is an error before a worker
starts; a worker that cannot start before any serves ends the command, and none outlives it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semcache.cli import logging_config, options, output, start_checks
from semcache.cli.listener import listening, refuse_port
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.cli.ready_line import announce
from semcache.cli.shared_metrics import shared_metrics
from semcache.runtime import garbage_collection, reload_signal

if TYPE_CHECKING:
    from uvicorn import Server

    from semcache.config.settings import Settings
    from semcache.proxy.reloading import Loaded

_APP = "semcache.proxy.process_application:create"
_GRACE = 20
_KEEP_ALIVE = 75
_START_FAILED = 3  # uvicorn's exit status of a worker that could not start


def serve(
    upstream: options.Upstream = None,
    port: options.Port = None,
    host: options.Host = None,
    data: options.Data = None,
    policies: options.Policies = None,
    config: options.Config = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Worker processes (default: 1).")
    ] = None,
    embedder: options.Embedder = None,
) -> None:
    """Run the proxy: point the base_url of your client at http://HOST:PORT/v1."""
    given = {
        "upstream.url": upstream,
        "server.port": port,
        "server.host": host,
        "server.workers": workers,
        "data": data,
        "policies": policies,
        "embedder": embedder,
    }
    garbage_collection.collect_seldom()
    reload_signal.hold()  # until the proxy is ready to take it
    settings = settings_from(config, **given)
    refuse_port(settings.server.host, port)
    if sys.stderr.isatty():
        output.note("semcache is starting: it opens the store and loads the models, which takes some seconds")
    loaded = run_async(_preflight(settings))
    _export_to_workers(given, config)
    # Before there is a socket to be removed: an exception of a signal may get lost in an import.
    run = _runner(settings, loaded)
    stop = threading.Event()
    with listening(settings.server.host, settings.server.port) as (listener, url):
        threading.Thread(target=announce, args=(settings, url, stop), daemon=True).start()
        try:
            with shared_metrics(settings.server.workers):
                started = run(listener)
        finally:
            stop.set()
    if not started:
        raise typer.Exit(1)


async def _preflight(settings: Settings) -> Loaded:
    """Find mistakes that every worker would stumble over, and return the files. Raises ConfigError or StoreError."""
    from semcache.config.settings import check_exposure
    from semcache.proxy.reload_requests import last_request
    from semcache.proxy.reloading import read_files
    from semcache.upstream.backends import open_backend
    from semcache.upstream.backends.connection import Connection
    from semcache.upstream.routing.replica import Address

    pack = read_files(settings).pack
    start_checks.check_workers(settings)
    start_checks.check_judge(settings)
    upstream = settings.upstream
    replicas = [Address(**one.model_dump()) for one in upstream.replicas]
    through = Connection(proxy=upstream.proxy.get_secret_value() if upstream.proxy else None)
    await open_backend(upstream.url, through, anthropic_url=upstream.anthropic_url, replicas=replicas).close()
    if upstream.url.startswith("litellm:") and (model := upstream.url.partition(":")[2]):
        from semcache.upstream.backends.litellm import check_model

        check_model(model)
    await start_checks.check_verifiers(settings, pack)
    async with store_of(settings, create=True) as store:
        check_exposure(settings, bool(await store.keys()))
        # In this order, so that no worker misses a reload: one that comes later is done by each.
        number = await last_request(store)
        return replace(read_files(settings), number=number)


def _export_to_workers(given: Mapping[str, object], config: Path | None) -> None:
    from semcache.config.settings import FILE_VARIABLE, PREFIX, find_file

    # Also a file that was found: a worker that starts later must miss it if it is gone.
    if file := config or find_file(dict(os.environ), Path.cwd()):
        os.environ[FILE_VARIABLE] = str(file)
    for key, value in given.items():
        if value is not None:
            os.environ[PREFIX + key.replace(".", "__").upper()] = str(value)


def _runner(settings: Settings, loaded: Loaded) -> Callable[[socket.socket], bool]:
    """Return what serves at a socket until a signal, and returns False when it never started."""
    from uvicorn import Config, Server

    from semcache.proxy.http_connection import HttpConnection

    alone = settings.server.workers == 1
    config = Config(
        _APP,
        factory=True,
        host=settings.server.host,
        port=settings.server.port,
        workers=settings.server.workers,
        loop="auto" if sys.platform == "win32" else "uvloop",
        http=HttpConnection,
        ws="none",  # the connection makes its own, when the first one is opened
        ws_max_size=settings.server.max_body,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=logging_config.config(settings.log.level),
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=_KEEP_ALIVE,
    )
    # The server sends itself the signal again after it has shut down; the default would kill the process then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(output.INTERRUPTED))
    if alone:
        return partial(_run, Server(config))
    from semcache.cli.worker_processes import WorkerProcesses

    return lambda listener: WorkerProcesses(config, [listener], loaded).run()


def _run(server: Server, listener: socket.socket) -> bool:
    try:
        server.run(sockets=[listener])
    except SystemExit as error:
        if error.code != _START_FAILED:
            raise
    return server.started
