"""Presses: keeping less of a text's keys and values than was computed, one method a file.

Knows which module does what: `compress.press` prefills and compresses, `presses` has the presses by name. Importing
this package imports no torch.
"""

from __future__ import annotations

from semcache.engine.press.presses import PRESSES, press_named
from semcache.engine.press.protocol import Asks, Observed, Press

__all__ = ["PRESSES", "Asks", "Observed", "Press", "press_named"]
