"""Tables, words and shares of the generated documentation and pages.

Knows Markdown, JSON Schema and intervals. Pure, but for `first_line`, which reads a source file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from semcache.types.evidence import wilson


def share(count: int, of: int) -> str:
    """A count, and its share with its 95% interval by Wilson."""
    known = wilson(count, of)
    return f"{count} of {of}: {known.estimate:.1%} ({known.low:.1%}–{known.high:.1%})"


def of_target(wrong: float, hits: float, target: float) -> str:
    """The error of these hits divided by its target, with its 95% interval by Wilson; "-" where nothing was served."""
    if not hits:
        return "-"
    known = wilson(wrong, hits)
    return f"{known.estimate / target:.2f} ({known.low / target:.2f}–{known.high / target:.2f})"


def target_note(target: float) -> str:
    """The sentence that stands on a page of a suite beside its errors as multiples of the target."""
    return (
        f"realised / target: wrong hits of all hits, divided by the target of {target:g} per hit; it is that of this "
        "mixture, in which traps are far more frequent than in most traffic"
    )


def values(prop: dict[str, Any]) -> str:
    """The values that a JSON Schema property accepts, in words."""
    for part in prop.get("anyOf", [prop]):
        if part.get("type") == "null":
            continue
        if "enum" in part or "const" in part:
            return codes(part.get("enum") or [part["const"]])
        if part.get("type") == "array":
            return f"list of {values(part['items'])}"
        if "$ref" in part:
            return "a mapping"
        if "pattern" in part:
            return str(part.get("description", "text"))
        if part.get("format") == "password":
            return "text, masked"
        if part.get("type") == "boolean":
            return "`true`, `false`"
        if part.get("type") in ("number", "integer"):
            return ("whole number" if part["type"] == "integer" else "number") + _range(part)
        return {"object": "a mapping"}.get(str(part.get("type")), "text")
    return ""


def _range(part: dict[str, Any]) -> str:
    low, high = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum", part.get("exclusiveMaximum"))
    if low is None:
        return ""
    if high is None:
        return f" from {low:g}" if "minimum" in part else f" above {low:g}"
    return f", {low:g} to {high:g}" + (", both excluded" if "exclusiveMinimum" in part else "")


def size(value: int) -> str:
    """A number of bytes, of which whole MiB are shown."""
    return f"{value // (1 << 20)} MiB"


def duration(seconds: float) -> str:
    """Seconds in the largest unit that divides them."""
    unit, size = next((pair for pair in (("d", 86400), ("h", 3600), ("m", 60)) if seconds % pair[1] == 0), ("s", 1))
    return f"{seconds / size:g}{unit}"


def codes(names: Sequence[str]) -> str:
    """Names in code style, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; line breaks in cells become spaces."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("\n", " ") for cell in line) + " |" for line in lines)


def sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph, maxsplit=1)[0].replace("|", "\\|")


def first_line(path: Path) -> str:
    """The first sentence of a module's docstring."""
    return sentence(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
