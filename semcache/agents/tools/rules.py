"""The effects of tools, as a policy pack or the tool's own declaration states them.

Knows packs and tool schemas, no results. Invariant: a tool that neither declares is unknown, and a declaration can only
make a tool as reusable as it says itself to be: "reads" is never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from semcache.agents.run import Json
from semcache.config.agent_packs import ToolSpec
from semcache.errors import ConfigError
from semcache.runtime.durations import duration

HINTED_TTL = 60.0  # seconds that a result is kept of a tool that says that it reads, but not for how long it holds
_FIELD = re.compile(r"\{([^{}]*)\}")


class Effect(StrEnum):
    """The effect of calling a tool."""

    READS = "reads"  # nothing: the same call gives the same result until what it reads changes
    STATE = "state"  # it moves an environment of the run's own: the same calls in the same order give the same results
    WRITES = "writes"  # it changes what others see: never answered from here


@dataclass(frozen=True, slots=True)
class ToolRule:
    """The rule of a tool. `ttl` is in seconds; `resources` name arguments in braces, by dots where nested."""

    effect: Effect
    ttl: float = HINTED_TTL
    resources: tuple[str, ...] = ()
    private: bool = False

    def touched(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The resources of a call; "*" stands for an argument that is not there, and with that for all of a kind."""
        return tuple(_FIELD.sub(lambda name: _argument(arguments, name[1]), one) for one in self.resources)


UNKNOWN = ToolRule(Effect.WRITES)


@dataclass(frozen=True, slots=True)
class ToolRules:
    """Rules by name or shell-style pattern of a tool; a name counts before patterns, these in their order."""

    named: Mapping[str, ToolRule] = field(default_factory=dict)

    @classmethod
    def read(cls, specs: Mapping[str, Any]) -> ToolRules:
        """From a pack's `tools`: `ToolSpec`s, or mappings with their fields. Raises ConfigError naming the tool."""
        found: dict[str, ToolRule] = {}
        for name, given in specs.items():
            try:
                spec = msgspec.convert(msgspec.to_builtins(given), ToolSpec)
            except msgspec.ValidationError as error:
                raise ConfigError(f"tools.{name}: {error}; a tool has effect, ttl, resources and share") from error
            found[name] = ToolRule(Effect(spec.effect), duration(spec.ttl), tuple(spec.resources), spec.share == "user")
        return cls(found)

    def of(self, tool: str, declaration: Mapping[str, Any] | None = None) -> ToolRule | None:
        """The rule of a tool, None for an unknown one.

        `declaration` is its entry in a request's tools, or the tool as MCP lists it; the pack's word counts more.
        """
        rule = self.named.get(tool)
        if rule is None:
            rule = next((one for pattern, one in self.named.items() if fnmatchcase(tool, pattern)), None)
        return rule or (annotated(declaration) if declaration is not None else None)


def annotated(declaration: Mapping[str, Any]) -> ToolRule | None:
    """The rule that a tool's own declaration states, None when it states none.

    `x-semcache` has the fields of `ToolSpec`, or `read_only: true`. Of MCP's annotations (specification of 2025-06-18,
    "ToolAnnotations") `readOnlyHint` makes a tool one that reads, any other one that writes: what is only idempotent
    may be called twice, which does not say that it may be left out.
    """
    inner = declaration.get("function")
    for one in (declaration, inner):
        if not isinstance(one, Mapping):
            continue
        own, hints = one.get("x-semcache"), one.get("annotations")
        if isinstance(own, Mapping):
            return _own(own)
        if isinstance(hints, Mapping) and any(str(name).endswith("Hint") for name in hints):
            reads = hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True
            return ToolRule(Effect.READS) if reads else UNKNOWN
    return None


def declarations(tools: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Entries of a request's tools by name; what has none is left out."""
    found: dict[str, Mapping[str, Any]] = {}
    for one in tools:
        inner = one.get("function", one) if isinstance(one, Mapping) else None
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if isinstance(name, str):
            found[name] = one
    return found


def _own(own: Mapping[str, Any]) -> ToolRule | None:
    """A client's own word: what cannot be read of it says nothing."""
    fields = {key: value for key, value in own.items() if key != "read_only"}
    if own.get("read_only") is True:
        fields.setdefault("effect", "reads")
    try:
        return ToolRules.read({"tool": fields}).named["tool"]
    except ConfigError:
        return None


def _argument(arguments: Mapping[str, Any], path: str) -> str:
    value: Json = arguments
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else "*"
