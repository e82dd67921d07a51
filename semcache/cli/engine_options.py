"""Options of the local engine that `semcache engine serve` and `semcache engine batch` share.

Invariant: an option has one name, one default and one explanation, whichever command takes it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from semcache.engine import EngineConfig

_SIZES = ("cache", "disk", "host", "chunk")  # given in MiB, kept in bytes

Model = Annotated[
    str, typer.Option("--model", metavar="DIR_OR_ID", help="Model folder, or an id of the Hugging Face hub.")
]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of loading a model and of running requests through it."""

    revision: Annotated[str | None, typer.Option("--revision", help="Revision of a model id.")] = None
    name: Annotated[str | None, typer.Option("--name", help="Name to serve it under; default: the folder's name.")] = (
        None
    )
    device: Annotated[str, typer.Option("--device", help="cpu, cuda, cuda:1, or auto.")] = "auto"
    dtype: Annotated[str, typer.Option("--dtype", help="float32, bfloat16, float16, or auto: float32 on a CPU.")] = (
        "auto"
    )
    context: Annotated[
        int | None, typer.Option("--context", metavar="TOKENS", help="Most tokens of prompt and answer.")
    ] = None
    cache_mib: Annotated[
        int | None,
        typer.Option("--cache-mib", metavar="MIB", help="Memory for keys and values; default: a part of what is free."),
    ] = None
    eviction: Annotated[
        str, typer.Option("--eviction", help="What goes first: lru, or cost (seldom wanted, cheap to read).")
    ] = "lru"
    block: Annotated[int, typer.Option("--block", metavar="TOKENS", help="Tokens of a block, the unit of sharing.")] = (
        32
    )
    step: Annotated[int, typer.Option("--step", metavar="TOKENS", help="Most tokens of one forward pass.")] = 512
    max_running: Annotated[
        int, typer.Option("--max-running", metavar="N", help="Most sequences worked on at once.")
    ] = 32


@dataclass(frozen=True, slots=True)
class ReuseOptions:
    """Options of drafts, of the tiers behind the KV cache, and of documents reused anywhere."""

    draft: Annotated[
        int, typer.Option("--draft", metavar="TOKENS", help="Longest draft verified in one pass; 0: none.")
    ] = 16
    disk: Annotated[
        Path | None, typer.Option("--disk", metavar="DIR", help="Folder in which blocks survive a restart.")
    ] = None
    disk_mib: Annotated[int, typer.Option("--disk-mib", metavar="MIB", help="Most that this folder may hold.")] = 4096
    host_mib: Annotated[
        int, typer.Option("--host-mib", metavar="MIB", help="Host memory for blocks that left the cache.")
    ] = 0
    disk_codec: Annotated[
        str,
        typer.Option(
            "--disk-codec", help="raw, lossless, or int8 or int4 for requests that allow approximate answers."
        ),
    ] = "raw"
    chunk_mib: Annotated[
        int, typer.Option("--chunk-mib", metavar="MIB", help="Memory for documents reused anywhere.")
    ] = 256
    threads: Annotated[int | None, typer.Option("--threads", metavar="N", help="Threads of the model on a CPU.")] = None


@dataclass(frozen=True, slots=True)
class EventOptions:
    """Options of the KV events that a server publishes."""

    kv_events: Annotated[
        str | None,
        typer.Option(
            "--kv-events", metavar="ENDPOINT", help="Publish vLLM's KV events here, such as tcp://127.0.0.1:5557."
        ),
    ] = None
    kv_replay: Annotated[
        str | None,
        typer.Option("--kv-replay", metavar="ENDPOINT", help="Send again here what a subscriber missed."),
    ] = None


def engine_config(
    model: str,
    loading: ModelOptions,
    reuse: ReuseOptions,
    events: EventOptions | None = None,
    *,
    max_waiting: int,
    max_wait: float,
) -> EngineConfig:
    """Return the configuration of an engine with these options. Raises ConfigError."""
    from semcache.engine import EngineConfig

    given: dict[str, Any] = {**asdict(loading), **asdict(reuse), **asdict(events or EventOptions())}
    mebibytes = {name: given.pop(f"{name}_mib") for name in _SIZES}
    sizes: dict[str, Any] = {f"{name}_bytes": None if size is None else size << 20 for name, size in mebibytes.items()}
    return EngineConfig(model=model, max_waiting=max_waiting, max_wait=max_wait, **given, **sizes)
