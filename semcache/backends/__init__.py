"""What answers requests: an HTTP service, the litellm package, or the scripted upstream in this process.

Knows which scheme of an upstream name means which plug-in; each is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.protocols import Backend


def open_backend(
    upstream: str,
    *,
    api_key: str | None = None,
    fallback_key: str | None = None,
    anthropic_url: str | None = None,
    timeout: float = 600.0,
    connect_timeout: float = 10.0,
    max_connections: int = 1000,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
) -> Backend:
    """Make the backend that `upstream` names: a URL, `echo`, or `litellm:` with or without a model.

    `fallback_key` is for clients that send no credentials. With `anthropic_url`, `/v1/messages` goes there, and never
    sees a `fallback_key`, which is an OpenAI key. Raises ConfigError for anything else.
    """
    backend: Backend
    if upstream == "echo":
        from semcache.backends.inprocess import EchoBackend

        backend = EchoBackend(timeout=timeout)
    elif upstream == "litellm" or upstream.startswith("litellm:"):
        from semcache.backends.litellm import LiteLLMBackend

        backend = LiteLLMBackend(upstream.partition(":")[2] or None, api_key=api_key, timeout=timeout)
    elif upstream.startswith(("http://", "https://")):
        from semcache.backends.http import HttpBackend

        backend = HttpBackend(
            upstream,
            api_key=api_key,
            fallback_key=fallback_key,
            timeout=timeout,
            connect_timeout=connect_timeout,
            max_connections=max_connections,
            headers=headers,
            proxy=proxy,
        )
    else:
        raise ConfigError(
            f"upstream {upstream!r} is none of: a URL with its scheme (https://api.openai.com/v1), "
            "litellm:MODEL (litellm:anthropic/claude-x), echo"
        )
    if anthropic_url is None:
        return backend
    from semcache.backends.by_path import ByPath
    from semcache.backends.http import HttpBackend

    messages = HttpBackend(
        anthropic_url,
        timeout=timeout,
        connect_timeout=connect_timeout,
        max_connections=max_connections,
        headers=headers,
        proxy=proxy,
    )
    return ByPath(backend, {"/v1/messages": messages})
