"""The sampling that a model's authors advise, from its `generation_config.json`.

Holds for requests that name none of their own; what the file leaves open is OpenAI's default, temperature 1 and no
truncation. `do_sample` is not read: a request that wants the likeliest tokens says temperature 0. Invariant: defaults
that exist are in the range of the request's fields.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from semcache.errors import ConfigError

_RANGES = {
    "temperature": (0.0, 2.0), "top_p": (0.0, 1.0), "top_k": (0, 2**31), "min_p": (0.0, 1.0),
    "repetition_penalty": (0.01, 10.0),  # less would divide logits to infinity
}  # fmt: skip
_POSITIVE = frozenset(["top_p"])


@dataclass(frozen=True, slots=True)
class GenerationDefaults:
    """The sampling of requests that name none."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    @property
    def advised(self) -> dict[str, float]:
        """The settings that differ from OpenAI's."""
        plain = asdict(OPENAI)
        return {name: value for name, value in asdict(self).items() if value != plain[name]}


OPENAI = GenerationDefaults()


def generation_defaults(config: Any, model: str) -> GenerationDefaults:
    """Read transformers' generation config of a model, None for none. Raises ConfigError for a value out of range."""
    found: dict[str, Any] = {}
    for one in fields(GenerationDefaults):
        value = getattr(config, one.name, None)
        if value is None:
            continue
        low, high = _RANGES[one.name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not low <= value <= high or (value == 0 and one.name in _POSITIVE):
            raise ConfigError(
                f"model {model!r}: its generation_config.json says {one.name} {value!r}, which must be a number from "
                f"{low:g} to {high:g}: mend the file"
            )
        if one.name == "top_k":
            if value != int(value):
                raise ConfigError(
                    f"model {model!r}: its generation_config.json says top_k {value!r}, which must be a whole number: "
                    "mend the file"
                )
            value = int(value)
        found[one.name] = value
    return GenerationDefaults(**found)
