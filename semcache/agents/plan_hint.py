"""A plan as a planner is shown it, in words.

Pure. Invariant: nothing in it comes from a tool's result, and of values only those of the new task are named.
"""

from __future__ import annotations

from typing import Any

from semcache.agents.template import Template, literals
from semcache.agents.template_search import TemplateMatch


def hint(template: Template, match: TemplateMatch) -> str:
    """The tools in order, the slots by name, the lines of a plan in words.

    "" where a line of the plan holds a word of earlier tasks that this one lacks.
    """
    if literals(template.steps) & frozenset(match.fit.missing):
        return ""
    lines: list[str] = []
    for step in template.steps:
        for one in step.actions:
            lines.append(f"{len(lines) + 1}. call {one.tool}({', '.join(_arguments(one.arguments))})")
        if step.text is not None:
            parts = [part if isinstance(part, str) else _value(part.slot, match) for part in step.text.parts]
            lines.append(f"{len(lines) + 1}. {''.join(parts)}")
    return "A plan that has worked for tasks like this one:\n" + "\n".join(lines)


def _arguments(tree: Any) -> list[str]:
    return [str(key) for key in tree] if isinstance(tree, dict) else []


def _value(slot: str, match: TemplateMatch) -> str:
    return match.fit.values.get(slot, f"<{slot}>")
