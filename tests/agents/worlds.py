"""Small agents for tests: their tools, their runs, and templates that learn from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plans import Plans
from semcache.storage.stores.plan_rows import MemoryPlans

SALT = b"s" * 32


def tool(name: str, *, reads: bool = False, **properties: Any) -> dict[str, Any]:
    """A tool with these arguments, all of them required; a string stands for its type."""
    schema = {
        "type": "object",
        "properties": {key: {"type": one} if isinstance(one, str) else one for key, one in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "parameters": schema},
        "annotations": {"readOnlyHint": reads},
    }


TOOLS = [
    tool("find_user", reads=True, user_id="string"),
    tool("cancel", reservation_id="string", reason="string"),
    tool("refund", order="integer", amount="number"),
]


def called(*calls: tuple[str, Any, Any], start: int = 0) -> list[dict[str, Any]]:
    """Turns of one call each: tool, arguments and result."""
    messages: list[dict[str, Any]] = []
    for number, (name, arguments, result) in enumerate(calls, start):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        one = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": raw}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [one]})
        text = result if isinstance(result, str) else json.dumps(result)
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    return messages


def asked(task: str, system: str = "You help.") -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": task}]


def finished(task: str, *calls: tuple[str, Any, Any], answer: str = "Done.", **given: Any) -> list[dict[str, Any]]:
    return [*asked(task, **given), *called(*calls), {"role": "assistant", "content": answer}]


def cancelling(user: str, reservation: str, *, reason: str = "change of plan", said: str = "") -> list[dict[str, Any]]:
    """A run that looks a user up and cancels the first reservation; `said` is text in the tool's result."""
    return finished(
        f"Cancel the first reservation of user {user}, please",
        ("find_user", {"user_id": user}, {"note": said, "reservations": [reservation]}),
        ("cancel", {"reservation_id": reservation, "reason": reason}, "ok"),
    )


def opened(store: Any = None, **parts: Any) -> Plans:
    """Templates in memory, at second 1000."""
    ids = count(1)
    parts = {"clock": lambda: 1000.0, "new_id": lambda: next(ids), **parts}
    return Plans(PlanLibrary(store or MemoryPlans(), salt=SALT), salt=SALT, **parts)


async def taught(*runs: Sequence[dict[str, Any]], **parts: Any) -> Plans:
    """Templates that have seen these runs."""
    plans = opened(**parts)
    for run in runs:
        await plans.record(run, tools=TOOLS)
    return plans
