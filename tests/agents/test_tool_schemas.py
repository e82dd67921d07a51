"""A client's schema of a tool never holds up others, whatever it says, and a usual one is applied as it is meant."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from semcache.agents.run import DeclaredTool
from semcache.agents.schema_patterns import UnmatchablePattern, compiled
from semcache.agents.schemas import valid

# What Zod writes for an address of e-mail.
_MAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"


def accepts(value: Any, **schema: Any) -> bool:
    whole = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    return accepts_whole(whole, {"value": value})


def accepts_whole(schema: Any, arguments: Any) -> bool:
    return asyncio.run(valid(DeclaredTool("look", schema, True, b""), arguments))


def doubling(times: int, *, draft: str = "https://json-schema.org/draft/2020-12/schema") -> dict[str, Any]:
    """A schema that is applied 2 ** times times."""
    parts: dict[str, Any] = {f"a{times}": {"type": "string"}}
    for place in range(times):
        parts[f"a{place}"] = {"$schema": draft, "allOf": [{"$ref": f"#/$defs/a{place + 1}"}] * 2}
    return {"type": "object", "properties": {"value": {"$ref": "#/$defs/a0"}}, "$defs": parts}


DEAR = {
    "pattern": [{"properties": {"value": {"pattern": "^([A-Z0-9-]+)+$"}}}, {"value": "A" * 60 + "x"}],
    "pattern of names": [{"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {"a" * 60 + "x": 1}],
    "pattern before it": [
        {"unevaluatedProperties": False, "allOf": [{"patternProperties": {"^(a+)+$": {}}}]},
        {"a" * 60 + "x": 1},
    ],
    "pattern of another draft": [
        {"properties": {"value": {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(A+)+$"}}},
        {"value": "A" * 60 + "x"},
    ],
    "pattern in a lookahead": [{"properties": {"value": {"pattern": "^(?=(A+)+$).*$"}}}, {"value": "A" * 60 + "x"}],
    "references": [doubling(60), {"value": "x"}],
    "references in another draft": [doubling(60, draft="http://json-schema.org/draft-07/schema#"), {"value": "x"}],
    "equal items": [
        {"properties": {"value": {"uniqueItems": True}}},
        {"value": [{"i": number} for number in range(30_000)]},
    ],
    "itself": [{"$ref": "#"}, {"value": "x"}],
    "many fields": [{"properties": {f"p{number}": {"type": "string"} for number in range(15_000)}}, {"p1": "x"}],
}
_ASKING = """
import asyncio, json, sys
from semcache.agents.run import DeclaredTool
from semcache.agents.schemas import valid
for schema, arguments in json.load(sys.stdin):
    print(asyncio.run(valid(DeclaredTool("look", schema, True, b""), arguments)), flush=True)
"""


def test_no_schema_takes_longer_than_others_can_wait() -> None:
    # In a process of its own: what never ends cannot be stopped in this one.
    dear = json.dumps(list(DEAR.values()))
    told = subprocess.run([sys.executable, "-c", _ASKING], input=dear, capture_output=True, text=True, timeout=300)
    assert told.stdout.split() == ["False"] * len(DEAR), told.stderr


def test_a_dear_schema_is_applied_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = 0
    in_thread = asyncio.to_thread

    async def counting(*args: Any) -> Any:
        nonlocal threads
        threads += 1
        return await in_thread(*args)

    monkeypatch.setattr(asyncio, "to_thread", counting)
    assert accepts_whole({"properties": {"a": {"type": "string"}}}, {"a": "x"})
    assert threads == 0
    assert accepts_whole({"properties": {f"p{number}": {"type": "string"} for number in range(300)}}, {"p1": "x"})
    assert threads == 1


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        (r"^[A-Z]-\d{4}$", "A-1001", "A-10011"),
        (r"\d", "a1b", "ab"),
        (_MAIL, "ada.l@example.org", ".ada@example.org"),
        (_MAIL, "a@b-c.example.org", "ada@example"),
        (_MAIL, "ada+x@example.org", "a..b@example.org"),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", "Passport7x", "passport7x"),
        (r"^[\w.\/-]+$", "a/b.c-d", "a b"),
        (r"^[a&&b[]+$", "a&[b", "c"),
        (r"^(?:open|shut)$", "open", "opened"),
        (r"^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$", "0123abcd-4567-0123456789ab", "0123abcd-4567"),
        ("x$", "ax", "x\n"),
        (r"^\w{1,249}$", "a_1", "a 1"),
        (r"^[\w\s]{1,255}$", "a 1", "a-1"),
        (r"^[\w-.]+$", "a-1.", "a/1"),
        (r"^[^\W_]+$", "a1", "a_1"),
        (r"^.{1,1000}$", "\u00e9", ""),
        (r"^[^<>]{1,500}$", "a", "<a>"),
        (r"^\p{L}{1,50}$", "Zo\u00eb", "a1"),
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, right: str, wrong: str) -> None:
    assert accepts(right, type="string", pattern=pattern)
    assert not accepts(wrong, type="string", pattern=pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"a(?=b)", r"^(?=a)b|c", r"^(?!a)*b", r"(a{99}){99}", r"\p{L}{99}", "(", "[", "a{3", "[a--b]", "(?=a"],
)
def test_a_pattern_that_cannot_be_matched_in_time_passes_nothing(pattern: str) -> None:
    if pattern != "a{3":
        with pytest.raises(UnmatchablePattern):
            compiled(pattern)
    assert not accepts("ab", type="string", pattern=pattern)


def test_words_and_digits_are_those_of_json_schema() -> None:
    # Those of Unicode would take a second to be made ready, for others too.
    assert not accepts("\u00e9", type="string", pattern=r"^\w$")
    assert accepts("\u00e9", type="string", pattern=r"^\W$")
    assert not accepts("\u0663", type="string", pattern=r"^[\d]$")


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2, 3], [1, 1]),
        ({"enum": ["eur", "usd", ["x"]]}, ["x"], ["y"]),
        ({"$ref": "#/$defs/day"}, "mon", "moon"),
        ({"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 3}]}, None, "long"),
        ({"type": "object", "additionalProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
    ],
)
def test_usual_schemas_are_applied(schema: dict[str, Any], right: Any, wrong: Any) -> None:
    for draft in ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"):
        whole = {"$schema": draft, "properties": {"value": schema}, "$defs": {"day": {"maxLength": 3}}}
        assert accepts_whole(whole, {"value": right})
        assert not accepts_whole(whole, {"value": wrong})


@pytest.mark.parametrize("schema", [{"type": "what"}, {"properties": 3}, {"$ref": "https://example.org/s"}, 3, None])
def test_what_is_no_schema_passes_nothing(schema: Any) -> None:
    assert not accepts_whole(schema, {"value": 1})


def test_a_tools_name_begins_no_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "semcache")
    assert not asyncio.run(valid(DeclaredTool("look\nerror: the disk is full", {"type": "what"}, True, b""), {}))
    assert "schema of the tool" in caplog.text
    assert "\nerror: the disk" not in caplog.text
