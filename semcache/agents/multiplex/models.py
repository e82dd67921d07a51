"""The models that a request may go to, with their stated prices, speed and quality.

Knows prices and rates, no requests. Invariant: names differ, and one of the models is the reference that the others are
measured by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from semcache.errors import ConfigError
from semcache.types import Usage


@dataclass(frozen=True, slots=True)
class PricedModel:
    """One backend and model.

    `prompt` and `completion` are US dollars per million tokens, `first` seconds until the first token, `speed` tokens a
    second after that. `quality` in [0, 1] is the share of its answers that are expected to be good before anything was
    learned.
    """

    name: str
    prompt: float
    completion: float
    quality: float = 0.5
    first: float = 0.3
    speed: float = 50.0

    def cost(self, usage: Usage) -> float:
        """US dollars for these tokens."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6

    def seconds(self, completion_tokens: float) -> float:
        """The seconds that an answer of so many tokens takes."""
        return self.first + completion_tokens / self.speed


@dataclass(frozen=True, slots=True)
class PricedModels:
    """The models to choose from; `reference` names the one whose quality is the measure. Raises ConfigError."""

    all: tuple[PricedModel, ...]
    reference: str

    def __post_init__(self) -> None:
        names = [one.name for one in self.all]
        if len(set(names)) != len(names):
            raise ConfigError(f"models: {', '.join(names)} are not all different; give every model once")
        if self.reference not in names:
            raise ConfigError(f"models: {self.reference!r} is none of {', '.join(names)}; name one as the reference")
        for one in self.all:
            figures = (one.prompt, one.completion, one.first, 1.0 / one.speed if one.speed else math.inf)
            if not all(math.isfinite(number) and number >= 0.0 for number in figures) or not 0.0 <= one.quality <= 1.0:
                raise ConfigError(f"models: {one} needs prices and times of at least 0, and a quality in [0, 1]")

    @property
    def best(self) -> PricedModel:
        """The reference."""
        return self.of(self.reference)

    @property
    def others(self) -> tuple[PricedModel, ...]:
        """The models that may stand in for the reference, in their order."""
        return tuple(one for one in self.all if one.name != self.reference)

    def of(self, name: str) -> PricedModel:
        """The model of that name. Raises KeyError."""
        found = next((one for one in self.all if one.name == name), None)
        if found is None:
            raise KeyError(name)
        return found


def tokens_of(texts: Sequence[str]) -> int:
    """About how many tokens texts have: a quarter of their characters, as English has it."""
    return sum(len(text) + 3 for text in texts) // 4
