"""`semcache purge`: entries that match, and what their tenant or user has beside them.

Invariant: what is deleted is said, and what stays is, with the command that deletes it; no embedder is loaded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import unquote

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.protocols import EntryStore
    from semcache.types import Selector

_SHOWN = 20
_SOURCES = ("traffic", "import", "audit")


@dataclass(frozen=True, slots=True)
class BesideEntries:
    """Numbers of what a tenant or a user has beside entries.

    `results` of tools go with the entries; `shared` ones, of a user's tenant, name no user; nor do `plans`.
    """

    results: int
    shared: int
    plans: int

    def told(self, where: Selector, done: str, *, forever: bool) -> list[str]:
        """Return a line for each kind of which there is something; `done` is "deleted" or "would be deleted"."""
        said = []
        of = f" of {where.tenant}" if where.tenant is not None else ""
        option = f"--tenant {where.tenant}" if where.tenant is not None else "--all"
        if self.results:
            said.append(f"{output.many(self.results, 'result')} of tools {done} as well, which nothing brings back")
        if self.shared:
            said.append(
                f"{output.many(self.shared, 'result')} of tools{of} that users share {_stay(self.shared)} until their "
                "time is over, for they name no user"
            )
        if self.plans and forever and where.tenant is not None and where.user is None:
            said.append(f"{output.many(self.plans, 'plan')} {done} as well")
        elif self.plans:
            why = ", for plans name no user" if where.user is not None else ""
            said.append(
                f"{output.many(self.plans, 'plan')}{of} {_stay(self.plans)}{why}: `semcache plans "
                f"list`, `semcache plans purge {option}`"
            )
        return said


def purge(
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG")] = None,
    category: Annotated[str | None, typer.Option("--category", metavar="NAME")] = None,
    scope: Annotated[str | None, typer.Option("--scope", metavar="TENANT[/USER[/NAMESPACE]]")] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME")] = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Made longer ago than 90s, 15m, 12h, 7d, 2w.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="traffic, import or audit.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every entry there is.")] = False,
    forever: Annotated[
        bool, typer.Option("--forever", help="Erase it, with all that was recorded of it; nothing can be undone.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Delete the entries that match every option given; running servers follow within a second.

    In --scope * stands for any: */alice is the user alice of every tenant. A slash within a name is written %2F.
    What was deleted can be brought back for a day: `semcache undo`.
    """
    from semcache.types import Selector

    _refuse_empty({"--tag": tag, "--category": category, "--scope": scope, "--model": model, "--source": source})
    of = scope_parts(scope)
    where = Selector(
        tenant=of.tenant,
        user=of.user,
        namespace=of.namespace,
        category=category,
        model=model,
        tag=tag,
        source=source,
        older_than=None if older_than is None else _made_before(older_than),
        everything=everything,
    )
    if where.is_empty():
        raise InvalidArgument("say what to purge: --tag, --category, --scope, --model, --older-than, --source or --all")
    settings = settings_from(config, data=data)
    if category is not None:
        _known_category(settings, category)
    if not dry_run and not yes:
        _confirm(settings, where)
    undo = 0.0 if forever else settings.store.undo
    purged = run_async(_matching(settings, where) if dry_run else _delete(settings, where, undo=undo))
    if not purged.ids and source is not None and source not in _SOURCES:
        raise InvalidArgument(f"no entry has the source {source!r}: it is traffic, import or audit")
    if as_json:
        output.as_json(purged.as_dict(dry_run=dry_run))
    else:
        _tell(purged, where, dry_run=dry_run, forever=forever)


class _Purged(NamedTuple):
    """The entries that match, the name by which their deletion is undone, and what is beside them."""

    ids: list[int]
    batch: str | None
    beside: BesideEntries | None

    def as_dict(self, *, dry_run: bool) -> dict[str, Any]:
        """Return it as JSON shows it."""
        from semcache.types import public_id

        undone = {} if dry_run else {"undo": self.batch}
        counted = {} if self.beside is None else {"tool_results": self.beside.results, "plans": self.beside.plans}
        ids = [public_id(number) for number in self.ids]
        return {"ids": ids, "count": len(ids), "dry_run": dry_run} | counted | undone


