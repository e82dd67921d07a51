"""`semcache backup` and `semcache restore`: a whole store as one file, and a store from it.

Invariant: neither overwrites anything; what was written has been checked; servers go on while a backup is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semcache.cli import options, output
from semcache.cli.open_store import exists, seal_of, settings_from
from semcache.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.storage.stores.sqlite_copy import StoreContent

_BESIDE = ("models", "embedder.json", "verifier")  # models of one's own, in the data folder
_NAMED = {"entries": "entry", "api_keys": "API key", "labels": "label", "plans": "plan"}


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; nothing is overwritten.")],
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Copy a SQLite store, with keys, statistics and all that was learned, to a file, while servers go on."""
    from semcache.storage.stores.sqlite_copy import copy_store

    settings = settings_from(config, data=data)
    source = _database(settings, "back it up with `pg_dump --format=custom --file=FILE`")
    if not exists(settings) and settings.store.url is None:
        raise StoreError(f"there is no cache in {settings.data}: name its folder with --data")
    found = copy_store(source, file)
    _tell(settings, found, file, as_json)
    if not as_json:
        output.note(f"{_content(found)} of {source} are in {file}")
    beside = [str(settings.data / name) for name in _BESIDE if (settings.data / name).exists()]
    if beside:
        output.note(f"not in it, because they are no part of the database: {', '.join(beside)}: copy them as well")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `semcache backup` wrote it.")],
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Make a SQLite store from a backup where there is none yet, and check it. No server may use the place."""
    from semcache.storage.stores.sqlite_copy import copy_store

    settings = settings_from(config, data=data)
    target = _database(settings, "restore it with `pg_restore --dbname=URL FILE` into an empty database")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = copy_store(file, target)
    _tell(settings, found, file, as_json)
    if not as_json:
        output.note(f"{_content(found)} are in {target}")
        output.note(
            "what was purged, erased or revoked after the backup was made is there again: `semcache keys list` shows "
            "the keys, and `semcache actions` what was done before"
        )


def _database(settings: Settings, remedy: str) -> Path:
    """The file of a SQLite store. Raises ConfigError for another kind, for which it says what to do instead."""
    from semcache.storage.stores import plugged
    from semcache.storage.stores.database import parse_url

    if settings.store.url is None:
        return settings.data / "semcache.db"
    if settings.store_url == "memory://":
        raise ConfigError("store.url is memory://, which keeps nothing that could be backed up or restored")
    plugin = plugged(settings.store_url)
    if plugin is not None:
        raise ConfigError(f"store.url names a store of the plug-in {plugin!r}: use the tools of that store")
    url = parse_url(settings.store_url)
    if url.get_backend_name() != "sqlite":
        raise ConfigError(f"store.url names PostgreSQL: {remedy}")
    return Path(str(url.database))


def _tell(settings: Settings, found: StoreContent, file: Path, as_json: bool) -> None:
    """Print the content as JSON if asked for, and warn of keys that nobody here has."""
    seal = seal_of(settings)
    lacking = sorted(found.seal_keys - (seal.ids if seal is not None else frozenset()))
    if as_json:
        seals = {"seal_keys": sorted(found.seal_keys)}
        output.as_json({"file": str(file), "schema": found.revision, **found.counts, **seals})
    if lacking:
        output.note(
            f"warning: some of it is encrypted with {', '.join(lacking)}, which store.seal_keys does not name: without "
            "the key it cannot be read, so keep the key apart from the backup and name it before you start a server"
        )


def _content(found: StoreContent) -> str:
    plural = {"entry": "entries"}
    return ", ".join(output.many(found.counts[name], word, plural.get(word)) for name, word in _NAMED.items())
