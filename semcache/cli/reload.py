"""`semcache reload`: packs, prices, limits and keys of running proxies read anew.

The store passes the word, so any machine that reaches it may ask; each worker reads the files that it was started with.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of

if TYPE_CHECKING:
    from semcache.config.settings import Settings

_EVERY = 0.1


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
    elif "error" in result:
        output.note(f"error: not reloaded, everything is as it was: {result['error']}")
    else:
        from semcache.proxy.reload_requests import owing
        from semcache.proxy.reloading import said

        changed, *more = said(result)
        print("\n".join([f"reloaded: {changed}", *more]))
        if left := owing(result.get("workers", ())):
            output.note(
                f"{left} worker{'s have' if left > 1 else ' has'} not reloaded within {wait:g} s; what was asked for "
                "stands, and the log of the server says when it is done"
            )
    if result is None or "error" in result:
        raise typer.Exit(1)


async def _reload(settings: Settings, wait: float) -> dict[str, Any] | None:
    from semcache.proxy.reload_requests import owing, request_reload, result_of
    from semcache.proxy.reloading import write_action

    async with store_of(settings) as store:
        number = await request_reload(store, "command line")
        until = time.monotonic() + wait
        # Servers that have not answered at all yet, as on other machines, are not known here.
        while (result := await result_of(store, number)) is None or owing(result.get("workers", ())):
            if time.monotonic() > until:
                break
            await asyncio.sleep(_EVERY)
        if result is not None:
            await write_action(store, "command line", {key: said for key, said in result.items() if key != "workers"})
    return result
