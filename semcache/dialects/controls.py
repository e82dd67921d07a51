"""Cache controls in the body's `cache` object, and the checks that they share with the headers.

Invariant: a control that cannot be understood is refused, never ignored: a caller who asked for less caching must not
get more.
"""

from __future__ import annotations

import difflib
import math
from typing import Any

from semcache.errors import RequestRejected
from semcache.types import Controls

LONGEST_NAME, MOST_TAGS = 1024, 256
_ALIASES = {"s-maxage": "max-age", "s-max-age": "max-age"}
_KEYS = (
    "no-cache",
    "no-store",
    "only-if-cached",
    "max-age",
    "ttl",
    "min-score",
    "max-error",
    "category",
    "namespace",
    "tags",
    "use-cache",
)


def from_body(wishes: dict[str, Any]) -> Controls:
    """Read the `cache` object; `-` and `_` are the same. Raises RequestRejected naming the key."""
    found: dict[str, Any] = {}
    for name, value in wishes.items():
        key = name.lower().replace("_", "-")
        key = _ALIASES.get(key, key)
        where = f"cache.{name}"
        if value is None:
            continue
        match key:
            case "no-cache" | "no-store" | "only-if-cached":
                found[key.replace("-", "_")] = _flag(value, where)
            case "use-cache":
                if not _flag(value, where):
                    found["no_cache"] = found["no_store"] = True
            case "ttl" | "max-age":
                found[key.replace("-", "_")] = seconds(_number(value, where), where)
            case "min-score":
                found["min_score"] = score(_number(value, where), where)
            case "max-error":
                found["max_error"] = rate(_number(value, where), where)
            case "category" | "namespace":
                if not isinstance(value, str):
                    raise refusal(f"{where} must be a string, not {kind(value)}", where)
                found[key] = value
            case "tags":
                if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
                    raise refusal(f"{where} must be a list of strings", where)
                found["tags"] = tuple(dict.fromkeys(value))
            case _:
                close = difflib.get_close_matches(key, _KEYS, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(_KEYS)}"
                raise refusal(f"unknown key {name!r} in the cache object{hint}", where)
    return check_names(Controls(**found))


def check_names(controls: Controls) -> Controls:
    """Return these controls. Raises RequestRejected for names that are too long, or too many, to be kept."""
    for name in ("category", "namespace"):
        if len(getattr(controls, name) or "") > LONGEST_NAME:
            raise refusal(f"{name} must have at most {LONGEST_NAME} characters", name)
    if len(controls.tags) > MOST_TAGS or any(len(tag) > LONGEST_NAME for tag in controls.tags):
        raise refusal(f"there may be {MOST_TAGS} tags, of at most {LONGEST_NAME} characters each", "tags")
    return controls


def seconds(value: float, where: str) -> float:
    """A duration that is finite and not negative."""
    if not math.isfinite(value) or value < 0:
        raise refusal(f"{where} must be a number of seconds that is not negative, not {value!r}", where)
    return value


def score(value: float, where: str) -> float:
    """A cosine similarity."""
    if not -1.0 <= value <= 1.0:
        raise refusal(f"{where} must be a cosine similarity between -1 and 1, not {value!r}", where)
    return value


def rate(value: float, where: str) -> float:
    """An error rate in (0, 1)."""
    if not 0.0 < value < 1.0:
        raise refusal(f"{where} must be an error rate between 0 and 1, both excluded, not {value!r}", where)
    return value


def kind(value: object) -> str:
    """The JSON name of a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def refusal(message: str, param: str | None) -> RequestRejected:
    """A 400 that names what is wrong."""
    return RequestRejected(400, message, code="invalid_request_error", param=param)


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise refusal(f"{where} must be true or false, not {kind(value)}", where)
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(f"{where} must be a number, not {kind(value)}", where)
    try:
        return float(value)
    except OverflowError as error:
        raise refusal(f"{where} is too large a number", where) from error
