"""The ways in which models call tools: what calls look like in the text of an answer, by family of chat template.

`hermes` (Qwen, and most that were tuned after it) encloses each call in <tool_call>; `llama` (3.1 and later) answers
with one JSON object and nothing else; `mistral` with a list after [TOOL_CALLS]. Knows texts and schemas, no models.
Invariant: a call that is read has a name and an object of arguments; whatever else a text holds is text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from semcache.engine.constraint import json_rule

Tool: TypeAlias = dict[str, Any]  # name, and parameters: a JSON schema
Choice: TypeAlias = Literal["none", "auto", "required"]
UNTHINK = "</think>"
_CALL, _UNCALL = "<tool_call>", "</tool_call>"


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """A format. A call is `begin`, with the tool's name for {name}, its arguments, and `end`; `key` is theirs.

    All calls stand between `head` and `tail`, apart by `between`; `several` says that there may be more than one. With
    `within`, an answer may say something before its first call, which begins with that mark.
    """

    name: str
    begin: str
    end: str
    key: str
    head: str = ""
    tail: str = ""
    between: str = ""
    several: bool = True
    within: str = ""

    def rules(self, tools: Sequence[Tool], *, several: bool) -> list[str]:
        """Rules of a grammar: `calls` takes calls of these tools alone, `after` what follows the mark of the first."""
        lines, whole, rest = [], [], []
        for at, one in enumerate(tools):
            begin = self.begin.replace("{name}", json.dumps(one["name"], ensure_ascii=False)[1:-1])
            lines.append(f"args{at}: {json_rule(one.get('parameters') or {'type': 'object'})}")
            lines.append(f"call{at}: {_text(begin)} args{at} {_text(self.end)}")
            whole.append(f"call{at}")
            if self.within:
                lines.append(f"rest{at}: {_text(begin.removeprefix(self.within))} args{at} {_text(self.end)}")
                rest.append(f"rest{at}")
        more = f"({_text(self.between)} ({' | '.join(whole)}))*" if several and self.several else ""
        lines.append(f"calls: {_text(self.head)} ({' | '.join(whole)}) {more} {_text(self.tail)}")
        if self.within:
            lines.append(f"after: ({' | '.join(rest)}) {more}")
        return lines

    def read(self, text: str) -> list[Tool] | None:
        """The calls of a text that is calls and nothing else, None where it is none."""
        body = text.strip()
        for mark in ("<|python_tag|>", "[TOOL_CALLS]", _CALL):
            body = body.removeprefix(mark).strip()
        try:
            found = json.loads(body.removesuffix(_UNCALL))
        except (ValueError, RecursionError):
            return None
        calls = []
        for one in found if isinstance(found, list) else [found]:
            given = one.get(self.key, one.get("arguments")) if isinstance(one, dict) else None
            if not isinstance(given, dict) or not isinstance(one.get("name"), str):
                return None
            calls.append({"name": one["name"], "arguments": given})
        return calls or None


HERMES = ToolFormat(
    "hermes", f'{_CALL}\n{{"name": "{{name}}", "arguments": ', f"}}\n{_UNCALL}", "arguments", between="\n", within=_CALL
)
LLAMA = ToolFormat("llama", '{"name": "{name}", "parameters": ', "}", "parameters", several=False)
MISTRAL = ToolFormat("mistral", '{"name": "{name}", "arguments": ', "}", "arguments", head="[", tail="]", between=", ")


def format_of(template: str) -> ToolFormat | None:
    """The format that a chat template speaks, None for one that is not known here."""
    if _CALL in template and "<function=" not in template:
        return HERMES
    if "[TOOL_CALLS]" in template:
        return MISTRAL
    return LLAMA if '"parameters": ' in template else None


def grammar(
    form: ToolFormat | None, tools: Sequence[Tool], schema: dict[str, Any] | None, *, choice: Choice, several: bool,
    thinks: bool, opened: bool = False,
) -> str:  # fmt: skip
    """The grammar of an answer: calls of tools as `choice` has it, or JSON of `schema`, or a text where there is none.

    `thinks`: thoughts may stand before it, and must where the prompt has `opened` them.
    """
    begun = "" if opened else "<think>"
    lines = [r"TEXT: /(.|\n)*/", rf"thought[lazy]: /{begun}(.|\n)*<\/think>\s*/"]
    said = "TEXT"
    if schema is not None:
        lines.append(f"body: {json_rule(schema)}")
        said = "body"
    if form is not None and choice != "none":
        lines += form.rules(tools, several=several)
        if choice == "required":
            said = "calls"
        elif schema is not None:
            said = "body | calls"
        elif form.within:
            lines.append(f"lead[lazy]: TEXT {_text(form.within)}")
            said = "TEXT | lead after"
        else:
            # A text that begins as calls do is calls.
            lines.append(r"SAID: /([^\[{\s](.|\n)*)?/")
            said = "SAID | calls"
    start = f"start: {'thought' if opened else 'thought?'} ({said})" if thinks else f"start: {said}"
    return "\n".join(["%llguidance {}", start, *lines]) + "\n"


def _text(text: str) -> str:
    return json.dumps(text) if text else ""
