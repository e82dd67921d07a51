"""The shape of a JSON text before it is decoded: its values, containers and members, counted in the bytes.

Knows JSON's punctuation alone. Invariant: counting takes one pass in pieces, and no memory beyond one piece; of a valid
text the counts are exact.
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.dialects.controls import refusal

MOST_CONTAINERS = 50_000
MOST_VALUES = 400_000
_PIECE = 256 << 10


class JsonShape(NamedTuple):
    """Counts of a JSON text: arrays and objects, what commas separate, and members of objects."""

    containers: int
    commas: int
    members: int


def shape(raw: bytes) -> JsonShape:
    """Count what stands outside the strings of a JSON text.

    Raises RequestRejected(400) for a text of more values than any request needs, at the first piece that is too much.
    """
    containers = commas = members = 0
    inside, start = False, 0
    while start < len(raw):
        end = start + _PIECE
        piece = raw[start:end] if start or end < len(raw) else raw
        if end < len(raw) and (len(piece) - len(piece.rstrip(b"\\"))) % 2:
            end += 1  # never between a backslash and what it escapes
            piece = raw[start:end]
        start = end
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = piece.split(b'"')
        outside = b"".join(parts[inside::2])
        inside ^= len(parts) % 2 == 0
        containers += outside.count(b"{") + outside.count(b"[")
        commas += outside.count(b",")
        members += outside.count(b":")
        if containers > MOST_CONTAINERS:
            raise refusal(f"the body has more than {MOST_CONTAINERS} arrays and objects", None)
        if commas > MOST_VALUES:
            raise refusal(f"the body has more than {MOST_VALUES} values", None)
    return JsonShape(containers, commas, members)


def members_of(body: object) -> int:
    """Return how many members the objects of a decoded body have in all."""
    count, left = 0, [body]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            count += len(node)
            left.extend([child for child in node.values() if isinstance(child, dict | list)])
        elif isinstance(node, list):
            left.extend([child for child in node if isinstance(child, dict | list)])
    return count
