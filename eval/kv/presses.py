"""The presses compared, by name: those of the engine, and three that keep layouts or weights that it does not store.

Importing it imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable

from eval.kv.caote import Caote
from eval.kv.fp8 import Fp8
from eval.kv.sentencekv import SentenceKV
from semcache.engine.press.press_protocol import Press
from semcache.engine.press.presses import PRESSES as SERVED

HERE: dict[str, Callable[[], Press]] = {"caote": Caote, "fp8": Fp8, "sentencekv": SentenceKV}
_ORDER = "streaming h2o snapkv tova pyramidkv keydiff lagkv kvzip caote d2o kivi fp8 sentencekv"
PRESSES: dict[str, Callable[[], Press]] = {name: (SERVED | HERE)[name] for name in _ORDER.split()}
