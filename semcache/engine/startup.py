"""Opening an engine from its configuration: the model, its tokenizer, the cache and the thread.

Knows how the parts are wired, and the clocks and random numbers of this process. Invariant: an engine that opened can
answer; all faults of a model folder are reported here.
"""

from __future__ import annotations

import secrets
import time
import uuid
from dataclasses import replace
from functools import partial
from pathlib import Path

from semcache.engine.decoder import open_decoder
from semcache.engine.disk_tier import DiskTier
from semcache.engine.engine import Engine
from semcache.engine.engine_config import EngineConfig
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.free_memory import chosen_bytes, free_bytes
from semcache.engine.kv_publisher import KvPublisher
from semcache.engine.offload import OffloadTiers
from semcache.engine.server import EngineServer
from semcache.engine.tokenizer import Tokenizer
from semcache.engine.worker import Worker
from semcache.errors import ConfigError


def open_engine(config: EngineConfig) -> Engine:
    """An engine without a thread. Raises ConfigError."""
    decoder = open_decoder(config)
    tokenizer = Tokenizer(config.model, config.revision)
    if tokenizer.size > decoder.vocabulary:
        raise ConfigError(
            f"model {config.model!r} knows {decoder.vocabulary} tokens and its tokenizer {tokenizer.size}: they do not "
            "belong together"
        )
    if config.cache_bytes is None:
        shape = decoder.shape
        context = decoder.context * shape.token_bytes
        on_host, free = shape.device.type != "cuda", free_bytes(shape.device)
        chosen = chosen_bytes(free, on_host=on_host, context_bytes=context, running=config.max_running)
        config = replace(config, cache_bytes=chosen)
    metrics = EngineMetrics()
    disk = None
    if config.disk is not None and config.disk_bytes:
        disk = DiskTier(
            config.disk, config.disk_bytes, count=lambda event: metrics.tier("disk", event), codec=config.disk_codec
        )
    tiers = OffloadTiers(host_bytes=config.host_bytes, disk=disk, clock=time.monotonic, metrics=metrics)
    publisher = KvPublisher(config.kv_events, config.kv_replay, clock=time.time) if config.kv_events else None
    return Engine(
        decoder,
        tokenizer,
        config,
        clock=time.monotonic,
        seeds=partial(secrets.randbits, 62),
        metrics=metrics,
        tiers=tiers,
        publisher=publisher,
    )


def open_server(config: EngineConfig, *, any_model: bool = False) -> tuple[EngineServer, Worker]:
    """The ASGI application and its worker, started. Raises ConfigError."""
    worker = Worker(open_engine(config)).start()
    server = EngineServer(
        worker, name=served_name(config), clock=time.time, ids=lambda: uuid.uuid4().hex, any_model=any_model
    )
    return server, worker


def served_name(config: EngineConfig) -> str:
    """The name that the model is served under."""
    return config.name or Path(config.model).resolve().name or config.model
