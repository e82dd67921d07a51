"""`semcache get`, `purge` and `feedback`: single entries, straight from the store.

Invariant: running servers learn of every change made here through the store's change feed; no embedder is loaded.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.types import Entry, Selector

_SHOWN = 20


def get(
    entry_id: options.EntryId, config: options.Config = None, data: options.Data = None, as_json: options.Json = False
) -> None:
    """Show one entry with its answer."""
    entry = run_async(_get(settings_from(config, data=data), _number(entry_id)))
    if entry is None:
        _unknown(entry_id)
    elif as_json:
        output.as_json(entry_as_json(entry))
    else:
        shown = entry_as_json(entry)
        answer = shown.pop("answer")
        for name in ("created", "expires"):
            shown[name] = output.moment(shown[name])
        for name, value in shown.items():
            print(f"{name + ':':<12}{', '.join(value) if isinstance(value, list) else '' if value is None else value}")
        print(f"\n{answer_text(entry) or answer}")


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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Delete the entries that match every option given; running servers follow within a second."""
    from semcache.types import Selector, public_id

    tenant, user, namespace = _scope(scope)
    where = Selector(
        tenant=tenant,
        user=user,
        namespace=namespace,
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
    if not dry_run and not yes:
        _confirm(settings, where)
    ids = [public_id(number) for number in run_async(_delete(settings, where, dry_run))]
    if as_json:
        output.as_json({"ids": ids, "count": len(ids), "dry_run": dry_run})
        return
    if dry_run:
        print(
            "\n".join(ids[:_SHOWN] + ([f"and {len(ids) - _SHOWN} more"] if len(ids) > _SHOWN else [])),
            end="\n" * bool(ids),
        )
    output.note(f"{len(ids)} entries would be deleted" if dry_run else f"{len(ids)} entries deleted")


def feedback(
    entry_id: options.EntryId,
    correct: Annotated[
        bool | None, typer.Option("--right/--wrong", help="Whether the answer was right where it was served.")
    ] = None,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Say that a served answer was right or wrong; a wrong one is never served again where it was."""
    if correct is None:
        raise InvalidArgument("say --right or --wrong")
    number = _number(entry_id)
    done = run_async(_feedback(settings_from(config, data=data), number, correct))
    if done is None:
        _unknown(entry_id)
    if as_json:
        output.as_json({"id": entry_id, "correct": correct, "result": done})
    else:
        output.note(f"{entry_id}: {done}")


def entry_as_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON shows it, answer included."""
    import msgspec

    return {**entry.facts(), "answer": msgspec.json.decode(entry.body)}


def answer_text(entry: Entry) -> str:
    """Return the text of the answer, "" when its dialect has no text."""
    from semcache.dialects import dialects

    dialect = dialects().get(entry.endpoint)
    return dialect.parse(entry.body).text if dialect is not None else ""


async def _get(settings: Settings, number: int) -> Entry | None:
    async with store_of(settings) as store:
        [entry] = await store.get([number])
        return entry


async def _delete(settings: Settings, where: Selector, dry_run: bool) -> list[int]:
    async with store_of(settings) as store:
        return await store.delete(where, now=time.time(), dry_run=dry_run)


async def _feedback(settings: Settings, number: int, correct: bool) -> str | None:
    from semcache.learning.feedback import reject_wrong

    async with store_of(settings) as store:
        [entry] = await store.get([number])
        if entry is None:
            return None
        rejections = [] if correct else await reject_wrong(store, entry, now=time.time())
        if not (correct or rejections):
            return "deleted"
        # A worker that served it by meaning learns from that.
        await store.said(number, correct=correct, now=time.time())
        return "kept" if correct else f"not served again to {len(rejections)} requests"


def _confirm(settings: Settings, where: Selector) -> None:
    """Ask on a terminal. Elsewhere only deleting everything needs --yes."""
    if not sys.stdin.isatty():
        if where.everything:
            raise InvalidArgument("--all deletes every entry: say --yes too")
        return
    count = len(run_async(_delete(settings, where, True)))
    typer.confirm(f"Delete {count} entries?", abort=True, err=True)


def _scope(text: str | None) -> tuple[str | None, str | None, str | None]:
    parts = (text or "").split("/", 2)
    tenant, user, namespace = [part or None for part in [*parts, "", ""][:3]]
    return tenant, user, namespace


def _made_before(age: str) -> float:
    from semcache.runtime.durations import duration

    return time.time() - duration(age)


def _number(entry_id: str) -> int:
    from semcache.types import parse_id

    number = parse_id(entry_id)
    if number is None:
        raise InvalidArgument(f"{entry_id!r} is no entry id: 16 hexadecimal digits, as in the header x-semcache-id")
    return number


def _unknown(entry_id: str) -> None:
    output.note(f"error: there is no entry {entry_id}")
    raise typer.Exit(1)
