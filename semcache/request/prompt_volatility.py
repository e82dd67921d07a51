"""The volatility of a prompt's answer: a small softmax regression on its cues and, if there is one, its embedding.

Knows no policy and no time. The weights are made by `semcache.train.volatility`. Invariant: pure but for `shipped`,
which reads the weights once; without a vector, or with one of another embedder, the cues alone decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.request import volatility_cues
from semcache.request.eligibility import is_live
from semcache.request.kinds.live import is_of_a_program
from semcache.types import Volatility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Vector

    Array = NDArray[np.float64]

_DAILY = 0.3  # P(fast) from which a prompt that is like those of the moment may be one
KINDS = (Volatility.NEVER, Volatility.SLOW, Volatility.FAST)
_FILE = Path(__file__).with_name("volatility.json")
_RELATIVE = re.compile(
    r"\bhow (?:many (?:days|weeks|months|years|hours|minutes)|long) (?:is it |are (?:there |left )?|has it been )?"
    r"(?:(?:until|till)\b(?! (?:an?|the|your) (?:\w+ ){0,2}?(?:payment|transfer|deposit|che(?:que|ck)|refund|parcel"
    r"|package|delivery|order|letter|results?|card|visa|passport|invoice|claim|cold|wound)\b)"
    r"|(?:to go|left|ago|since)\b)"
    r"|\b(?:what|which) (?:day|date|month|year|season|century|time) (?:is it|are we in|do we have|was yesterday)\b"
    r"|\b(?:now|today|tonight|tomorrow|yesterday)'s\b|\bas of (?:now|today|this (?:week|month|year))\b"
    r"|\b(?:so far|to date) this (?:\w+ )?(?:year|season|month|week)\b"
    r"|\b(?:live|real-time|intraday|spot) (?:scores?|prices?|quotes?|rates?|updates?|results?)\b"
)


def is_relative(text: str) -> bool:
    """Return True if the answer depends on the day, or the minute, of asking, and says so."""
    folded = volatility_cues.fold(text)
    return (_RELATIVE.search(folded) is not None and not is_of_a_program(folded)) or is_live(text)


def may_change_daily(text: str) -> bool:
    """Return True if the wording allows that the answer is another one tomorrow; about 0.1 ms."""
    return is_live(text) or float(VolatilityModel.shipped().probabilities(text)[2]) >= _DAILY


class VolatilityModel:
    """Weights of two regressions: of the cues alone, and of cues and embedding."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        """`weights` as the recipe writes them. Raises ValueError for another shape, or for cues of another version."""
        self.embedder_id = str(weights["embedder"])
        self._lexical = np.asarray(weights["lexical"], np.float64)
        self._cues = np.asarray(weights["cues"], np.float64)
        self._embedding = np.asarray(weights["embedding"], np.float64)
        wide = (len(KINDS), 1 + len(volatility_cues.NAMES))
        if tuple(weights["names"]) != volatility_cues.NAMES or self._lexical.shape != wide or self._cues.shape != wide:
            raise ValueError("these weights belong to other cues: run python -m semcache.train.volatility")
        if self._embedding.ndim != 2 or len(self._embedding) != len(KINDS):
            raise ValueError(f"these weights have {len(self._embedding)} rows for {len(KINDS)} kinds")

    @staticmethod
    def shipped() -> VolatilityModel:
        """The model of the package; read once."""
        return _shipped()

    def probabilities(self, text: str, vector: Vector | None = None) -> Array:
        """P(never), P(slow), P(fast); they sum to 1. `vector` comes from the embedder `embedder_id`."""
        found = np.array([1.0, *volatility_cues.of(text)])
        if vector is None or vector.shape != self._embedding.shape[1:]:
            logits = self._lexical @ found
        else:
            logits = self._cues @ found + self._embedding @ vector
        powers = np.exp(logits - logits.max())
        return np.asarray(powers / powers.sum())

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:
        """The kind at which half of the probability is reached, counting from the fastest: NEVER, SLOW or FAST."""
        never, _, fast = self.probabilities(text, vector)
        if fast >= 0.5:
            return Volatility.FAST
        return Volatility.NEVER if never > 0.5 else Volatility.SLOW


@cache
def _shipped() -> VolatilityModel:
    return VolatilityModel(json.loads(_FILE.read_text(encoding="utf-8")))
