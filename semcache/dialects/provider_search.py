"""Search by the provider: the fields of a request that ask for it, in the words of several providers.

Pure. Invariant: a request that asks its provider to look something up is told apart from one that only declares tools
which its caller runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIELDS = (
    "web_search_options",  # OpenAI
    "enable_search",  # DashScope
    "enable_web_search",
    "web_search",
    "search_parameters",  # xAI
    "plugins",  # OpenRouter
)
_ONLINE = ":online"  # ends the name of a model of OpenRouter that searches


def is_asked_for(body: Mapping[str, Any]) -> bool:
    """Return True if a request asks its provider to search, by a field, a plugin or the name of its model."""
    if body.get("web_search_options") is not None:
        return True
    if any(_is_on(body.get(name)) for name in ("enable_search", "enable_web_search", "web_search")):
        return True
    wanted = body.get("search_parameters")
    if isinstance(wanted, dict) and wanted.get("mode") != "off":
        return True
    plugins = body.get("plugins")
    if isinstance(plugins, list) and any(_searches(plugin) for plugin in plugins):
        return True
    model = body.get("model")
    return isinstance(model, str) and model.endswith(_ONLINE)


def _is_on(value: Any) -> bool:
    if isinstance(value, dict):
        return all(value.get(name) is not False for name in ("enable", "enabled"))
    return bool(value)


def _searches(plugin: Any) -> bool:
    named = plugin.get("id") if isinstance(plugin, dict) else plugin
    return isinstance(named, str) and named.startswith("web") and _is_on(plugin)
