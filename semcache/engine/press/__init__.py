"""Presses: keeping less of a text's keys and values than was computed, one method a file.

Knows which module does what: `compress.press` prefills and compresses, `registry` has the presses by name. Importing
this package imports no torch.
"""

from __future__ import annotations

from semcache.engine.press.protocol import Asks, Observed, Press
from semcache.engine.press.registry import PRESSES, press_named

__all__ = ["PRESSES", "Asks", "Observed", "Press", "press_named"]
