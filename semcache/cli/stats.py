"""`semcache stats`: requests, hits and savings, read from the store or asked of a running server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import opened, options, output
from semcache.errors import UpstreamError

if TYPE_CHECKING:
    from semcache.config import Settings

_COLUMNS = ("entries", "requests", "exact", "semantic", "misses", "bypassed", "hit_rate", "saved_tokens", "saved_usd")


def stats(
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Ask this server, with server.admin_token as the key.")
    ] = None,
    config: options.Config = None,
    data: options.Data = None,
    policies: options.Policies = None,
    as_json: options.Json = False,
) -> None:
    """Show requests, hits and savings by category; works while a server runs."""
    settings = opened.settings_from(config, data=data, policies=policies)
    found = asked(settings, url) if url else opened.run(read(settings))
    if as_json:
        output.as_json(found)
        return
    rows = {**found["categories"], "total": found["total"]}
    output.table(
        ["category", "threshold", *(column.replace("_", " ") for column in _COLUMNS)],
        [[name, _cell("threshold", row), *(_cell(column, row) for column in _COLUMNS)] for name, row in rows.items()],
        right=["threshold", *(column.replace("_", " ") for column in _COLUMNS)],
    )


async def read(settings: Settings) -> dict[str, Any]:
    """The statistics in the store. Raises ConfigError or StoreError."""
    from semcache.ledger import statistics
    from semcache.policy import load
    from semcache.thresholds import StaticThreshold

    pack = load(settings.policies)
    if settings.cache.target is not None:
        pack = pack.with_target(settings.cache.target)
    async with opened.store_of(settings) as store:
        return statistics(pack, await store.tally(), await store.counts(), StaticThreshold(pack))


def asked(settings: Settings, url: str) -> dict[str, Any]:
    """The statistics of a running server. Raises UpstreamError."""
    import httpx2

    token = settings.server.admin_token
    headers = {"x-semcache-key": token.get_secret_value()} if token else {}
    address = url.rstrip("/").removesuffix("/v1") + "/semcache/stats"
    try:
        reply = httpx2.get(address, headers=headers, timeout=10.0)
        if reply.status_code == httpx2.codes.OK:
            found: dict[str, Any] = reply.json()
            return found
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise UpstreamError(f"{address} cannot be asked: {error}") from error
    hint = "; set SEMCACHE_SERVER__ADMIN_TOKEN to an admin key" if reply.status_code in (401, 403) else ""
    raise UpstreamError(f"{address} answered {reply.status_code}{hint}")


def _cell(name: str, row: dict[str, Any]) -> str:
    value = row.get(name)
    if value is None:
        return "-" if name == "hit_rate" else ""
    if name == "hit_rate":
        return f"{value:.1%}"
    return f"{value:.4f}" if name == "saved_usd" else f"{value:,}" if isinstance(value, int) else str(value)
