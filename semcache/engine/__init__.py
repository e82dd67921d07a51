"""The local engine: a transformers decoder with paged, shared keys and values, and the HTTP server in front of it.

`startup` opens an engine. Importing this package imports neither torch nor transformers: they come with the extra
`engine` and are imported where they are used.
"""

from __future__ import annotations

from semcache.engine.engine_config import EngineConfig
from semcache.engine.job import Delta, FinishReason, Job, Sampling, TokenScore

__all__ = ["Delta", "EngineConfig", "FinishReason", "Job", "Sampling", "TokenScore"]
