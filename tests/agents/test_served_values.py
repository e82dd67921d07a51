"""The values of a served plan are those of its task, whole: signs, brackets, quotes and capitals included."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.worlds import asked, opened, tool

TOOLS = [tool("act", a={}, b={}), tool("other", c={})]
VALUES = {
    "id": ["A-1001", "B_22", "ZX/9.1", "#4711", "HAT039", "a.b(c)", "x+y*z", "[q]", "C++", "$HOME"],
    "name": ["Ann Lee", "José Ñandú", "Łukasz Źdź", "Иван Петров", "O'Brien", "李雷", "Straße", "van der Berg"],
    "number": ["5", "12", "7", "70", "0", "-3", "+4"],
    "quoted": ['"red (large)"', '"a.*b"', '"x\\y"', '"50% off?"', '"5"', '"true"', '"null"'],
    "date": ["2026-05-01", "3 May 2026", "May 3, 2026", "05/03/2026"],
    "mail": ["a.b@c.org", "x+y@d-e.com"],
    "amount": ["$40", "€15.50", "12 %"],
}
SENTENCES = [
    "Send {0} to {1} please",
    "Move {0} units of {1} into storage",
    "Please refund {0} on order {1}",
    "Compare {0} against {1} and report",
    "Tell {1} that {0} arrived",
    "Rename item {0} as {1} in the list",
    "Notify {0} of order {1}",
]


def calls(texts: Sequence[str], how: Sequence[str], shape: str) -> list[tuple[str, Any]]:
    """What an agent calls for these values: numbers as numbers or as texts, nested, or twice at once."""
    a, b = (int(one) if kind == "integer" else one.strip('"') for one, kind in zip(texts, how, strict=True))
    if shape == "nested":
        return [("act", {"a": {"deep": [a, {"x": a}]}, "b": b})]
    if shape == "first":
        return [("act", {"a": a, "b": ""})]
    return [("act", {"a": a, "b": b})] * (2 if shape == "twice" else 1)


def ended(task: str, made: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    turn = [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for at, (name, given) in enumerate(made)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{at}", "content": "ok"} for at in range(len(made))]
    calling = {"role": "assistant", "content": None, "tool_calls": turn}
    return [*asked(task), calling, *results, {"role": "assistant", "content": "Done."}]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_values_look_like_a_served_call_has_those_of_its_task(seed: int) -> None:
    rng, served = random.Random(seed), 0
    for _ in range(120):
        sentence, shape = rng.choice(SENTENCES), rng.choice(["flat", "nested", "first", "twice"])
        kinds = [rng.choice(list(VALUES)) for _ in range(2)]
        how = [rng.choice(["integer", "text"]) if kind == "number" else "text" for kind in kinds]
        plans = opened()
        for number in range(rng.choice([2, 3, 4]) + 3):
            texts = [rng.choice(VALUES[kind]) for kind in kinds]
            task, wanted = sentence.format(*texts), calls(texts, how, shape)
            if number < 2:
                await plans.record(ended(task, wanted), tools=TOOLS)
                continue
            found = await plans.lookup(asked(task), tools=TOOLS)
            if found.outcome == "plan":
                served += 1
                assert [(one.tool, one.arguments) for one in found.calls] == wanted, task
    assert served > 250


@pytest.mark.parametrize(
    ("learned", "value", "task", "served"),
    [
        # A number is not what stands behind its sign.
        ("Book 5 units for the yard", 5, "Book -7 units for the yard", -7),
        ("Book -5 units for the yard", "-5", "Book -7 units for the yard", None),
        ("Show products under $25 in shoes", "25", "Show products under $30 in shoes", "30"),
        ("Show the top-1 selling products", 1, "Show the top-3 selling products", 3),
        # The capital of a sentence's first word makes no name of it.
        ("Notify jane of the delay", "jane", "Notify Jane Doe of the delay", "Jane Doe"),
        ("Fetch the Ann Lee account", "Ann Lee", "Fetch the Łukasz Źdź account", "Łukasz Źdź"),
        # What adjoins a value may be part of it: then the model is asked.
        ("Open file notes for review", "notes", "Open file C++ for review", None),
        ("Open file notes for review", "notes", "Open file f(x) for review", "f(x)"),
        ("Open file notes for review", "notes", "Open file [q] for review", None),
        ("Offer summer sale to all clients", "summer sale", "Offer $10 discount to all clients", "$10 discount"),
        # A quoted value is all that stands within the quotes.
        ('Post "fine (so far)" on the wall', "fine (so far)", 'Post "done?" on the wall', "done?"),
        # Whether the month stands first shows in a date whose month is not its day.
        ("Book the room for 05/13/2026", "2026-05-13", "Book the room for 05/04/2026", "2026-05-04"),
        ("Book the room for 03/03/2026", "2026-03-03", "Book the room for 05/04/2026", None),
        # Two gaps of one slot must have one value.
        ("Move B_22 from shelf A-1 to shelf A-1", "A-1", "Move B_22 to shelf A-7 from shelf A-9", None),
    ],
)
async def test_a_value_is_taken_whole_or_not_at_all(learned: str, value: Any, task: str, served: Any) -> None:
    plans = opened()
    await plans.record(ended(learned, [("other", {"c": value})]), tools=TOOLS)
    found = await plans.lookup(asked(task), tools=TOOLS)
    assert [one.arguments for one in found.calls] == ([{"c": served}] if served is not None else [])
