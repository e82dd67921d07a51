"""`semcache get`, `undo`, `feedback` and `actions`: entries, straight from the store.

Invariant: running servers learn of every change made here through the store's change feed; no embedder is loaded.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.types import Entry


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
            output.text(
                f"{name + ':':<12}{', '.join(value) if isinstance(value, list) else '' if value is None else value}"
            )
        output.text(f"\n{answer_text(entry) or answer}")


def undo(
    batch: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="As `semcache purge` said; without it, what can be undone.")
    ] = None,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Bring back what was deleted, or list what can be brought back."""
    from semcache.types import public_id

    settings = settings_from(config, data=data)
    if batch is None:
        found = run_async(_deleted(settings))
        if as_json:
            output.as_json(found)
        elif not found:
            output.note("nothing was deleted within `store.undo` seconds, so nothing can be brought back")
        else:
            cells = [
                [
                    one["undo"],
                    output.moment(one["at"]),
                    output.moment(one["until"]),
                    str(one["count"]),
                    ", ".join(one["tenants"][:5]),
                ]
                for one in found
            ]
            output.table(["id", "deleted", "can be undone until", "entries", "tenants"], cells, right=["entries"])
        return
    ids = [public_id(number) for number in run_async(_undo(settings, batch))]
    if as_json:
        output.as_json({"undo": batch, "ids": ids, "count": len(ids)})
    elif ids:
        back = "is back" if len(ids) == 1 else "are back"
        output.note(f"{output.many(len(ids), 'entry', 'entries')} {back}; running servers follow within a second")
    if not ids:
        output.note(f"error: nothing to bring back under {batch!r}: `semcache undo` lists what there is")
        raise typer.Exit(1)


def actions(
    tenant: Annotated[str | None, typer.Option("--tenant", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000)] = 50,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show what administrators did: who, what and when, newest first."""
    found = run_async(_actions(settings_from(config, data=data), tenant, limit))
    if as_json:
        output.as_json(found)
        return
    if not found:
        output.note("no action is recorded; reports, purges, undos, keys and reloads would be")
        return
    cells = [
        [
            output.moment(one.pop("at")),
            one.pop("who"),
            one.pop("action"),
            one.pop("tenant") or "",
            ", ".join(f"{name}={value}" for name, value in one.items() if value not in (None, [], {})),
        ]
        for one in found
    ]
    output.table(["at", "who", "action", "tenant", "what"], cells)


def feedback(
    entry_id: options.EntryId,
    correct: Annotated[
        bool | None, typer.Option("--right/--wrong", help="Whether the answer was right where it was served.")
    ] = None,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take back the reports that it was wrong.")] = False,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Say that a served answer was right or wrong; a wrong one is never served again where it was.

    A report that was a mistake is taken back with --withdraw.
    """
    if withdraw == (correct is not None):
        raise InvalidArgument("say one of --right, --wrong and --withdraw")
    number = _number(entry_id)
    settings = settings_from(config, data=data)
    done = run_async(_withdraw(settings, number) if correct is None else _feedback(settings, number, correct))
    if done is None and withdraw:
        output.note(f"error: nobody has reported entry {entry_id}, or the report was withdrawn already")
        raise typer.Exit(1)
    if done is None:
        _unknown(entry_id)
    if as_json:
        said = {"withdrawn": True} if withdraw else {"correct": correct}
        output.as_json({"id": entry_id, **said, "result": done})
    else:
        hint = f"; if that was a mistake: `semcache feedback {entry_id} --withdraw`" if correct is False else ""
        output.note(f"{entry_id}: {done}{hint}")


def entry_as_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON shows it, answer included."""
    import msgspec

    return {**entry.facts(), "answer": msgspec.json.decode(entry.body)}


def answer_text(entry: Entry) -> str:
    """Return the text of the answer, "" when its dialect has no text."""
    from semcache.dialects import dialects

    dialect = dialects().get(entry.endpoint)
    return dialect.parse(entry.body).text if dialect is not None else ""


async def _deleted(settings: Settings) -> list[dict[str, Any]]:
    from semcache.cache.operating import deleted_in

    async with store_of(settings) as store:
        return await deleted_in(store, time.time())


async def _undo(settings: Settings, batch: str) -> list[int]:
    from semcache.cache.operating import undo_in

    async with store_of(settings) as store:
        return await undo_in(store, batch, now=time.time(), who=output.user())


async def _actions(settings: Settings, tenant: str | None, limit: int) -> list[dict[str, Any]]:
    from semcache.cache.operating import action_facts, operator_store

    async with store_of(settings) as store:
        return [action_facts(one) for one in await operator_store(store).actions(tenant=tenant, limit=limit)]


async def _get(settings: Settings, number: int) -> Entry | None:
    async with store_of(settings) as store:
        [entry] = await store.get([number])
        return entry


async def _withdraw(settings: Settings, number: int) -> str | None:
    from semcache.learning.reports import withdraw

    async with store_of(settings) as store:
        done = await withdraw(store, number, now=time.time(), who=output.user())
        if done is None:
            return None
        back = [f"may be served again to {output.many(len(done.allowed), 'request')}"] if done.allowed else []
        back += ["the entry is back"] if done.restored else []
        back += [f"{output.many(len(done.labels), 'label')} taken out of what was learned"] if done.labels else []
        return "withdrawn: " + ("; ".join(back) or "there was nothing left to bring back")


async def _feedback(settings: Settings, number: int, correct: bool) -> str | None:
    from semcache.learning.reports import is_about_one_request, reject_wrong

    async with store_of(settings) as store:
        [entry] = await store.get([number])
        if entry is None:
            return None
        now, undo = time.time(), settings.store.undo
        is_clear = await is_about_one_request(store, entry)
        rejections = (
            [] if correct else await reject_wrong(store, entry, now=now, undo=undo, who=output.user(), counted=False)
        )
        rejections = [one for one in rejections if one.entry_id == entry.id]
        if not (correct or rejections):
            return "deleted"
        if is_clear:
            # A worker that served it by meaning learns from that.
            await store.said(number, correct=correct, now=time.time())
        return "kept" if correct else f"not served again to {output.many(len(rejections), 'request')}"


def _number(entry_id: str) -> int:
    from semcache.types import parse_id

    number = parse_id(entry_id)
    if number is None:
        raise InvalidArgument(f"{entry_id!r} is no entry id: 16 hexadecimal digits, as in the header x-semcache-id")
    return number


def _unknown(entry_id: str) -> None:
    output.note(f"error: there is no entry {entry_id}")
    raise typer.Exit(1)
