"""`semcache engine`: the local engine, as a server or over a file of requests.

Knows the command line and uvicorn, nothing of models; torch is imported once a command runs. Invariant: a model that
cannot be used is an error before the server listens.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.engine_options import EventOptions, Model, ModelOptions, ReuseOptions, engine_config
from semcache.cli.option_groups import with_groups
from semcache.runtime.unix_address import unix_path

if TYPE_CHECKING:
    from semcache.engine.engine import Engine

_PORT = 8081

app = typer.Typer(
    name="engine", help="The local engine: a model behind a KV cache that requests share.", no_args_is_help=True
)


@app.command("serve")
@with_groups
def serve(
    *,
    model: Model,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Address, or unix:PATH, to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", help="Port, 8081 by default; 0: a free one.")
    ] = None,
    loading: ModelOptions,
    max_waiting: Annotated[int, typer.Option("--max-waiting", metavar="N", help="Most requests that may wait.")] = 512,
    max_wait: Annotated[
        float, typer.Option("--max-wait", metavar="SECONDS", help="Longest expected wait; more is refused.")
    ] = 60.0,
    reuse: ReuseOptions,
    events: EventOptions,
) -> None:
    """Serve a model over HTTP as OpenAI does: chat completions and completions, with shared prefixes.

    On loopback it answers no web page of elsewhere; on another address it answers whoever can connect.
    """
    import signal
    import sys

    from uvicorn import Config, Server

    from semcache.cli.listener import listening, refuse_port
    from semcache.config.settings import is_local
    from semcache.engine.startup import open_server
    from semcache.proxy.local_only import LocalOnly

    config = engine_config(model, loading, reuse, events, max_waiting=max_waiting, max_wait=max_wait)
    refuse_port(host, port)
    _quiet()

    with listening(host, _PORT if port is None else port) as (listener, url):
        application, worker = open_server(config)
        served = LocalOnly(application) if is_local(host) else application

        class Announcing(Server):
            async def startup(self, sockets: Any = None) -> None:
                await super().startup(sockets)
                if self.started:
                    output.note(f"semcache engine is ready on {_reached(url)}  model {model}{_capacity(worker.engine)}")

        # The server sends itself the signal again after it has shut down; the default would kill the process then.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        signal.signal(signal.SIGINT, lambda *_: sys.exit(output.INTERRUPTED))
        settings = Config(
            served, http="httptools", ws="none", lifespan="on", log_level="warning", access_log=False,
            server_header=False, timeout_graceful_shutdown=20, timeout_keep_alive=75,
        )  # fmt: skip
        try:
            Announcing(settings).run(sockets=[listener])
        finally:
            worker.close()


@app.command("batch")
@with_groups
def batch(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Requests in OpenAI's batch format, a line each.")],
    model: Model,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Results; default: FILE with .out.jsonl.")] = None,
    loading: ModelOptions,
    reuse: ReuseOptions,
    as_json: options.Json = False,
) -> None:
    """Work through a file of requests, those with a common prefix together; what has an answer is not done again.

    What failed before is tried again. Exit status 1 where a request failed.
    """
    import time
    import uuid

    import msgspec

    from semcache.engine.batch_file import custom_id_of, run
    from semcache.engine.batch_results import BatchResults
    from semcache.engine.startup import open_engine, served_name
    from semcache.errors import InvalidArgument

    if not file.is_file():
        raise InvalidArgument(f"{str(file)!r} is no file; give one with a request per line")
    target = out or file.with_suffix(".out.jsonl")
    if target.exists() and target.samefile(file):
        raise InvalidArgument(f"{str(file)!r} holds the requests: name another file for their results")
    lines = [line for line in file.read_bytes().removeprefix(BOM_UTF8).splitlines() if line.strip()]
    names = [custom_id_of(line) for line in lines]
    twice = next((name for name, count in Counter(names).items() if name is not None and count > 1), None)
    if twice is not None:
        raise InvalidArgument(f"custom_id {twice!r} is in {str(file)!r} more than once: name each request once")
    with closing(BatchResults(target)) as results:
        todo = [line for line, name in zip(lines, names, strict=True) if name not in results.done]
        config = engine_config(model, loading, reuse, max_waiting=64, max_wait=float("inf"))
        _quiet()
        counts = {"requests": len(lines), "done_before": len(lines) - len(todo), "failed": 0}
        tokens = {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}
        engine = open_engine(config)
        try:
            results.begin()
            for result in run(engine, todo, name=served_name(config), clock=time.time, ids=lambda: uuid.uuid4().hex):
                results.add(msgspec.json.encode(result))
                if result["response"]["status_code"] != 200:
                    counts["failed"] += 1
                    continue
                usage = result["response"]["body"]["usage"]
                tokens["prompt_tokens"] += usage["prompt_tokens"]
                tokens["cached_tokens"] += usage["prompt_tokens_details"]["cached_tokens"]
                tokens["completion_tokens"] += usage["completion_tokens"]
        finally:
            engine.close()
    summary: dict[str, Any] = {**counts, **tokens, "output": str(target)}
    if as_json:
        output.as_json(summary)
    else:
        output.table(["what", "value"], [[key, str(value)] for key, value in summary.items()], right=["value"])
    if counts["failed"]:
        raise typer.Exit(1)


def _advised(engine: Engine) -> str:
    """Return the sampling of requests that name none, "" where it is OpenAI's."""
    given = ", ".join(f"{name} {value:g}" for name, value in engine.decoder.defaults.advised.items())
    return f"  sampling {given}" if given else ""


def _reached(url: str) -> str:
    return f"{url}/v1" if unix_path(url) is None else f"{url} (http://localhost/v1)"


def _capacity(engine: Engine) -> str:
    shape, limits = engine.decoder.shape, engine.limits
    return (
        f"  {shape.dtype} on {shape.device}  context {limits.context:,}  cache {limits.capacity:,} tokens"
        f" in {(engine.config.cache_bytes or 0) / 2**30:.2g} GiB{_advised(engine)}"
    )


def _quiet() -> None:
    """Turn off the progress bars of loading a model, which have no place in a log."""
    import importlib.util

    if importlib.util.find_spec("transformers") is not None:
        from transformers.utils import logging

        disable: Callable[[], None] = logging.disable_progress_bar
        disable()
