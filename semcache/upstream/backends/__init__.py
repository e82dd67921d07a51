"""Backends that answer requests: HTTP services, a model in this process, the litellm package, the scripted upstream.

Knows which scheme of an upstream name means which plug-in; each is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from semcache.config import plugins
from semcache.errors import ConfigError
from semcache.runtime.unix_address import UNIX
from semcache.upstream.backends.connection import DEFAULTS, Connection

if TYPE_CHECKING:
    from semcache.protocols import Backend
    from semcache.upstream.routing.attempt import Routed
    from semcache.upstream.routing.replica import Address
    from semcache.upstream.routing.router import RoutingTerms

_ASKING = 2  # connections to a server for questions alone
SCHEMES = ("http", "https", "unix", "engine", "litellm", "echo")


def is_served(upstream: str) -> bool:
    """Return True for the name of an upstream that is a server, at a URL or a Unix socket."""
    return upstream.startswith(("http://", "https://", UNIX))


def open_backend(
    upstream: str,
    connection: Connection = DEFAULTS,
    *,
    anthropic_url: str | None = None,
    replicas: Sequence[Address] = (),
    routing: RoutingTerms | None = None,
    secret: Callable[[], bytes] | None = None,
    note: Callable[[Routed], object] = lambda _: None,
    salt: bool = True,
) -> Backend:
    """Make the backend that `upstream` names.

    That is a URL or the `unix:PATH` of a socket, several by commas, `engine:DIR`, `litellm:[MODEL]`, `echo`, or
    `NAME[:REST]` of a plug-in, whose maker is given REST or "", and `api_key` and `timeout` by name. With
    `anthropic_url`, `/v1/messages` goes there, and never sees a `fallback_key`, which is an OpenAI key. `replicas`
    stand in the place of `upstream`; they, or several URLs, are routed to as `routing` says (`secret` and `note` are
    those of `Router`). With `secret` and `salt`, a single server that knows `cache_salt` is given one by tenant too.
    Raises ConfigError for anything else.
    """
    backend: Backend
    urls = [url.strip() for url in upstream.split(",") if url.strip()]
    if replicas or len(urls) > 1:
        from semcache.upstream.routing.replica import Address
        from semcache.upstream.routing.router import open_router

        asking = replace(connection, max_connections=_ASKING, watched=False)
        backend = open_router(
            replicas or [Address(url) for url in urls],
            lambda url: open_backend(url, connection),
            questions=lambda url: open_backend(url, asking) if is_served(url) else None,
            routing=routing,
            secret=secret,
            note=note,
        )
    else:
        backend = _single(upstream, connection)
        if secret is not None and salt and len(urls) == 1:
            backend = _salted(backend, urls[0], secret)
    if anthropic_url is None:
        return backend
    from semcache.upstream.backends.by_path import ByPath
    from semcache.upstream.backends.http import HttpBackend

    messages = HttpBackend(anthropic_url, replace(connection, api_key=None, fallback_key=None))
    return ByPath(backend, {"/v1/messages": messages})


def _single(upstream: str, connection: Connection) -> Backend:
    """The backend of one server, model, package or plug-in. Raises ConfigError for a name of none."""
    name, _, rest = upstream.partition(":")
    if is_served(upstream):
        from semcache.upstream.backends.http import HttpBackend

        return HttpBackend(upstream, connection)
    if upstream.startswith("engine:"):
        from semcache.engine.engine_config import EngineConfig
        from semcache.upstream.backends.local_engine import EngineBackend

        return EngineBackend(EngineConfig(rest), timeout=connection.timeout)
    if name == "litellm":
        from semcache.upstream.backends.litellm import LiteLLMBackend

        return LiteLLMBackend(rest or None, api_key=connection.api_key, timeout=connection.timeout)
    if upstream == "echo":
        from semcache.upstream.backends.echo import echo_app
        from semcache.upstream.backends.inprocess import InProcessBackend

        return InProcessBackend(echo_app(), timeout=connection.timeout)
    if name in plugins.names("backends") and name not in SCHEMES:
        made: Backend = plugins.make("backends", name, rest, api_key=connection.api_key, timeout=connection.timeout)
        return made
    raise ConfigError(
        f"upstream {upstream!r} is none of: a URL with its scheme (https://api.openai.com/v1), the unix:PATH of a "
        "socket, several by commas, engine:DIR (a model's folder), litellm:MODEL (litellm:anthropic/claude-x), "
        f"echo{_plugged()}"
    )


def _plugged() -> str:
    found = plugins.names("backends")
    return f", or a plug-in: {', '.join(found)}" if found else ""


def _salted(backend: Backend, upstream: str, secret: Callable[[], bytes]) -> Backend:
    """A server or engine that may keep what it has read for whoever asks next, with a salt for each tenant."""
    from semcache.upstream.routing.kinds import KINDS, of_host
    from semcache.upstream.routing.replica import Address
    from semcache.upstream.routing.salted import SaltedBackend

    name = Address(upstream).name
    kind = KINDS["semcache"] if upstream.startswith("engine:") else of_host(name)
    if kind is None and not is_served(upstream):
        return backend
    return SaltedBackend(backend, name, kind=kind, secret=secret)
