"""Validation of a call's arguments against the tool's JSON schema.

Knows JSON Schema by the library of that name, and fetches nothing: a `$ref` that leaves the schema is an error. A
schema comes from a client, and a short one may take years to apply, by references that double at every step as by a
pattern. So every step is counted, and patterns are matched by `schema_patterns.py`. Invariant: what cannot be checked,
or not in so many steps, does not pass.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any

import msgspec

from semcache.agents.run import DeclaredTool, Json
from semcache.agents.schema_patterns import compiled, size_of
from semcache.runtime.scoped_memo import scoped_cache

_log = logging.getLogger(__name__)
_sorted = msgspec.json.Encoder(order="sorted")
_FEW = 1_000  # steps that are made at once; whatever takes more is done in a thread
_MOST = 20_000
_left: ContextVar[list[int]] = ContextVar("semcache_schema_steps")

_Keyword = Callable[[Any, Any, Any, Any], Iterable[Any] | None]


class _TooManySteps(Exception):
    """Raised where the steps of a validation are used up."""


async def valid(tool: DeclaredTool, arguments: Json) -> bool:
    """Return True if these arguments are accepted; False also for a schema that is none, or is too dear to apply."""
    try:
        try:
            return _accepts(tool.schema, arguments, _FEW)
        except _TooManySteps:
            return await asyncio.to_thread(_accepts, tool.schema, arguments, _MOST)
    except Exception as error:
        # A schema comes from a client: whatever is wrong with it, the planner can be asked.
        _log.info("the schema of the tool %r cannot be used: %r", tool.name, error)
        return False


def choices(tool: DeclaredTool, argument: str) -> tuple[Any, ...]:
    """The values that the schema lists for an argument at its top level, () when it lists none."""
    properties = tool.schema.get("properties") if isinstance(tool.schema, dict) else None
    one = properties.get(argument) if isinstance(properties, dict) else None
    listed = one.get("enum") if isinstance(one, dict) else None
    return tuple(listed) if isinstance(listed, list) else ()


def _accepts(schema: Json, arguments: Json, steps: int) -> bool:
    """Return True if a schema accepts arguments. Raises _TooManySteps."""
    encoded = _sorted.encode(schema)
    if len(encoded) > _MOST * 8:
        raise ValueError(f"it has {len(encoded)} bytes")
    token = _left.set([steps])
    try:
        return bool(_validator(encoded).is_valid(arguments))
    finally:
        _left.reset(token)


@scoped_cache(maxsize=1024, usual=4096)
def _validator(schema: bytes) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    read = msgspec.json.decode(schema)
    if _has_named_patterns(read):
        raise ValueError("it has patternProperties")
    kind = _counting(validator_for(read, default=Draft202012Validator))
    error = next(kind(kind.META_SCHEMA).iter_errors(read), None)
    if error is not None:
        raise error
    return kind(read, registry=Registry())


@cache
def _counting(kind: Any) -> Any:
    """The validator of a draft, such that its steps are counted and no pattern is given to `re`."""
    from jsonschema.validators import extend

    keywords = {**kind.VALIDATORS, "pattern": _pattern}
    counting = extend(kind, {name: _counted(name, check) for name, check in keywords.items()})
    # The library takes the validator of the draft that a part of the schema names, which counts nothing.
    counting.evolve = _evolved
    return counting


def _counted(name: str, check: _Keyword) -> _Keyword:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any] | None:
        _spend(1)
        if isinstance(value, (list, dict)):
            _spend(len(value) // 8)
        if name in ("enum", "const") and isinstance(instance, (list, dict)):
            _spend(len(_sorted.encode(instance)) // 8 * (len(value) if name == "enum" else 1))
        elif name == "uniqueItems" and isinstance(instance, list):
            _spend(len(instance) if all(isinstance(one, str) for one in instance) else len(instance) ** 2)
        return check(validator, value, instance, schema)

    return checked


def _pattern(_: Any, pattern: Any, instance: Any, __: Any) -> Iterator[Any]:
    """The keyword `pattern`."""
    if not isinstance(instance, str):
        return
    from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]

    # Before it is made: that takes time, too.
    _spend(size_of(pattern) // 8)
    found = compiled(pattern)
    _spend((found.size + 1) * (len(instance) + 1) // 1_000)
    if not found.is_in(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _evolved(self: Any, **changes: Any) -> Any:
    """A validator as this one, but for what changes."""
    kept = {"schema": self.schema, "registry": self._registry, "_resolver": self._resolver}
    return type(self)(**{**kept, **changes})


def _spend(steps: int) -> None:
    left = _left.get()
    left[0] -= steps
    if left[0] < 0:
        raise _TooManySteps("applying it takes too many steps")


def _has_named_patterns(schema: Any) -> bool:
    """Return True if names of members are to match patterns: the library gives these to `re`."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if isinstance(one.get("patternProperties"), dict):
                return True
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False
