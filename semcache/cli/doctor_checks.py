"""The checks of `semcache doctor`: settings, folders, plug-ins, policies, embedder, store, index, port.

Invariant: a check changes nothing (no store is made, none is migrated) and never raises: a fault that it meets is a
finding too, and every finding that is not ok says how to mend it.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcache.cli import doctor_upstreams
from semcache.cli.doctor_extras import check_extras
from semcache.cli.doctor_finding import Finding
from semcache.cli.doctor_keys import check_keys
from semcache.cli.doctor_start import check_start
from semcache.cli.listener import address, listen, refuse_port
from semcache.cli.open_store import database, exists, seal_of, settings_from, store_of
from semcache.errors import ConfigError, SemcacheError, StoreError
from semcache.runtime.metric_files import FOLDER
from semcache.runtime.unix_address import unix_path

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.protocols import Embedder, EntryStore, Vectors

_ROOM, _TIGHT = 100 << 20, 2 << 30
_SAMPLE = 50
_PROBES = tuple(
    f"How do I rename {thing} without losing my work?" for thing in ("a branch", "a file", "a tag", "a table")
)


async def examine(config: Path | None, given: Mapping[str, Any]) -> list[Finding]:
    """Return every finding, in the order in which they are worth mending; `given` are the command line's settings."""
    findings = [_python()]
    try:
        settings = settings_from(config, **given)
        refuse_port(settings.server.host, given.get("server.port"))
    except ConfigError as error:
        return [*findings, Finding("settings", "fail", str(error), "mend this first: everything else depends on it")]
    findings.append(_settings(settings))
    if settings.store.url is None:
        findings.append(_folder(settings.data))
    if settings.server.workers > 1:
        findings.append(_metrics())
    findings += [_graphs(), check_extras(), *_plugins(), _policies(settings), *await check_start(settings)]
    embedder_findings, embedder = await _embedder(settings)
    findings += await _store(settings, embedder)
    findings += embedder_findings
    if embedder is not None:
        if settings.store.url is None:
            findings.append(_snapshot(settings, embedder))
        await embedder.close()
    findings += await doctor_upstreams.check_upstreams(settings)
    findings.append(_port(settings))
    return findings


def _python() -> Finding:
    found = (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.system()} {platform.machine()}"
    )
    if not (3, 11) <= sys.version_info[:2] < (3, 15):
        return Finding("python", "warn", found, "semcache is for Python 3.11 to 3.14")
    if sqlite3.sqlite_version_info < (3, 35):
        return Finding("python", "fail", found, "SQLite 3.35 or newer is needed: use a newer Python build")
    return Finding("python", "ok", found)


def _settings(settings: Settings) -> Finding:
    changed = [f"{key} from {source}" for key, _, source in settings.explain() if source != "default"]
    return Finding("settings", "ok", "; ".join(changed) or "all defaults")


def _folder(folder: Path) -> Finding:
    existing = next((path for path in (folder, *folder.absolute().parents) if path.exists()), Path("/"))
    if not existing.is_dir():
        return Finding("data", "fail", f"{existing} is no folder", "name another with --data")
    if not os.access(existing, os.W_OK | os.X_OK):
        return Finding("data", "fail", f"{existing} cannot be written", "change its owner, or name another with --data")
    free = shutil.disk_usage(existing).free
    found = f"{folder}{'' if folder.exists() else ' (not made yet)'}, {free / 2**30:.1f} GiB free"
    if free < _ROOM:
        return Finding("data", "fail", found, "free some space, or name another folder with --data")
    return Finding("data", "warn", found, "free some space soon") if free < _TIGHT else Finding("data", "ok", found)


def _metrics() -> Finding:
    remedy = f"free some space, or name another folder with {FOLDER}"
    try:
        folder = os.environ.get(FOLDER) or tempfile.gettempdir()
        if not Path(folder).is_dir():
            raise NotADirectoryError(f"{folder} is no folder")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("metrics", "fail", f"workers have no folder for their metrics: {error}", remedy)
    found = f"workers share them in {folder}, {free / 2**30:.1f} GiB free"
    return Finding("metrics", "warn", found, remedy) if free < _ROOM else Finding("metrics", "ok", found)


def _plugins() -> list[Finding]:
    from semcache.config import plugins

    findings = []
    for plugin in [plugin for kind in plugins.KINDS for plugin in plugins.installed(kind)]:
        try:
            plugin.load()
        except ConfigError as error:
            findings.append(Finding("plug-in", "warn", str(error), f"{plugin.name!r} cannot be named until then"))
            continue
        if plugin.name in _built_in(plugin.kind):
            remedy = f"its package has to give it another name: the built-in {plugin.name!r} is used"
            findings.append(Finding("plug-in", "warn", f"{plugin} is never used", remedy))
        else:
            findings.append(Finding("plug-in", "ok", str(plugin)))
    return findings


