"""Fields that a model's provider wants back beside a call, as the model's own answers show them.

A gateway may call Gemini or DeepSeek by any name. Pure. Invariant: of a model nothing is known but what its answers
had, and of no more than `MODELS` models anything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

MODELS = 256


class CallField(StrEnum):
    """A field beside a call."""

    SIGNATURE = "signature"  # of Gemini, in `extra_content`
    THOUGHT = "thought"  # of DeepSeek and Kimi, in `reasoning_content`


class CallHabits:
    """The fields that calls of each model had, by its name in requests."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, frozenset[CallField]] = OrderedDict()

    def note(self, model: str, message: Mapping[str, Any]) -> None:
        """Take notice of a model's answer, a chat message that may have calls."""
        had = _fields(message)
        if had and not had <= self.of(model):
            self._known[model] = self.of(model) | had
            self._known.move_to_end(model)
            if len(self._known) > MODELS:
                self._known.popitem(last=False)

    def of(self, model: str) -> frozenset[CallField]:
        """The fields that this model's calls have had."""
        return self._known.get(model, frozenset())


def _fields(message: Mapping[str, Any]) -> frozenset[CallField]:
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return frozenset()
    found: set[CallField] = set()
    if message.get("reasoning_content"):
        found.add(CallField.THOUGHT)
    for one in calls:
        extra = one.get("extra_content") if isinstance(one, Mapping) else None
        google = extra.get("google") if isinstance(extra, Mapping) else None
        if isinstance(google, Mapping) and google.get("thought_signature"):
            found.add(CallField.SIGNATURE)
    return frozenset(found)
