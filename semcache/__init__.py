"""A semantic response cache for large language models."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["AsyncSemanticCache", "SemanticCache", "__version__", "default_embedder"]

if TYPE_CHECKING:
    from semcache.agents.library import AsyncSemanticCache, SemanticCache
    from semcache.models.embedders import default_embedder

_PLACES = {
    "AsyncSemanticCache": "semcache.agents.library",
    "SemanticCache": "semcache.agents.library",
    "default_embedder": "semcache.models.embedders",
}


def __getattr__(name: str) -> object:
    # Importing the package must stay cheap: the command line's --help and every adapter pay for it.
    if name not in _PLACES:
        raise AttributeError(f"module 'semcache' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)
