"""`semcache stats`: requests, hits, savings and errors, read from the store or asked of a running server."""

from __future__ import annotations

import textwrap
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import UpstreamError

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.config.settings import Settings
    from semcache.protocols import LabelStore, SavedStates, Threshold

    class _LearnedStore(LabelStore, SavedStates, Protocol):
        """A store with the label log and the states that were learned from it."""


_COLUMNS = (
    "entries", "requests", "exact", "semantic", "plan", "near", "misses", "bypassed", "hit_rate", "saved_tokens",
    "saved_usd",
)  # fmt: skip
_SPENT = ("requests", "calls", "prompt_tokens", "completion_tokens", "spent_usd", "always_usd", "saved_usd")
_SEEN = ("entries", "requests", "labels", "audits")
_WIDTH = 100
_SMALL = 0.01  # dollars
_ANSWERED = {"categories", "total", "confidence"}
_PROMISED = ("target", "state", "certified", "audits", "wrong", "error_per_hit", "error_per_request", "audit_rate")


def stats(
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Ask this server, with server.admin_token as the key.")
    ] = None,
    config: options.Config = None,
    data: options.Data = None,
    policies: options.Policies = None,
    as_json: options.Json = False,
) -> None:
    """Show requests, hits, savings and errors by category; works while a server runs."""
    settings = settings_from(config, data=data, policies=policies)
    found = ask_server(settings, url) if url else run_async(read_statistics(settings))
    if as_json:
        output.as_json(found)
        return
    seen = {name: row for name, row in found["categories"].items() if any(row.get(one) for one in _SEEN)}
    rows = {**seen, "total": found["total"]}
    columns = [column.replace("_", " ") for column in _COLUMNS]
    cells = [[name, *(_cell(column, row) for column in _COLUMNS)] for name, row in rows.items()]
    output.table(["category", *columns], cells, right=columns)
    idle = [name for name in found["categories"] if name not in seen]
    if idle:
        print(_wrapped(f"neither entries nor requests: {', '.join(idle)}"))
    _money(found.get("outcomes", {}))
    promised = {name: row for name, row in (seen or found["categories"]).items() if row.get("strategy")}
    if promised:
        _errors(promised, found["confidence"])


async def read_statistics(settings: Settings) -> dict[str, Any]:
    """Return the statistics in the store. Raises ConfigError or StoreError."""
    from semcache.config.packs import load
    from semcache.storage.accounting import statistics

    pack = load(settings.policies)
    if settings.cache.target is not None:
        pack = pack.with_target(settings.cache.target)
    async with store_of(settings) as store:
        threshold = await learned_strategies(store, pack)
        return statistics(pack, await store.tally(), await store.counts(), threshold)


async def learned_strategies(store: _LearnedStore, pack: Pack) -> Threshold:
    """Return the strategies of a pack with what the store has learned; nothing is written. Raises StoreError.

    A state that cannot be restored is left aside, as a server would, and the whole log is read instead.
    """
    import msgspec

    from semcache.learning import label_log
    from semcache.matching.strategies import ByCategory
    from semcache.types.evidence import LabelSource

    threshold, seq = ByCategory(pack), 0
    saved = await store.learned(label_log.NAME)
    if saved is not None:
        try:
            kept = msgspec.json.decode(saved[1])
            if kept["promises"] == label_log.promises(pack):
                threshold.restore(kept["state"])
                seq = saved[0]
            else:
                output.note("the server has learned under another pack or target: name its own, or ask it with --url")
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError):
            threshold = ByCategory(pack)
    while batch := await store.labels(seq):
        for label in batch:
            seq = label.seq
            if label.source is not LabelSource.REASKED:
                with suppress(ValueError, TypeError, LookupError):
                    threshold.observe(label)
    return threshold


def ask_server(settings: Settings, url: str) -> dict[str, Any]:
    """Return the statistics of a running server. Raises UpstreamError."""
    import httpx2

    token = settings.server.admin_token
    headers = {"x-semcache-key": token.get_secret_value()} if token else {}
    address = url.rstrip("/").removesuffix("/v1") + "/semcache/stats"
    try:
        reply = httpx2.get(address, headers=headers, timeout=10.0)
        found: Any = reply.json() if reply.status_code == httpx2.codes.OK else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise UpstreamError(f"{address} cannot be asked: {error}") from error
    if isinstance(found, dict) and found.keys() >= _ANSWERED:
        return found
    if found is not None:
        raise UpstreamError(f"{address} answered no statistics: is there a semcache server?")
    hint = "; set SEMCACHE_SERVER__ADMIN_TOKEN to an admin key" if reply.status_code in (401, 403) else ""
    raise UpstreamError(f"{address} answered {reply.status_code}{hint}")


def _money(outcomes: dict[str, dict[str, Any]]) -> None:
    """Print the cost of each outcome, beside that of always asking the model that was named."""
    if not outcomes.get("total", {}).get("calls"):
        return
    print("\nCalls, tokens and dollars by outcome; always: had every request gone to the model that it names")
    columns = [column.replace("_", " ") for column in _SPENT]
    cells = [[name, *(_cell(column, row) for column in _SPENT)] for name, row in outcomes.items()]
    output.table(["outcome", *columns], cells, right=columns)


def _errors(rows: dict[str, dict[str, Any]], confidence: float) -> None:
    """Print the error target of each category that is served by meaning, and the error that was seen."""
    print(f"\nError of hits by meaning, with 95% intervals; certified at {confidence:.4g} confidence")
    columns = [column.replace("error_", "").replace("_", " ") for column in _PROMISED]
    cells = [[name, *(_promise(column, row) for column in _PROMISED)] for name, row in rows.items()]
    output.table(["category", *columns], cells, right=[column for column in columns if column != "state"])
    notes: dict[str, list[str]] = {}
    for name, row in rows.items():
        for one in row["classes"] or ():
            if one["closed"]:
                notes.setdefault(f"closed to tenant {one['name']}: its own audits showed too many errors", []).append(
                    name
                )
        if row["note"]:
            notes.setdefault(f"{row['note']} (strategy {row['strategy']})", []).append(name)
        if row["outlook"] == "loses":
            rate = "no hit rate" if row["break_even"] is None else f"a hit rate of {row['break_even']:.1%}"
            notes.setdefault(f"costs more than it saves; it would pay from {rate} on", []).append(name)
    if notes:
        print()
    for note, names in notes.items():
        who = "all of them" if len(names) == len(rows) > 1 else ", ".join(names)
        print(_wrapped(f"{who}: {note}"))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _cell(name: str, row: dict[str, Any]) -> str:
    value = row.get(name)
    if value is None:
        return "-" if name == "hit_rate" else ""
    if name == "hit_rate":
        return f"{value:.1%}"
    if name.endswith("_usd"):
        return f"{value:.6f}" if 0 < abs(value) < _SMALL else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _promise(name: str, row: dict[str, Any]) -> str:
    value = row[name]
    if value is None:
        return "-"
    match name:
        case "target":
            return f"{_share(value)} per {row['contract']}"
        case "certified":
            return f"<= {_share(value)}"
        case "audit_rate":
            return _share(value)
        case "error_per_hit" | "error_per_request":
            return f"{_share(value['estimate'])} ({100 * value['low']:.2g}-{100 * value['high']:.2g})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _share(value: float) -> str:
    return f"{100 * value:.2g}%"