def _refuse_empty(options: Mapping[str, str | None]) -> None:
    """Raise InvalidArgument for an empty option: a script's variable that is not set must not widen what is deleted."""
    for option, value in options.items():
        if value is not None and not value.strip("/ "):
            raise InvalidArgument(f"{option} is empty: name what it is to match, or leave it out")


def _tell(purged: _Purged, where: Selector, *, dry_run: bool, forever: bool) -> None:
    from semcache.types import public_id

    count = len(purged.ids)
    if dry_run:
        for number in purged.ids[:_SHOWN]:
            print(public_id(number))
        if count > _SHOWN:
            print(f"and {count - _SHOWN} more")
    undo = f"; bring them back with `semcache undo {purged.batch}`" if purged.batch else ""
    done = "would be deleted" if dry_run else "deleted"
    output.note(f"{output.many(count, 'entry', 'entries')} {done}{undo}")
    if purged.beside is not None:
        for line in purged.beside.told(where, done, forever=forever):
            output.note(line)


async def _matching(settings: Settings, where: Selector) -> _Purged:
    """Return the entries that would be deleted."""
    async with store_of(settings) as store:
        ids = await store.delete(where, now=time.time(), dry_run=True)
        return _Purged(ids, None, await _beside(store, where))


async def _delete(settings: Settings, where: Selector, *, undo: float) -> _Purged:
    """Delete entries, which can be brought back for `undo` seconds."""
    from semcache.cache.operating import delete_from

    async with store_of(settings) as store:
        beside = await _beside(store, where)
        return _Purged(*await delete_from(store, where, now=time.time(), undo=undo, who=output.user()), beside)


async def _beside(store: EntryStore, where: Selector) -> BesideEntries | None:
    """Count what there is beside the entries of a whole tenant or user; None for a part of them."""
    from semcache.storage.stores.plan_rows import plans_of
    from semcache.storage.stores.tool_rows import tool_results_of

    if not where.is_owner():
        return None
    results = tool_results_of(store)
    mine = await results.count(tenant=where.tenant, user=where.user)
    shared = await results.count(tenant=where.tenant, shared=True) if where.user is not None else 0
    return BesideEntries(mine, shared, await plans_of(store).count_plans(where.tenant))


def _confirm(settings: Settings, where: Selector) -> None:
    """Ask on a terminal. Where nobody can be asked, --yes says it."""
    count = len(run_async(_matching(settings, where)).ids)
    if not sys.stdin.isatty():
        raise InvalidArgument(
            f"{output.many(count, 'entry', 'entries')} would be deleted, and nobody can be asked here: say --yes too"
            if count
            else "no entry matches: there is nothing to delete"
        )
    typer.confirm(f"Delete {output.many(count, 'entry', 'entries')}?", abort=True, err=True)


def _known_category(settings: Settings, name: str) -> None:
    """Raise InvalidArgument for a category that neither the pack nor any entry has."""
    from semcache.config.packs import load

    async def counted() -> dict[str, int]:
        async with store_of(settings) as store:
            return await store.counts()

    known = sorted({*load(settings.policies).categories, *run_async(counted())})
    if name not in known:
        raise InvalidArgument(output.unknown("--category", name, known))


class _ScopeParts(NamedTuple):
    """The parts of a scope that are named, None for others."""

    tenant: str | None
    user: str | None
    namespace: str | None


def scope_parts(text: str | None) -> _ScopeParts:
    """The parts of TENANT/USER/NAMESPACE, `*` for any; a name with a slash has %2F in its place.

    Raises InvalidArgument for a part that is empty.
    """
    parts = [] if text is None else text.split("/", 2)
    for name, part in zip(_ScopeParts._fields, parts, strict=False):
        if not part.strip():
            raise InvalidArgument(f"--scope {text!r} has an empty {name}: name it, or say * for every {name}")
    tenant, user, namespace = [None if part == "*" else unquote(part) for part in [*parts, "*", "*", "*"][:3]]
    return _ScopeParts(tenant, user, namespace)


def _made_before(age: str) -> float:
    from semcache.runtime.durations import duration

    return time.time() - duration(age)


def _stay(count: int) -> str:
    return "stays" if count == 1 else "stay"
