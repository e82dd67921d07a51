"""Presses: keeping less of a text's keys and values than was computed, one method a file.

Knows which module does what: `compress.press` prefills and compresses, `presses` has the presses by name. Importing
this package imports no torch.
"""

from __future__ import annotations

from semcache.engine.press.press_protocol import ObservedLayer, Press, QuerySource
from semcache.engine.press.presses import PRESSES, press_named

__all__ = ["PRESSES", "ObservedLayer", "Press", "QuerySource", "press_named"]
