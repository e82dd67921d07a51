"""Calls of tools and structured answers are what was asked for, whatever a model would rather say."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("llguidance", reason="needs the extra `engine`")

from eval.engine_models import make
from semcache.engine.openai_replies import ChatReply, ChoiceText, usage
from semcache.engine.openai_requests import ServedModel, read_chat
from semcache.errors import RequestRejected
from tests.engine.nursery import an_engine, work
from tests.engine.test_chat_template import TEMPLATES

Folder = Callable[..., Path]
DATA = Path(__file__).parents[3] / "shared" / "data"
ID = {
    "type": "object",
    "properties": {"id": {"type": "integer", "minimum": 0, "maximum": 999}},
    "required": ["id"],
    "additionalProperties": False,
}
SCHEMAS: list[dict[str, Any]] = [
    ID,
    {"type": "object"},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
    {"enum": ["red", "green", 3]},
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"const": "x"}]}}, "required": ["a"],
     "additionalProperties": False},
    {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"], "additionalProperties": False,
     "$defs": {"n": {"type": "integer", "minimum": 3, "maximum": 40}}},
    {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}$"},
    {"type": "string", "maxLength": 4},
]  # fmt: skip


def tool(name: str, schema: Any = ID) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


class Model:
    """An engine with the chat template of a family, asked as OpenAI's clients ask."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.asked = engine, 0

    def ask(self, **body: Any) -> Any:
        self.asked += 1
        given = {"messages": [{"role": "user", "content": "go"}], "max_tokens": 90, "temperature": 1.0, **body}
        served = ServedModel("m", self.engine.limits.most, grammars=self.engine.grammars)
        raw = json.dumps(given).encode()
        request = read_chat(raw, self.engine.tokenizer, served, id=f"j{self.asked}")
        outcome = work(self.engine, request.jobs)[request.jobs[0].id]
        whole, streamed = (
            ChatReply(self.engine.tokenizer, id="chatcmpl-1", created=1, model="m", scored=False, shape=request.shape)
            for _ in range(2)
        )
        told = [ChoiceText() for _ in range(request.jobs[0].sampling.n)]
        chunks = []
        for delta in outcome.deltas:
            assert not delta.error
            told[delta.choice].add(delta)
            chunks += streamed.chunk(delta.choice, delta)
        choice = whole.whole(told, usage([], predicted=False))["choices"][0]
        assert assembled(chunks) == {
            "content": choice["message"]["content"] or "",
            "calls": [one["function"] for one in choice["message"].get("tool_calls", [])],
            "finish": choice["finish_reason"],
        }
        return choice


def assembled(chunks: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"content": "", "calls": [], "finish": None}
    for one in (chunk["choices"][0] for chunk in chunks if chunk["choices"][0]["index"] == 0):
        found["content"] += one["delta"].get("content") or ""
        found["calls"] += [call["function"] for call in one["delta"].get("tool_calls", [])]
        found["finish"] = one["finish_reason"] or found["finish"]
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model]:
    made: dict[str, Model] = {}

    def get(family: str) -> Model:
        if family not in made:
            path = make(tmp_path_factory.mktemp(family), context=4096)
            shutil.copy(TEMPLATES / f"{family}.jinja", path / "chat_template.jinja")
            made[family] = Model(an_engine(path, cache_bytes=16 << 20))
        return made[family]

    return get


@pytest.mark.parametrize("family", ["qwen2", "qwen3", "llama", "mistral"])
def test_calls_that_are_required_are_valid(model: Callable[[str], Model], family: str) -> None:
    tools, ended = [tool("look_up"), tool("close", SCHEMAS[5])], 0
    for seed in range(3):
        more = {"chat_template_kwargs": {"enable_thinking": False}} if family == "qwen3" else {}
        choice = model(family).ask(tools=tools, tool_choice="required", parallel_tool_calls=False, seed=seed, **more)
        if choice["finish_reason"] == "length":
            continue
        ended += 1
        assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", None)
        [call] = choice["message"]["tool_calls"]
        schema = next(one for one in tools if one["function"]["name"] == call["function"]["name"])
        jsonschema.validate(json.loads(call["function"]["arguments"]), schema["function"]["parameters"])
    assert ended


@pytest.mark.parametrize("family", ["qwen2", "llama", "mistral"])
def test_the_tool_that_is_named_is_called_and_others_are_not(model: Callable[[str], Model], family: str) -> None:
    named = {"type": "function", "function": {"name": "close"}}
    choice = model(family).ask(tools=[tool("look_up"), tool("close")], tool_choice=named, seed=1)
    calls = choice["message"].get("tool_calls", [])
    assert {one["function"]["name"] for one in calls} <= {"close"}
    assert calls or choice["finish_reason"] == "length"


@pytest.mark.parametrize("choice", ["auto", "none", None])
@pytest.mark.parametrize("family", ["qwen2", "llama", "mistral"])
def test_a_model_may_speak_instead(model: Callable[[str], Model], family: str, choice: Any) -> None:
    said = model(family).ask(tools=[tool("f")], tool_choice=choice, max_tokens=20, seed=3)
    assert said["finish_reason"] in ("stop", "length")
    assert said["message"].get("tool_calls") is None


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda one: json.dumps(one)[:40])
def test_an_answer_that_ends_is_valid_for_its_schema(model: Callable[[str], Model], schema: Any) -> None:
    asked = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
    ended = 0
    for seed in range(2):
        choice = model("qwen2").ask(response_format=asked, seed=seed)
        if choice["finish_reason"] == "stop":
            ended += 1
            jsonschema.validate(json.loads(choice["message"]["content"]), schema)
    assert ended or schema == {"type": "object"}


