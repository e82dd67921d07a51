"""Results of tools that a library writes as Python does, not as JSON, give their values to the steps behind them."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.agents.python_literals import as_json
from tests.agents.worlds import asked, called, finished, opened, tool

TOOLS = [
    tool("find_order", reads=True, order_id="string"),
    tool("refund", order_id="string", amount="number", to="string"),
]


def refunded(order: str, paid: float, owner: str, write: Any) -> list[dict[str, Any]]:
    found = {"order": order, "paid": paid, "owner": owner, "open": True, "note": None}
    return finished(
        f"Refund order {order}, please",
        ("find_order", {"order_id": order}, write(found)),
        ("refund", {"order_id": order, "amount": paid, "to": owner}, write({"refunded": paid})),
    )


@pytest.mark.parametrize("write", [json.dumps, str], ids=["json", "python"])
async def test_a_value_of_a_result_is_found_however_the_library_writes_it(write: Any) -> None:
    plans = opened()
    for order, paid, owner in (("A-1001", 40.25, "Ann Lee"), ("B-2002", 15.5, "Bob O'Ray")):
        await plans.record(refunded(order, paid, owner, write), tools=TOOLS)
    begun = [
        *asked("Refund order C-3003, please"),
        *called(
            (
                "find_order",
                {"order_id": "C-3003"},
                write({"order": "C-3003", "paid": 9.75, "owner": "Cy Fox", "open": True, "note": None}),
            )
        ),
    ]
    found = await plans.lookup(begun, tools=TOOLS)
    assert [one.arguments for one in found.calls] == [{"order_id": "C-3003", "amount": 9.75, "to": "Cy Fox"}]


async def test_a_failure_that_python_wrote_is_one() -> None:
    failing = finished("Refund order A-1001, please", ("find_order", {"order_id": "A-1001"}, str({"error": "gone"})))
    assert (await opened().learn(failing, tools=TOOLS)).why == "tool-error"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4) | st.lists(VALUES, max_size=4))
def test_what_python_writes_is_read_as_it_was(value: Any) -> None:
    assert json.loads(as_json(str(value)) or "null") == value


@given(st.text(alphabet="{}[](),:'\"\\xu0123 aeTrueNone.-\n", max_size=60))
def test_what_is_read_is_what_python_reads(text: str) -> None:
    written = as_json(text)
    try:
        read = json.loads(written) if written is not None else None
    except ValueError:
        return
    if read is not None:
        assert json.loads(json.dumps(ast.literal_eval(text.strip()))) == read


@pytest.mark.parametrize("value", [(1, 2), (1,), {"at": (1, ("a",))}], ids=str)
def test_a_tuple_is_a_list(value: Any) -> None:
    assert json.loads(as_json(str(value)) or "") == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words",
        "Order(id='A-1')",
        "{'at': datetime.date(2026, 5, 3)}",
        "{'a': f()}",
        "{'a': 'b\\q'}",
        "['a' + 'b']",
        "(12.50)",
        "('Order 5 is paid')",
        "[,]",
        "(1, 2]",
        "([1], (2))",
    ],
)
def test_what_is_no_literal_stays_a_text(text: str) -> None:
    assert as_json(text) is None


@pytest.mark.parametrize("text", ["[" * 60_000 + "]", "{'" + "\\'" * 30_000 + "}", "(" + "1," * 90_000 + ")"], ids=len)
async def test_a_long_or_deep_result_is_no_fault(text: str) -> None:
    run = finished("Refund order A-1001, please", ("find_order", {"order_id": "A-1001"}, text))
    assert (await opened().learn(run, tools=TOOLS)).why == "learned"
