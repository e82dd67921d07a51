"""Tools, structured answers and tool messages of a chat completion, read into grammars and into a template's messages.

Knows OpenAI's fields and the model's chat template, no tokens. Invariant: raises only RequestRejected, whose `param`
names the field; what cannot be kept is refused before anything is generated.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from semcache.engine.answer_reader import AnswerShape
from semcache.engine.chat_template import ChatTemplate
from semcache.engine.openai_bodies import ChatBody, ChatMessage, invalid, refused
from semcache.engine.tool_format import Choice, Tool, ToolFormat, format_of, grammar

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_NINE = 9  # letters of a call's id, where a template asks for that


@dataclass(frozen=True, slots=True)
class AnswerTerms:
    """The terms of an answer: `tools` as the template is given them, those that may be called, and a JSON schema."""

    tools: tuple[dict[str, Any], ...] = ()
    callable: tuple[Tool, ...] = ()
    choice: Choice = "none"
    several: bool = True
    schema: dict[str, Any] | None = None
    form: ToolFormat | None = None

    def settings(self, given: dict[str, Any]) -> dict[str, Any]:
        """The variables of the template with the tools among them."""
        return {**given, "tools": list(self.tools)} if self.tools else given

    def shape(self, template: ChatTemplate, text: str) -> AnswerShape:
        """The shape of the answer to a prompt that ends with this text."""
        opened = text.rstrip().endswith("<think>")
        thinks = "<think>" in template.source and not text.rstrip().endswith("</think>")
        calls = self.form is not None and self.choice != "none"
        return AnswerShape(self.form if calls else None, thinks, opened)

    def grammar(self, shape: AnswerShape) -> str:
        """The grammar of the answer, "" where any text will do."""
        if self.schema is None and shape.form is None:
            return ""
        return grammar(
            shape.form,
            self.callable,
            self.schema,
            choice=self.choice,
            several=self.several,
            thinks=shape.thinks,
            opened=shape.opened,
        )


def read_terms(body: ChatBody, template: ChatTemplate) -> AnswerTerms:
    """Read `tools`, `tool_choice`, `parallel_tool_calls` and `response_format`. Raises RequestRejected."""
    schema = _schema(body.response_format)
    declared = body.tools or []
    if not isinstance(declared, list):
        raise invalid("tools", "tools must be a list of functions")
    named = [_tool(at, one) for at, one in enumerate(declared)]
    chosen = body.tool_choice
    if not named:
        if chosen not in (None, "none", "auto"):
            raise invalid("tool_choice", f"tool_choice {chosen!r} needs tools")
        return AnswerTerms(schema=schema)
    form = format_of(template.source)
    if form is None or not template.reads("tools"):
        raise refused("tools", "the chat template of this model knows no tools, or calls them in an unknown format")
    several = body.parallel_tool_calls is not False
    choice, may = _choice(chosen, named)
    return AnswerTerms(tuple(declared), tuple(may), choice, several, schema, form)


def template_message(at: int, message: ChatMessage, template: ChatTemplate) -> dict[str, Any]:
    """A message as templates read it. Raises RequestRejected."""
    content = message.content
    if isinstance(content, list):
        for part in content:
            kind, text = part.get("type"), part.get("text")
            if kind != "text":
                raise refused("messages", f"messages[{at}] has a part of type {kind!r}; this engine reads text")
            if not isinstance(text, str):
                raise invalid("messages", f"messages[{at}] has a part whose text is {text!r:.100}: it must be a string")
        content = "".join(part["text"] for part in content)
    read: dict[str, Any] = {"role": message.role, "content": content or ""}
    if message.name:
        read["name"] = message.name
    if message.function_call or message.role == "function":
        raise refused("messages", f"messages[{at}] is of the old kind of functions; use tools")
    if (message.tool_calls or message.role == "tool") and not template.reads("tool_calls"):
        raise refused("messages", f"messages[{at}] belongs to a tool call, which this model's chat template knows not")
    short = "9" in template.source and template.reads("TOOL_CALLS")
    if message.tool_calls:
        if message.role != "assistant" or not isinstance(message.tool_calls, list):
            raise invalid("messages", f"messages[{at}].tool_calls must be a list, and of the assistant")
        read["tool_calls"] = [_call(at, one, short=short) for one in message.tool_calls]
    if message.tool_call_id is not None:
        read["tool_call_id"] = _id(at, message.tool_call_id, short=short)
    if isinstance(message.reasoning_content, str):
        read["reasoning_content"] = message.reasoning_content
    return read


def _tool(at: int, given: Any) -> Tool:
    function = given.get("function") if isinstance(given, dict) else None
    if not isinstance(given, dict) or given.get("type") != "function" or not isinstance(function, dict):
        raise refused("tools", f"tools[{at}] must be a function: type and function")
    name, parameters = function.get("name"), function.get("parameters") or {"type": "object", "properties": {}}
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise invalid("tools", f"tools[{at}].function.name must be of letters, digits, '_', '.' and '-'")
    if not isinstance(parameters, dict):
        raise invalid("tools", f"tools[{at}].function.parameters must be a JSON schema")
    return {"name": name, "parameters": {"type": "object", **parameters}}


def _choice(given: Any, tools: list[Tool]) -> tuple[Choice, list[Tool]]:
    """How tools are to be called, and which."""
    if given is None or given == "auto":
        return "auto", tools
    if given == "none":
        return "none", tools
    if given == "required":
        return "required", tools
    function = given.get("function") if isinstance(given, dict) and given.get("type") == "function" else None
    if not isinstance(function, dict):
        raise refused("tool_choice", "it must be none, auto, required, or one function")
    chosen = [one for one in tools if one["name"] == function.get("name")]
    if not chosen:
        raise invalid("tool_choice", f"tool_choice names {function.get('name')!r}, which is none of tools")
    return "required", chosen


def _schema(given: Any) -> dict[str, Any] | None:
    """The JSON schema that `response_format` asks for, None for a text."""
    kind = given.get("type") if isinstance(given, dict) else None
    if given is None or kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    told = given.get("json_schema") if kind == "json_schema" else None
    schema = told.get("schema") if isinstance(told, dict) else None
    if kind == "json_schema" and isinstance(schema, dict):
        return schema
    raise invalid(
        "response_format", "response_format must be of type text, json_object, or json_schema with json_schema.schema"
    )


def _call(at: int, given: Any, *, short: bool) -> dict[str, Any]:
    function = given.get("function") if isinstance(given, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise invalid("messages", f"messages[{at}].tool_calls must be functions with a name and arguments")
    arguments = function.get("arguments")
    try:
        arguments = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else arguments or {}
    except (ValueError, RecursionError) as error:
        raise invalid("messages", f"messages[{at}].tool_calls has arguments that are no JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise invalid("messages", f"messages[{at}].tool_calls has arguments that are no object")
    read = {"type": "function", "function": {"name": function["name"], "arguments": arguments}}
    return {"id": _id(at, given["id"], short=short), **read} if given.get("id") is not None else read


def _id(at: int, given: Any, *, short: bool) -> str:
    if not isinstance(given, str):
        raise invalid("messages", f"messages[{at}] has an id of a call that is no text")
    return hashlib.blake2b(given.encode("utf-8", "surrogatepass")).hexdigest()[:_NINE] if short else given
