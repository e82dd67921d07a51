"""The check of upstreams by `semcache doctor`: can each be reached, and with which key.

Knows every kind of upstream. Invariant: asks for the list of models and for nothing that costs; never raises. Where one
of several replicas answers, one that does not is a warning: the others take its place.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.cli.doctor_finding import Finding
from semcache.errors import ConfigError, UpstreamError

if TYPE_CHECKING:
    from semcache.config.settings import Settings

_PATIENCE = 5.0


async def check_upstreams(settings: Settings) -> list[Finding]:
    """Return a finding for each server that requests may go to: every replica, or the upstream."""
    given = settings.upstream
    named = [one.url for one in given.replicas] or [url.strip() for url in given.url.split(",")]
    urls = [url for url in named if url] or [given.url]
    found = await asyncio.gather(*(_upstream(settings, url) for url in urls))
    if len(urls) > 1:
        found = [replace(one, check=f"upstream {at}") for at, one in enumerate(found, 1)]
        if any(one.state != "fail" for one in found):  # the others take its place
            found = [replace(one, state="warn") if one.state == "fail" else one for one in found]
    return found


async def _upstream(settings: Settings, url: str) -> Finding:
    from semcache.protocols import Outbound
    from semcache.upstream.backends import is_served, open_backend
    from semcache.upstream.backends.connection import Connection

    given = settings.upstream
    if not is_served(url):
        return _local(url)
    key, fallback = given.api_key, settings.fallback_key
    try:
        connection = Connection(
            api_key=key.get_secret_value() if key else None,
            fallback_key=fallback.get_secret_value() if fallback else None,
            timeout=_PATIENCE,
            connect_timeout=_PATIENCE,
            proxy=given.proxy.get_secret_value() if given.proxy else None,
        )
        backend = open_backend(url, connection)
        try:
            started = time.perf_counter()
            reply = await backend.send(Outbound("GET", "/v1/models", [("accept", "application/json")], b""))
            spent = time.perf_counter() - started
            await reply.close()
        finally:
            await backend.close()
    except ConfigError as error:
        return Finding("upstream", "fail", str(error), "name a URL with its scheme: --upstream https://HOST/v1")
    except UpstreamError as error:
        remedy = _proxy_remedy(given.proxy is not None, url, os.environ)
        return Finding(
            "upstream", "fail", f"{url}: {error}", remedy or "check the address, the network and upstream.proxy"
        )
    return _reply_finding(f"{url} answers {reply.status} in {spent * 1e3:.0f} ms", reply.status, bool(key or fallback))


def _proxy_remedy(chosen: bool, url: str, env: Mapping[str, str]) -> str:
    """Return what to set where other programs are told of a proxy that this one is not; "" where there is none."""
    scheme = url.partition("://")[0]
    names = [f"{scheme}_proxy".upper(), f"{scheme}_proxy", "ALL_PROXY", "all_proxy"]
    named = next((name for name in names if env.get(name)), None)
    if chosen or named is None:
        return ""
    # Not quoted: it may hold a password.
    return f"{named} is set, and is not read: if the way out leads through a proxy, set upstream.proxy to the same"


def _reply_finding(found: str, status: int, has_key: bool) -> Finding:
    if status in (401, 403):
        if has_key:
            return Finding("upstream", "fail", found, "the key is refused: check upstream.api_key or OPENAI_API_KEY")
        remedy = "clients have to send their own key, or set upstream.api_key or OPENAI_API_KEY"
        return Finding("upstream", "warn", f"{found}: reachable, key missing", remedy)
    if status == 404:
        remedy = "the list of models is not there: a base URL ends where the API begins, mostly in /v1"
        return Finding("upstream", "warn", found, remedy)
    if status >= 500:
        return Finding("upstream", "warn", found, "it is reachable and unwell: look at its own logs")
    return Finding("upstream", "ok", found)


def _local(url: str) -> Finding:
    """Return the finding for an upstream in this process."""
    if url == "echo":
        return Finding("upstream", "ok", f"{url}: in this process")
    return _engine(url) if url.startswith("engine:") else _litellm(url)


def _engine(url: str) -> Finding:
    folder = Path(url.partition(":")[2])
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        remedy = "pip install 'semcache-llm[engine]'"
        return Finding("upstream", "fail", f"{url}: torch and transformers are not installed", remedy)
    if folder.is_dir() and not (folder / "config.json").is_file():
        remedy = "name a folder that save_pretrained wrote: --upstream engine:DIR"
        return Finding("upstream", "fail", f"{url}: {str(folder)!r} holds no config.json", remedy)
    return Finding("upstream", "ok", f"{url}: in this process; the model is loaded with the first request")


def _litellm(url: str) -> Finding:
    if url.partition(":")[0] != "litellm":
        return Finding("upstream", "fail", f"{url!r} is no upstream", "name a URL, engine:DIR, litellm:MODEL or echo")
    if importlib.util.find_spec("litellm") is None:
        return Finding("upstream", "fail", f"{url}: litellm is not installed", "pip install 'semcache-llm[litellm]'")
    model = url.partition(":")[2]
    if not model:
        return Finding("upstream", "ok", f"{url}: litellm is installed; each request names its model")
    from semcache.upstream.backends.litellm import check_model

    try:
        check_model(model)
    except ConfigError as error:
        return Finding("upstream", "fail", str(error), "write PROVIDER/MODEL, such as litellm:openai/gpt-5")
    return Finding("upstream", "ok", f"{url}: litellm knows its provider, which was not asked")
