"""Mistakes in YAML files: their line and key, and the nearest valid name.

Knows YAML nodes, schemas and msgspec's messages, nothing of what a file is for. Pure. Invariant: the line is that of
the deepest key of a mistake that the file has.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec
import yaml

_BEYOND = re.compile(r"Expected `(?:int|float)` ([<>]=?) (\S+)")
_TEXT_FROM = re.compile(r"Expected `str[^`]*`, got `(bool|int|float|date|datetime)`")
_OTHER_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float", "null", "timestamp"))
_UNITS = "(s|m|h|d|w)"  # in the pattern of a duration, the only one that packs have


def explain(
    path: Path,
    node: yaml.Node | None,
    message: str,
    whole: type[msgspec.Struct],
    kinds: Mapping[str, type[msgspec.Struct]],
) -> str:
    """Turn msgspec's "… - at `$.categories[...].x`" into file, line, dotted key and a remedy.

    `node` is the file as YAML has it, `whole` its schema, `kinds` those of what stands under its keys.
    """
    text, _, where = message.partition(" - at `")
    is_key = where.startswith("key` in `")
    where = where.removeprefix("key` in `")
    steps = [step for step in re.split(r"[.\[\]]+", where.rstrip("`").removeprefix("$").replace("[...]", ".*")) if step]
    unknown = re.search(r"unknown field `([^`]+)`", text)
    keys = _resolve(node, steps, unknown[1] if unknown else None, kinds)
    dotted = ".".join(keys) or "the file"
    hint = nearest(unknown[1], _fields(keys[:-1], whole, kinds)) if unknown else ""
    found = _descend(node, keys)
    kind, value = _type(keys, whole), _plain(found)
    if is_key and isinstance(value, dict):
        kind, value = (_mapping(kind) or (kind,))[0], next((key for key in value if repr(key) in text), None)
    said = _misread(text.strip(), found) or _of_value(text.strip(), value, kind)
    return f"{path}:{line(node, keys)}: {dotted}: {said}{hint}"


def repeated(node: yaml.Node | None) -> yaml.ScalarNode | None:
    """The first key that occurs twice in one mapping, of which only the last would count; None if there is none."""
    for keys in _keys_of_mappings(node):
        names: set[str] = set()
        for key in keys:
            if isinstance(key, yaml.ScalarNode) and key.value in names:
                return key
            names.add(str(key.value))
    return None


def misread_key(node: yaml.Node | None) -> yaml.ScalarNode | None:
    """The first key without quotes that YAML reads as something else than a text; None if there is none."""
    for keys in _keys_of_mappings(node):
        for key in keys:
            if isinstance(key, yaml.ScalarNode) and key.tag in _OTHER_TAGS:
                return key
    return None


def _keys_of_mappings(node: yaml.Node | None) -> Iterator[list[yaml.Node]]:
    """The keys of each mapping, in the order of the file."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner is None or id(inner) in seen:
            continue
        seen.add(id(inner))
        if isinstance(inner, yaml.SequenceNode):
            waiting += inner.value[::-1]
        elif isinstance(inner, yaml.MappingNode):
            yield [key for key, _ in inner.value]
            waiting += [value for _, value in inner.value][::-1]


def _misread(text: str, node: yaml.Node | None) -> str | None:
    """Say that a text lacks its quotes; None where something else is wrong."""
    kind = _TEXT_FROM.match(text)
    if kind is None or not isinstance(node, yaml.ScalarNode):
        return None
    read = {"bool": "true or false", "int": "a number", "float": "a number"}.get(kind[1], "a date")
    return f"YAML reads {node.value} as {read}, and a text is expected: write '{node.value}' in quotes"


def _of_value(text: str, value: Any, kind: Any) -> str:
    """Say in a person's words what a value may be, where msgspec says it in those of a schema."""
    if text.startswith("Expected `str` matching regex") and _UNITS in text:
        return f"{value!r} is no duration: write a number and one of s, m, h, d, w, such as 12h"
    if text.startswith("Expected `bool") and value is not None:
        return f"{value!r} is neither true nor false"
    if beyond := _BEYOND.fullmatch(text):
        return f"{value!r} is out of range: give a number {beyond[1]} {beyond[2]}"
    if text.startswith("Invalid enum value") and isinstance(value, str):
        known = _words(kind)
        return f"{value!r} is none of {', '.join(known)}{nearest(value, known)}" if known else text
    return text


def _words(kind: Any) -> list[str]:
    """The words that a type names."""
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if isinstance(one, str)]
    return [word for inner in get_args(kind) for word in _words(inner)]


def _type(keys: list[str], whole: type[msgspec.Struct]) -> Any:
    """The type of what stands under these keys."""
    kind: Any = whole
    for key in keys:
        if (mapping := _mapping(kind)) is not None:
            kind = mapping[1]
            continue
        structs = [one for one in (kind, *get_args(kind)) if isinstance(one, type) and issubclass(one, msgspec.Struct)]
        fields = [one.type for struct in structs for one in msgspec.structs.fields(struct) if one.name == key]
        kind = fields[0] if fields else kind
    return kind


def _mapping(kind: Any) -> tuple[Any, Any] | None:
    """The types of the keys and values of a type that is, or may be, a dict; None for another."""
    return next((get_args(one) for one in (kind, *get_args(kind)) if get_origin(one) is dict), None)


def _resolve(
    node: yaml.Node | None, steps: list[str], unknown: str | None, kinds: Mapping[str, type[msgspec.Struct]]
) -> list[str]:
    """Name the keys behind msgspec's path, whose mapping keys read `*`, by looking for the first that fails."""
    keys: list[str] = []
    for position, step in enumerate(steps):
        if step != "*":
            keys.append(step)
            continue
        parent = _descend(node, keys)
        rest = steps[position + 1 :]
        for key, _ in getattr(parent, "value", []):
            trial = [*keys, key.value]
            try:
                msgspec.convert(_plain(_descend(node, trial)), kinds[keys[0]])
            except msgspec.ValidationError:
                keys = trial
                break
        else:
            return keys + rest
    return [*keys, unknown] if unknown else keys


def _plain(node: yaml.Node | None) -> Any:
    """The value of a node, None for one that has none, such as a mapping that holds itself."""
    try:
        return yaml.SafeLoader("").construct_object(node, deep=True) if node is not None else None
    except yaml.YAMLError:
        return None


def _descend(node: yaml.Node | None, keys: list[str]) -> yaml.Node | None:
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            node = next((value for name, value in node.value if str(name.value) == key), None)
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
        else:
            return None
    return node


def line(node: yaml.Node | None, keys: list[str]) -> int:
    """The 1-based line of the deepest of `keys` that exists in the file."""
    found = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((name, value) for name, value in node.value if str(name.value) == key), None)
            if pair is None:
                break
            found, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            found = node.start_mark.line + 1
        else:
            break
    return found


def _fields(keys: list[str], whole: type[msgspec.Struct], kinds: Mapping[str, type[msgspec.Struct]]) -> list[str]:
    """The keys that a mapping may have."""
    kind: Any = kinds[keys[0]] if keys else whole
    for key in keys[1:]:
        inner = next((one.type for one in msgspec.structs.fields(kind) if one.name == key), None)
        kind = next((one for one in get_args(inner) if isinstance(one, type) and issubclass(one, msgspec.Struct)), kind)
    return list(kind.__struct_fields__)


def nearest(word: str, known: Sequence[str]) -> str:
    """The known word that is most like this one, as the end of a message; "" if there is none."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
