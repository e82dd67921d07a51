"""A semantic response cache for large language models."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["AsyncSemanticCache", "SemanticCache", "__version__"]

if TYPE_CHECKING:
    from semcache.cache.asynchronous import AsyncSemanticCache
    from semcache.cache.synchronous import SemanticCache


def __getattr__(name: str) -> object:
    # Importing the package must stay cheap: the command line's --help and every adapter pay for it.
    if name == "AsyncSemanticCache":
        from semcache.cache.asynchronous import AsyncSemanticCache

        return AsyncSemanticCache
    if name == "SemanticCache":
        from semcache.cache.synchronous import SemanticCache

        return SemanticCache
    raise AttributeError(f"module 'semcache' has no attribute {name!r}")