def _built_in(kind: str) -> Collection[str]:
    from semcache.learning import judges
    from semcache.matching import guards, strategies
    from semcache.models import embedders as embed
    from semcache.retention import eviction
    from semcache.storage import stores as store
    from semcache.upstream import backends

    names: Mapping[str, Collection[str]] = {
        "embedders": embed.KINDS,
        "stores": store.SCHEMES,
        "judges": judges.JUDGES,
        "strategies": strategies.STRATEGIES,
        "evictions": eviction.POLICIES,
        "guards": guards.GUARDS,
        "backends": backends.SCHEMES,
    }
    return names[kind]


def _policies(settings: Settings) -> Finding:
    from semcache.config.packs import load

    try:
        pack = load(settings.policies)
    except ConfigError as error:
        return Finding("policies", "fail", str(error), "mend the pack; `semcache policy lint` checks it")
    return Finding("policies", "ok", f"{pack.name}: {len(pack.categories)} categories, target {pack.target:.2%}")


async def _embedder(settings: Settings) -> tuple[list[Finding], Embedder | None]:
    from semcache.models.embedders import open_embedder
    from semcache.models.installed import spec_of

    model = None
    try:
        started = time.perf_counter()
        model = open_embedder(spec_of(settings.embedder, settings.data))
        matrix = await model.embed(["warm up"])
        loaded = time.perf_counter() - started
        spent = []
        for text in _PROBES:
            before = time.perf_counter()
            await model.embed([text])
            spent.append(time.perf_counter() - before)
    except (SemcacheError, OSError, ImportError, RuntimeError, ValueError) as error:
        if model is not None:
            await model.close()
        remedy = "reinstall semcache-llm, or name another model with --embedder"
        return [Finding("embedder", "fail", f"{settings.embedder}: {error}", remedy)], None
    found = (
        f"{model.id}, {matrix.shape[1]} dimensions, {1e3 * statistics.median(spent):.1f} ms a prompt, "
        f"loaded in {loaded:.1f} s"
    )
    if settings.embedder.startswith("hashing"):
        return [Finding("embedder", "warn", found, "it knows no meaning: use embedder `default` outside tests")], model
    return [Finding("embedder", "ok", found)], model


async def _store(settings: Settings, embedder: Embedder | None) -> list[Finding]:
    try:
        seal = seal_of(settings)
    except ConfigError as error:
        return [Finding("seal keys", "fail", str(error), "write id:base64 of 32 random bytes, the newest key first")]
    if not exists(settings):
        found = "memory only" if settings.store.url else "none yet: the first start makes one"
        return [Finding("store", "ok", found), *check_keys(settings, [], time.time())]
    try:
        stale = await _older(settings)
    except ConfigError as error:
        return [Finding("store", "fail", str(error), "write another store.url")]
    except SemcacheError as error:
        return [_broken(error)]
    if stale is not None:
        return [stale]
    try:
        async with _timed(settings) as (store, seconds):
            counts = await store.counts()
            entries = sum(counts.values())
            findings = [Finding("store", "ok", f"{entries} entries, opened in {seconds * 1e3:.0f} ms")]
            findings.append(await _sealed(store, entries, seal is not None))
            if embedder is not None:
                findings.append(await _vectors(store, embedder))
            findings += check_keys(settings, await store.keys(), time.time())
            findings += await _prices(settings, store)
            findings += await _prompts(settings, store)
    except ConfigError as error:
        return [
            Finding("seal keys", "fail", str(error), "set SEMCACHE_STORE__SEAL_KEYS to the keys it was sealed with")
        ]
    except SemcacheError as error:
        return [_broken(error)]
    return findings


def _broken(error: SemcacheError) -> Finding:
    return Finding("store", "fail", str(error), "check store.url and the folder; restore a backup if it is damaged")


async def _older(settings: Settings) -> Finding | None:
    """Return a finding about the schema when opening the store would change it. Raises StoreError for a newer one."""
    from semcache.storage.stores import plugged, schema
    from semcache.storage.stores.database import Database, parse_url

    if plugged(database(settings)) is not None:
        return None
    base = Database(parse_url(database(settings)))
    await base.open()
    try:
        revision = await base.look(schema.revision)
        if revision is None:
            await base.look(lambda connection: schema.refuse_foreign(connection, base.name))
    finally:
        await base.close()
    if schema.check(revision, base.name):
        return None
    return Finding("store", "warn", f"schema {revision or 'unfinished'}", f"the next start brings it to {schema.HEAD}")


@asynccontextmanager
async def _timed(settings: Settings) -> AsyncIterator[tuple[EntryStore, float]]:
    started = time.perf_counter()
    async with store_of(settings) as store:
        yield store, time.perf_counter() - started


