"""`semcache engine`: the local engine, as a server or over a file of requests.

Knows the command line and uvicorn, nothing of models; torch is imported once a command runs.
Invariant: what is wrong with a model is said before the server listens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output

if TYPE_CHECKING:
    from semcache.engine import EngineConfig

app = typer.Typer(
    name="engine", help="The local engine: a model behind a KV cache that requests share.", no_args_is_help=True
)

_Model = Annotated[
    str, typer.Option("--model", metavar="DIR_OR_ID", help="Model folder, or an id of the Hugging Face hub.")
]
_Revision = Annotated[str | None, typer.Option("--revision", help="Revision of a model id.")]
_Name = Annotated[str | None, typer.Option("--name", help="Name to serve it under; default: the folder's name.")]
_Device = Annotated[str, typer.Option("--device", help="cpu, cuda, cuda:1, or auto.")]
_Dtype = Annotated[str, typer.Option("--dtype", help="float32, bfloat16, float16, or auto: float32 on a CPU.")]
_Context = Annotated[int | None, typer.Option("--context", metavar="TOKENS", help="Most tokens of prompt and answer.")]
_Cache = Annotated[int, typer.Option("--cache-mib", metavar="MIB", help="Memory for keys and values.")]
_Eviction = Annotated[
    str, typer.Option("--eviction", help="What goes first: lru, or cost (seldom wanted, cheap to read).")
]
_Block = Annotated[int, typer.Option("--block", metavar="TOKENS", help="Tokens of a block, the unit of sharing.")]
_Step = Annotated[int, typer.Option("--step", metavar="TOKENS", help="Most tokens of one forward pass.")]
_Running = Annotated[int, typer.Option("--max-running", metavar="N", help="Most sequences worked on at once.")]
_Waiting = Annotated[int, typer.Option("--max-waiting", metavar="N", help="Most requests that may wait.")]
_Wait = Annotated[float, typer.Option("--max-wait", metavar="SECONDS", help="Longest expected wait; more is refused.")]
_Draft = Annotated[int, typer.Option("--draft", metavar="TOKENS", help="Longest draft verified in one pass; 0: none.")]
_Disk = Annotated[Path | None, typer.Option("--disk", metavar="DIR", help="Folder in which blocks survive a restart.")]
_DiskMib = Annotated[int, typer.Option("--disk-mib", metavar="MIB", help="Most that this folder may hold.")]
_HostMib = Annotated[int, typer.Option("--host-mib", metavar="MIB", help="Host memory for blocks that left the cache.")]
_Codec = Annotated[
    str,
    typer.Option("--disk-codec", help="raw, lossless, or int8 or int4 for requests that allow approximate answers."),
]
_ChunkMib = Annotated[int, typer.Option("--chunk-mib", metavar="MIB", help="Memory for documents reused anywhere.")]
_Threads = Annotated[int | None, typer.Option("--threads", metavar="N", help="Threads of the model on a CPU.")]


@app.command("serve")
def serve(
    model: _Model,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port; 0 takes a free one.")] = 8081,
    revision: _Revision = None,
    name: _Name = None,
    device: _Device = "auto",
    dtype: _Dtype = "auto",
    context: _Context = None,
    cache_mib: _Cache = 1024,
    eviction: _Eviction = "lru",
    block: _Block = 32,
    step: _Step = 512,
    max_running: _Running = 32,
    max_waiting: _Waiting = 512,
    max_wait: _Wait = 60.0,
    draft: _Draft = 16,
    disk: _Disk = None,
    disk_mib: _DiskMib = 4096,
    host_mib: _HostMib = 0,
    disk_codec: _Codec = "raw",
    chunk_mib: _ChunkMib = 256,
    threads: _Threads = None,
) -> None:
    """Serve a model over HTTP as OpenAI does: chat completions and completions, with shared prefixes."""
    import signal
    import sys

    from uvicorn import Config, Server

    from semcache.cli.listener import address, listen
    from semcache.engine.startup import open_server

    config = _config(
        model=model, revision=revision, name=name, device=device, dtype=dtype, context=context, cache_mib=cache_mib,
        eviction=eviction, block=block, step=step, max_running=max_running, max_waiting=max_waiting, max_wait=max_wait,
        draft=draft, disk=disk, disk_mib=disk_mib, host_mib=host_mib, disk_codec=disk_codec, chunk_mib=chunk_mib,
        threads=threads,
    )  # fmt: skip
    listener = listen(host, port)
    _quiet()
    application, worker = open_server(config)
    url = address(host, listener.getsockname()[1])

    class Announcing(Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                shape, limits = worker.engine.decoder.shape, worker.engine.limits
                output.note(
                    f"semcache engine is ready on {url}/v1  model {model}  {shape.dtype} on {shape.device}  "
                    f"context {limits.context:,}  cache {limits.capacity:,} tokens"
                )

    # The server sends itself the signal again after it has shut down; the default would kill the process then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(output.INTERRUPTED))
    settings = Config(
        application, http="httptools", ws="none", lifespan="on", log_level="warning", access_log=False,
        server_header=False, timeout_graceful_shutdown=20, timeout_keep_alive=75,
    )  # fmt: skip
    try:
        Announcing(settings).run(sockets=[listener])
    finally:
        worker.close()
        listener.close()


@app.command("batch")
def batch(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Requests in OpenAI's batch format, a line each.")],
    model: _Model,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Results; default: FILE with .out.jsonl.")] = None,
    revision: _Revision = None,
    name: _Name = None,
    device: _Device = "auto",
    dtype: _Dtype = "auto",
    context: _Context = None,
    cache_mib: _Cache = 1024,
    eviction: _Eviction = "lru",
    block: _Block = 32,
    step: _Step = 512,
    max_running: _Running = 32,
    draft: _Draft = 16,
    disk: _Disk = None,
    disk_mib: _DiskMib = 4096,
    host_mib: _HostMib = 0,
    disk_codec: _Codec = "raw",
    chunk_mib: _ChunkMib = 256,
    threads: _Threads = None,
    as_json: options.Json = False,
) -> None:
    """Work through a file of requests, those with a common prefix together; lines with a result are not done again."""
    import time
    import uuid

    import msgspec

    from semcache.engine.batch_file import custom_id_of, run
    from semcache.engine.startup import open_engine, served_name
    from semcache.errors import InvalidArgument

    if not file.is_file():
        raise InvalidArgument(f"{str(file)!r} is no file; give one with a request per line")
    target = out or file.with_suffix(".out.jsonl")
    if target.exists() and target.samefile(file):
        raise InvalidArgument(f"{str(file)!r} holds the requests: name another file for their results")
    lines = [line for line in file.read_bytes().splitlines() if line.strip()]
    names = [custom_id_of(line) for line in lines]
    twice = next((name for name, count in Counter(names).items() if name is not None and count > 1), None)
    if twice is not None:
        raise InvalidArgument(f"custom_id {twice!r} is in {str(file)!r} more than once: name each request once")
    try:
        target.open("ab").close()
    except OSError as error:
        raise InvalidArgument(f"results cannot be written to {str(target)!r}: {error.strerror}") from error
    done = _done(target)
    todo = [line for line, name in zip(lines, names, strict=True) if name not in done]
    config = _config(
        model=model, revision=revision, name=name, device=device, dtype=dtype, context=context, cache_mib=cache_mib,
        eviction=eviction, block=block, step=step, max_running=max_running, max_waiting=64, max_wait=float("inf"),
        draft=draft, disk=disk, disk_mib=disk_mib, host_mib=host_mib, disk_codec=disk_codec, chunk_mib=chunk_mib,
        threads=threads,
    )  # fmt: skip
    _quiet()
    engine = open_engine(config)
    counts = {"requests": len(lines), "done_before": len(lines) - len(todo), "failed": 0}
    tokens = {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}
    try:
        with target.open("ab") as results:
            for result in run(engine, todo, name=served_name(config), clock=time.time, ids=lambda: uuid.uuid4().hex):
                results.write(msgspec.json.encode(result) + b"\n")
                results.flush()
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


def _done(target: Path) -> set[str]:
    """The requests that a results file answers already; a last line that was cut off is removed from it."""
    from semcache.engine.batch_file import custom_id_of

    content = target.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        target.write_bytes(whole)
    return {name for line in whole.splitlines() if (name := custom_id_of(line)) is not None}


def _config(*, cache_mib: int, disk_mib: int, host_mib: int, chunk_mib: int, **given: Any) -> EngineConfig:
    from semcache.engine import EngineConfig

    return EngineConfig(
        cache_bytes=cache_mib << 20,
        disk_bytes=disk_mib << 20,
        host_bytes=host_mib << 20,
        chunk_bytes=chunk_mib << 20,
        **given,
    )


def _quiet() -> None:
    """Progress bars of loading a model are not for a log."""
    import importlib.util

    if importlib.util.find_spec("transformers") is not None:
        from transformers.utils import logging

        disable: Callable[[], None] = logging.disable_progress_bar
        disable()
