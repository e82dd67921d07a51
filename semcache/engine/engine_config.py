"""Settings of an engine.

Knows names, units and ranges, nothing of models. Invariant: a configuration that exists is in range; what depends on
the model (its context, its dtype) is checked when the model is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from semcache.errors import ConfigError

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Codec = Literal["raw", "lossless", "int8", "int4"]
Eviction = Literal["lru", "cost"]
_LOSSY = ("int8", "int4")


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Settings of one engine. Sizes are tokens unless their name says bytes; times are seconds.

    `model` is a folder or a model id; `dtype` "auto" is float32 on a CPU and the model's own elsewhere. `block` is the
    unit of sharing. `cache_bytes` is memory for keys and values of running requests and of prefixes kept for later;
    None is a part of what is free. `eviction` says which of these go first: the least recently used ("lru"), or those
    that were wanted least often and cost least to compute ("cost").
    `step` bounds the tokens of one forward pass (SARATHI's chunk). `share` is the length of a common prefix from which
    a batch attends to it once for all (Hydragen). `draft` is the longest draft verified in one pass, 0 for none.
    `quantum` is what a tenant's deficit is raised by (DLPM). A request is refused at once when `max_waiting` wait
    already, or when it would wait more than `max_wait`. `host_bytes` and `disk_bytes` bound the tiers behind the cache,
    0 for none; `disk` is a folder, and `disk_codec` how blocks are written there: "raw", "lossless", or in 8 or 4 bits
    ("int8", "int4") those of requests that allow it, the others raw. `chunk_bytes` bounds the documents kept to be
    reused wherever they stand. `kv_events` and `kv_replay` are ZeroMQ endpoints on which the cache's changes are
    published, and sent again when they were missed.
    """

    model: str
    revision: str | None = None
    name: str | None = None
    device: str = "auto"
    dtype: Dtype = "auto"
    context: int | None = None
    block: int = 32
    cache_bytes: int | None = None
    eviction: Eviction = "lru"
    step: int = 512
    max_running: int = 32
    max_waiting: int = 512
    max_wait: float = 60.0
    share: int = 64
    draft: int = 16
    quantum: int = 2048
    host_bytes: int = 0
    disk: Path | None = None
    disk_bytes: int = 4 << 30
    disk_codec: Codec = "raw"
    chunk_bytes: int = 256 << 20
    threads: int | None = None
    kv_events: str | None = None
    kv_replay: str | None = None

    def __post_init__(self) -> None:
        """Raise ConfigError for a value out of range."""
        low = {"block": 1, "step": 1, "max_running": 1, "max_waiting": 1, "share": 1, "quantum": 1}
        low |= {"draft": 0, "host_bytes": 0, "disk_bytes": 0, "chunk_bytes": 0}
        for name, least in low.items():
            if getattr(self, name) < least:
                raise ConfigError(f"engine {name} {getattr(self, name)!r} is too small: it must be at least {least}")
        for name in ("context", "threads", "cache_bytes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"engine {name} {value!r} is too small: it must be at least 1")
        if not self.max_wait > 0:
            raise ConfigError(f"engine max_wait {self.max_wait!r} must be a positive number of seconds")
        if self.dtype not in ("auto", "float32", "bfloat16", "float16"):
            raise ConfigError(f"engine dtype {self.dtype!r} is none of: auto, float32, bfloat16, float16")
        if self.eviction not in ("lru", "cost"):
            raise ConfigError(f"engine eviction {self.eviction!r} is none of: lru, cost")
        if self.kv_replay is not None and self.kv_events is None:
            raise ConfigError(f"engine kv_replay {self.kv_replay!r} sends events again: give kv_events as well")
        if self.disk_codec not in ("raw", "lossless", *_LOSSY):
            raise ConfigError(f"engine disk_codec {self.disk_codec!r} is none of: raw, lossless, {', '.join(_LOSSY)}")

    @property
    def lossy_codec(self) -> str:
        """The codec by which blocks are written in fewer bits, "" where they are not."""
        return self.disk_codec if self.disk is not None and self.disk_codec in _LOSSY else ""
