"""A semantic response cache for large language models."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["AsyncSemanticCache", "SemanticCache", "__version__"]

if TYPE_CHECKING:
    from semcache.blocking import SemanticCache
    from semcache.cache import AsyncSemanticCache


def __getattr__(name: str) -> object:
    # Importing the package must stay cheap: the command line's --help and every adapter pay for it.
    if name == "AsyncSemanticCache":
        from semcache.cache import AsyncSemanticCache

        return AsyncSemanticCache
    if name == "SemanticCache":
        from semcache.blocking import SemanticCache

        return SemanticCache
    raise AttributeError(f"module 'semcache' has no attribute {name!r}")
