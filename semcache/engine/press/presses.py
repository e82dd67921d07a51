"""Presses by name.

Knows every press, none of their methods. Importing it imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable

from semcache.engine.press.d2o import D2O
from semcache.engine.press.h2o import H2O
from semcache.engine.press.keydiff import KeyDiff
from semcache.engine.press.kivi import Kivi
from semcache.engine.press.kvzip import KVzip
from semcache.engine.press.lagkv import LagKV
from semcache.engine.press.press_protocol import Press
from semcache.engine.press.pyramidkv import PyramidKV
from semcache.engine.press.snapkv import SnapKV
from semcache.engine.press.streaming import StreamingLLM
from semcache.engine.press.tova import Tova
from semcache.errors import ConfigError

_ALL: tuple[Callable[[], Press], ...] = (
    StreamingLLM,
    H2O,
    SnapKV,
    Tova,
    PyramidKV,
    KeyDiff,
    LagKV,
    KVzip,
    D2O,
    Kivi,
)
PRESSES: dict[str, Callable[[], Press]] = {make().name: make for make in _ALL}


def press_named(name: str) -> Press:
    """A press with its default settings. Raises ConfigError for an unknown name."""
    if name not in PRESSES:
        raise ConfigError(f"there is no press {name!r}: choose one of {', '.join(PRESSES)}")
    return PRESSES[name]()