async def _sealed(store: EntryStore, entries: int, has_ring: bool) -> Finding:
    from semcache.types import Selector

    await store.ping()
    sample = await store.select(Selector(everything=True), limit=_SAMPLE)
    unreadable = getattr(store, "unreadable", 0)
    if unreadable:
        found = f"{unreadable} of {unreadable + len(sample)} entries read do not open"
        remedy = "add the key they were sealed with to SEMCACHE_STORE__SEAL_KEYS, or purge them"
        return Finding("seal keys", "fail", found, remedy)
    if not has_ring:
        return Finding(
            "seal keys", "ok", "none set: entries lie in the clear, readable by the owner of the data folder"
        )
    return Finding("seal keys", "ok", f"{len(sample)} of {entries} entries read, all open")


async def _prices(settings: Settings, store: EntryStore) -> list[Finding]:
    from semcache.cli.stored_statistics import unpriced_models
    from semcache.config.packs import load

    try:
        models = await unpriced_models(settings, store, load(settings.policies))
    except ConfigError:
        return []  # the finding about the file, or about policies, says so
    if models:
        found = f"no price is known for {', '.join(models[:10])}: dollars saved are too few"
        return [Finding("prices", "warn", found, "name a file with `prices:`, one `model: [input, output]` a line")]
    return [Finding("prices", "ok", "every model that was called within a month has a price")]


async def _prompts(settings: Settings, store: EntryStore) -> list[Finding]:
    from semcache.cache.prompt_sample import varying_prompts
    from semcache.config.packs import load

    try:
        found = await varying_prompts(store, load(settings.policies).ignore_in_system)
    except ConfigError:
        return []  # the finding about policies says so
    said = [one.told().partition("; ") for one in found[:5]]
    return [Finding("prompts", "warn", problem, remedy) for problem, _, remedy in said] or [
        Finding("prompts", "ok", "no system prompts that differ in a date, a time, an id or a number alone")
    ]


async def _vectors(store: Vectors, embedder: Embedder) -> Finding:
    found = await store.embedders()
    foreign = {name: count for name, count in found.items() if name != embedder.id}
    if not foreign:
        return Finding("vectors", "ok", f"{found.get(embedder.id, 0)} vectors, all of this embedder")
    named = ", ".join(f"{count} of {name}" for name, count in foreign.items())
    remedy = "paraphrases miss them; embed anew: `semcache export -o all.jsonl`, then `semcache import all.jsonl`"
    return Finding("vectors", "warn", f"vectors of another embedder: {named}", remedy)


def _graphs() -> Finding:
    from semcache.storage.indexes.graphs import graph_name

    try:
        name = graph_name()
    except ConfigError as error:
        return Finding("graphs", "fail", str(error), "pip install usearch")
    if name == "hnswlib":
        return Finding("graphs", "ok", "hnswlib")
    return Finding("graphs", "ok", f"{name}; hnswlib builds graphs in half the time, where there is a C++ compiler")


def _snapshot(settings: Settings, embedder: Embedder) -> Finding:
    from semcache.errors import IndexFault
    from semcache.storage.indexes import snapshot

    folder = settings.data / "index"
    if not (folder / snapshot.MANIFEST).exists():
        return Finding("index", "ok", "no snapshot yet: the index is built from the store at the start")
    try:
        partitions, _ = snapshot.load(folder, embedder_id=embedder.id, dim=embedder.dim)
    except IndexFault as error:
        return Finding("index", "warn", str(error), "nothing to do: the next start builds the index from the store")
    return Finding("index", "ok", f"a snapshot of {len(partitions)} vectors")


def _port(settings: Settings) -> Finding:
    host, port = settings.server.host, settings.server.port
    path = unix_path(host)
    if path is not None:
        return _unix_socket(host, path)
    try:
        listen(host, port).close()
    except StoreError as error:
        if _is_ours(address(host, port)):
            return Finding("port", "ok", f"a semcache server is running on {host}:{port}")
        return Finding("port", "fail", str(error), "end the other program, or choose another --port")
    except ConfigError as error:
        return Finding("port", "fail", str(error), "name an address of this machine with --host")
    return Finding("port", "ok", f"{host}:{port} is free")


def _unix_socket(host: str, path: str) -> Finding:
    from semcache.cli.listener import check_unix

    remedy = "name another path with --host"
    try:
        left = check_unix(path)
    except StoreError as error:
        if _is_ours(host):
            return Finding("socket", "ok", f"a semcache server is running on {host}")
        return Finding("socket", "fail", str(error), f"end the other program, wait if it is starting, or {remedy}")
    except ConfigError as error:
        return Finding("socket", "fail", str(error), remedy)
    if left:
        return Finding("socket", "ok", f"{host} was left by a process that was killed; the next start takes it over")
    return Finding("socket", "ok", f"{host} is free")


def _is_ours(url: str) -> bool:
    from semcache.cli.local_connection import readiness

    return "embedder" in (readiness(url, timeout=2.0) or {})
