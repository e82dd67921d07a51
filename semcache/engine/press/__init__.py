"""Presses: KV cache compression, one method a file.

`compress.press` prefills and compresses, `presses` has the presses by name. Importing this package imports no torch.
"""

from __future__ import annotations

from semcache.engine.press.press_protocol import ObservedLayer, Press, QuerySource
from semcache.engine.press.presses import PRESSES, press_named

__all__ = ["PRESSES", "ObservedLayer", "Press", "QuerySource", "press_named"]
