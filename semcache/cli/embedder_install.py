"""`semcache embedder install`: make a model the embedder of a cache, with everything that the cache holds.

Knows folders and settings; entries are moved by `semcache.cache.reindexing`. Invariant: until the exchange, whatever
fails, the cache goes on with the embedder it had; run again, the command goes on where it stood.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import exists, run_async, settings_from, store_of
from semcache.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.protocols import Embedder, StoreLifecycle
    from semcache.storage.stores.sql import SqlStore

_FILES = ("model.onnx", "tokenizer.json", "model.json", "README.md", "prior.json", "measured.json")


def install(
    model: Annotated[
        str, typer.Argument(metavar="DIR", help="A model folder, or `default` to go back to the model that ships.")
    ],
    data: options.Data = None,
    keep: Annotated[
        bool, typer.Option("--keep/--forget", help="Keep the old vectors aside, so that going back is quick.")
    ] = True,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Make a model the embedder of a cache: entries are embedded beside their old vectors, then exchanged at once.

    A cache that is running goes on with the old one until it is restarted. Broken off, run it again.
    """
    settings = settings_from(config, data=data)
    run_async(install_model(settings, model, keep=keep, as_json=as_json))


async def install_model(settings: Settings, model: str, *, keep: bool = True, as_json: bool = False) -> None:
    """Install the model folder, or "default". Raises SemcacheError; then the cache is as it was."""
    from semcache.models.embedders import DEFAULT_MODEL
    from semcache.models.embedders.batching import BatchingEmbedder
    from semcache.models.embedders.onnx import OnnxEmbedder
    from semcache.models.installed import use

    check_installable(settings)
    source = DEFAULT_MODEL if model == "default" else Path(model)
    tried = _load_model(OnnxEmbedder, source)
    folder = None if model == "default" else _copy_model(source, settings.data, tried.id)
    embedder = BatchingEmbedder(tried)
    try:
        report = await _move_entries(settings, embedder, keep=keep) if exists(settings) else {"entries": 0}
    finally:
        await embedder.close()
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        use(settings.data, folder)
    except OSError as error:
        raise StoreError(f"{settings.data} cannot be written ({error.strerror or error}): run this again") from error
    report = {"embedder": tried.id, "dim": tried.dim, **report}
    if as_json:
        output.as_json(report)
        return
    output.note(f"{report.get('switched', 0)} entries now carry vectors of {tried.id}")
    if report.get("left"):
        output.note(f"{report['left']} entries could not be placed: they are found by identity alone")
    output.note("restart what serves this cache, then run this again to take along what it has kept until then")


def check_installable(settings: Settings) -> None:
    """Raise ConfigError where a setting would win over an installed model."""
    if settings.embedder != "default":
        raise ConfigError(
            f"embedder is set to {settings.embedder!r}, which would win over an installed one: remove the setting first"
        )


def _load_model(opened_by: Callable[[Path], Any], source: Path) -> Any:
    try:
        embedder = opened_by(source)
        embedder.encode(["How do I reset my password?", ""])
    except ConfigError as error:
        raise ConfigError(f"{error}; the cache keeps the embedder that it has") from error
    except Exception as error:  # a model.json of other dimensions than the graph, among others
        raise ConfigError(f"the model in {source} does not work ({error}); the cache keeps the one it has") from error
    return embedder


def _copy_model(source: Path, data: Path, name: str) -> Path:
    """Return the folder in DATA/models that holds this model, copied there unless it is there."""
    from hashlib import blake2b

    from semcache.train.atomic_folder import published

    folder = data / "models" / f"{_folder_name(name)}-{blake2b(name.encode(), digest_size=6).hexdigest()}"
    if (folder / "model.json").is_file() and _same_card(folder, source):
        return folder
    with published(folder, replace=True) as staging:
        for file in _FILES:
            if (source / file).is_file():
                shutil.copyfile(source / file, staging / file)
    return folder


def _same_card(one: Path, two: Path) -> bool:
    cards = [json.loads((place / "model.json").read_text(encoding="utf-8")) for place in (one, two)]
    priors = [(place / "prior.json").read_bytes() if (place / "prior.json").is_file() else b"" for place in (one, two)]
    return bool(cards[0] == cards[1] and priors[0] == priors[1])


def _folder_name(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name.partition("/")[0])
    return kept.strip("-.")[:60] or "model"


async def _move_entries(settings: Settings, embedder: Embedder, *, keep: bool) -> dict[str, Any]:
    from semcache.cache import reindexing

    async with store_of(settings) as store:
        lasting = _sql_store(store)
        now = time.time()
        with _bar(await lasting.owed(embedder.id, now=now)) as told:
            moved = await reindexing.move(lasting, embedder, now=now, told=told)
        if not keep:
            await lasting.forget_aside()
        counts = await store.embedders()
    return {
        "embedded": moved.embedded,
        "switched": moved.switched,
        "left": moved.left,
        "vectors": counts,
    }


def _sql_store(store: StoreLifecycle) -> SqlStore:
    from semcache.storage.stores.sql import SqlStore

    if not isinstance(store, SqlStore):
        raise ConfigError("a cache in memory is gone when its process ends: there is nothing to install a model in")
    return store


@contextmanager
def _bar(total: int) -> Iterator[Any]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with output.bar(*columns) as progress:
        task = progress.add_task("embedding", total=total)
        yield lambda done: progress.advance(task, done)