def test_any_object_will_do(model: Callable[[str], Model]) -> None:
    for seed in range(2):
        choice = model("llama").ask(response_format={"type": "json_object"}, seed=seed)
        if choice["finish_reason"] == "stop":
            assert isinstance(json.loads(choice["message"]["content"]), dict)
        else:
            assert choice["message"]["content"].startswith("{")


@pytest.mark.parametrize("family", ["qwen2", "llama", "mistral"])
def test_a_conversation_with_calls_reaches_the_model(model: Callable[[str], Model], family: str) -> None:
    call = {"id": "call_1234567890", "type": "function", "function": {"name": "f", "arguments": '{"id": 77}'}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1234567890", "content": "found: 99"},
    ]
    asked = model(family)
    served = ServedModel("m", 1024, grammars=asked.engine.grammars)
    raw = json.dumps({"messages": messages, "tools": [tool("f")], "max_tokens": 4}).encode()
    [job] = read_chat(raw, asked.engine.tokenizer, served, id="a").jobs
    prompt = asked.engine.tokenizer._outer.decode(list(job.ids))
    assert '"id": 77' in prompt
    assert "found: 99" in prompt
    assert "f" in prompt
    assert asked.ask(messages=messages, tools=[tool("f")], max_tokens=4)


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"tools": "f"}, "tools"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"tools": [tool("a b")]}, "tools"),
        ({"tools": [tool("f", {"type": 5})]}, "tools"),
        ({"tools": [tool("f")], "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [tool("f")], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "http://x"}}}},
            "response_format",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}]},
            "messages",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "[]"}}]}]},
            "messages",
        ),
        ({"messages": [{"role": "user", "tool_calls": [5]}]}, "messages"),
        ({"messages": [{"role": "function", "content": "x"}]}, "messages"),
    ],
    ids=str,
)
def test_what_cannot_be_kept_is_refused_by_name(model: Callable[[str], Model], change: Any, param: str) -> None:
    with pytest.raises(RequestRejected) as caught:
        model("qwen2").ask(**change)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_a_template_without_tools_refuses_them(folder: Folder) -> None:
    with pytest.raises(RequestRejected) as caught:
        Model(an_engine(folder())).ask(tools=[tool("f")])
    assert caught.value.param == "tools"


def test_tools_rebuilt_from_recorded_calls_are_called_validly(model: Callable[[str], Model]) -> None:
    path = DATA / "tau_bench" / "gpt-4o-airline.jsonl.gz"
    if not path.exists():
        pytest.skip("needs ../shared/data/tau_bench")
    kinds: dict[str, dict[str, set[str]]] = {}
    names = {str: "string", int: "integer", bool: "boolean", float: "number", list: "array", dict: "object"}
    with gzip.open(path, "rt") as lines:
        for line in lines:
            for turn in json.loads(line).get("traj") or []:
                for one in turn.get("tool_calls") or []:
                    known = kinds.setdefault(one["function"]["name"], {})
                    for key, value in json.loads(one["function"]["arguments"]).items():
                        known.setdefault(key, set()).add(names[type(value)])
    assert len(kinds) > 8
    tools = [
        tool(name, {"type": "object", "additionalProperties": False, "required": sorted(fields), "properties": {
            key: {"type": sorted(types)} | ({"maxLength": 8} if "string" in types else {})
            | ({"items": {"type": "integer"}, "maxItems": 2} if "array" in types else {})
            for key, types in fields.items()
        }})
        for name, fields in sorted(kinds.items())
    ]  # fmt: skip
    ended = 0
    for seed, one in enumerate(tools):
        named = {"type": "function", "function": {"name": one["function"]["name"]}}
        choice = model("qwen2").ask(
            tools=[one], tool_choice=named, parallel_tool_calls=False, seed=seed, max_tokens=160
        )
        if choice["finish_reason"] == "tool_calls":
            ended += 1
            [call] = choice["message"]["tool_calls"]
            jsonschema.validate(json.loads(call["function"]["arguments"]), one["function"]["parameters"])
    assert ended > 3


STORIES = DATA / "models" / "tinystories-656k"


@pytest.mark.skipif(not STORIES.is_dir(), reason=f"needs {STORIES.name} beside the checkout")
@pytest.mark.parametrize(
    "change",
    [
        {"response_format": {"type": "json_object"}},
        {"tools": [tool("look_up")], "tool_choice": "required"},
        {"tools": [tool("look_up")]},
    ],
    ids=["json", "required", "auto"],
)
def test_a_model_whose_tokens_cannot_write_json_is_asked_for_none(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "stories"
    path.mkdir()
    for file in STORIES.iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    shutil.copy(TEMPLATES / "qwen2.jinja", path / "chat_template.jinja")
    model = Model(an_engine(path, cache_bytes=16 << 20))
    with pytest.raises(RequestRejected, match=r"cannot write '\{'"):
        model.ask(**change)
    assert model.ask(max_tokens=4)["finish_reason"] == "length"


def test_an_answer_that_leaves_its_grammar_is_a_failure_and_no_end(model: Callable[[str], Model]) -> None:
    grammars = model("qwen2").engine.grammars
    constraint = grammars.begin('%llguidance {}\nstart: "{}"\n')
    with pytest.raises(ValueError, match="grammar of this answer failed"):
        constraint.take(model("qwen2").engine.tokenizer.encode("x", special=False)[0])
