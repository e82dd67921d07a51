"""Remedies for values of settings that a person writes in another way than they are read.

Pure. Invariant: a remedy names what to write; where nobody knows, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from semcache.runtime.durations import UNITS

_SPAN = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)")
_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmg])\w*", re.IGNORECASE)
_OF_A_PACK = frozenset(("name", "description", "defaults", "categories", "tenants", "tools", "models", "near"))


def remedy_of(kind: str, value: Any, *, is_size: bool) -> str:
    """The end of a message: what to write in place of a value that is not of the `kind` (of pydantic's errors)."""
    if kind == "string_type":
        if isinstance(value, bool):
            return "; YAML reads on, off, yes and no as true and false: put the value in quotes"
        return "; put the value in quotes" if isinstance(value, (int, float)) else ""
    if not isinstance(value, str) or kind not in ("int_parsing", "float_parsing", "int_from_float"):
        return ""
    if is_size:
        found = _SIZE.fullmatch(value.strip())
        return f"; write it as {found[1]} {found[2].upper()}iB" if found else "; write a size such as 20 MiB"
    if found := _SPAN.fullmatch(value.strip()):
        seconds = 0.001 if found[2] == "ms" else UNITS[found[2][0]]
        return f"; write the seconds alone: {float(found[1]) * seconds:g}"
    if found := _SHARE.fullmatch(value.strip()):
        return f"; write a share: {float(found[1]) / 100:g}"
    return ""


def instead_of_section(name: str, fields: Collection[str]) -> str:
    """The end of a message: what to write where a section of settings has a value and no settings."""
    example = "url" if "url" in fields else "port" if "port" in fields else next(iter(fields), "name")
    return f"{name} holds settings, one a line and indented below it, such as `{example}:`"


def is_of_pack(key: str) -> bool:
    """Return True for a key that policy packs have at their top."""
    return key in _OF_A_PACK
