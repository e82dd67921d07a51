"""`semcache reload`: packs, prices, limits and keys of running proxies read anew.

The store passes the word, so any machine that reaches it may ask; each worker reads the files that it was started with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of

if TYPE_CHECKING:
    from semcache.config.settings import Settings


def reload(
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0.0, help="How long all workers have to reload.")
    ] = 30.0,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Reload policy pack, prices, limits and keys in running proxies; a mistake is reported and changes nothing."""
    result = run_async(_reload(settings_from(config, data=data), wait))
    if as_json:
        output.as_json(result or {"error": "no proxy answered"})
    elif result is None:
        output.note(f"error: no proxy of this store answered within {wait:g} s; one that starts reads its files then")
    else:
        _say(result, wait)
    if result is None or "error" in result:
        raise typer.Exit(1)


def _say(result: Mapping[str, Any], wait: float) -> None:
    from semcache.proxy.reload_requests import refusals
    from semcache.proxy.reloading import said

    refused = refusals(result["workers"])
    if len(refused) == len(result["workers"]):
        output.note(f"error: not reloaded, everything is as it was: {result['error']}")
        return
    changed, *more = said(result)
    print("\n".join([f"reloaded: {changed}", *more]))
    for line in refused:
        output.note(f"error: not reloaded by every worker, reload again or restart: {line}")
    if late := result["late"]:
        output.note(
            f"{late} worker{'s have' if late > 1 else ' has'} not reloaded within {wait:g} s; what was asked for "
            "stands, and the log of the server says when it is done"
        )


async def _reload(settings: Settings, wait: float) -> dict[str, Any] | None:
    from semcache.proxy.reload_requests import reported, request_reload
    from semcache.proxy.reloading import write_action

    async with store_of(settings) as store:
        number = await request_reload(store, "command line")
        result = await reported(store, number, wait)
        if result is not None:
            told = {key: said for key, said in result.items() if key not in ("workers", "late")}
            await write_action(store, "command line", told)
    return result
