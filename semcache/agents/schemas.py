"""Validation of a call's arguments against the tool's JSON schema.

Knows JSON Schema by the library of that name, and fetches nothing: a `$ref` that leaves the schema is an error.
Invariant: what cannot be checked does not pass.
"""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from semcache.agents.run import DeclaredTool, Json
from semcache.runtime.scoped_memo import scoped_cache

_log = logging.getLogger(__name__)
_sorted = msgspec.json.Encoder(order="sorted")


def valid(tool: DeclaredTool, arguments: Json) -> bool:
    """Return True if these arguments are accepted; False also for a schema that is none."""
    try:
        return bool(_validator(_sorted.encode(tool.schema)).is_valid(arguments))
    except Exception as error:
        # A schema comes from a client: whatever is wrong with it, the planner can be asked.
        _log.info("the schema of the tool %s cannot be used: %r", tool.name, error)
        return False


def choices(tool: DeclaredTool, argument: str) -> tuple[Any, ...]:
    """The values that the schema lists for an argument at its top level, () when it lists none."""
    properties = tool.schema.get("properties") if isinstance(tool.schema, dict) else None
    one = properties.get(argument) if isinstance(properties, dict) else None
    listed = one.get("enum") if isinstance(one, dict) else None
    return tuple(listed) if isinstance(listed, list) else ()


@scoped_cache(maxsize=1024, usual=4096)
def _validator(schema: bytes) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    read = msgspec.json.decode(schema)
    kind = validator_for(read, default=Draft202012Validator)
    kind.check_schema(read)
    return kind(read, registry=Registry())
