"""A model's chat template: the text of a conversation, and the roles and settings that the template knows.

Templates drop a message whose role they do not know without a word, as Qwen2.5's drops `developer`. So an instruction
under a role that the template does not name is written as `system`, and one that the text of the conversation lacks is
refused. Knows messages and the renderer of a tokenizer, no tokens. Invariant: every instruction is in the text, or the
conversation is refused with the number of its message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from semcache.errors import InvalidArgument

Message: TypeAlias = Mapping[str, Any]
_MARK = "Xq7Mark"
_ROLES = {"system": "System", "developer": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
_SPOKEN = frozenset(["user", "assistant", "tool", "function"])  # templates rewrite these: reasoning, JSON, order
_SWITCH = re.compile(r"/\w+")  # such as /no_think, which templates take out of an instruction
# Arguments of the renderer itself; `chat_template` would be a program of the client's.
_RESERVED = re.compile(
    "add_generation_prompt|chat_template|continue_final_message|conversation|documents|max_length|messages|padding|"
    "return_assistant_tokens_mask|return_dict|return_tensors|sanitize_control_tokens|tokenize|tokenizer_kwargs|tools|"
    "truncation"
)


class ChatTemplate:
    """A template by its `source`, "" for none; `render` gives the text of messages, with variables of the template."""

    def __init__(self, source: str, render: Callable[..., str]) -> None:
        self.source, self._render = source, render

    def reads(self, variable: str) -> bool:
        """Return True if a name occurs in the template."""
        return re.search(rf"\b{re.escape(variable)}\b", self.source) is not None

    @cached_property
    def knows_developer(self) -> bool:
        """True if the template names the role `developer`, and writes what it says."""
        return self.reads("developer") and self._writes("developer")

    @cached_property
    def knows_system(self) -> bool:
        """True if the template writes what a first message of the role `system` says."""
        return self._writes("system")

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The variables of `chat_template_kwargs`. Raises InvalidArgument for one that the template does not read."""
        for name in given:
            if _RESERVED.fullmatch(name) or not name.isidentifier():
                raise InvalidArgument(f"{name!r} is no setting of a chat template: leave it out")
            if not self.reads(name):
                raise InvalidArgument(f"the chat template of this model has no setting {name!r}: leave it out")
        return dict(given)

    def text(self, messages: Sequence[Message], settings: Mapping[str, Any]) -> str:
        """The conversation up to where the assistant speaks; without a template, as lines.

        Raises InvalidArgument when the template refuses a message or leaves an instruction out.
        """
        if not self.source:
            lines = [f"{_ROLES.get(message['role'], message['role'])}: {message['content']}\n" for message in messages]
            return "".join(lines) + "Assistant:"
        known = [self._known(at, message) for at, message in enumerate(messages)]
        try:
            text = self._render(known, **settings)
        except Exception as error:  # templates raise what they like
            raise InvalidArgument(f"the model's chat template refuses these messages: {error}") from error
        end = 0
        for at, message in enumerate(messages):
            end = end if message["role"] in _SPOKEN else _end_of(text, message["content"], end)
            if end < 0:
                raise InvalidArgument(
                    f"the model's chat template leaves out messages[{at}], whose role is {message['role']!r}: "
                    "put its text into the first message of the role 'system', or of 'user'"
                )
        return text

    def _known(self, at: int, message: Message) -> Message:
        if message["role"] != "developer" or self.knows_developer:
            return message
        if not self.knows_system:
            raise InvalidArgument(
                f"messages[{at}] has the role 'developer', and the chat template of this model knows neither that role "
                "nor 'system': put its text into the first message of the role 'user'"
            )
        return {**message, "role": "system"}

    def _writes(self, role: str) -> bool:
        try:
            return _MARK in self._render([{"role": role, "content": _MARK}, {"role": "user", "content": "x"}])
        except Exception:  # as above
            return False


def _end_of(text: str, content: Any, start: int) -> int:
    """Where the longest line of an instruction, less the switches that templates take out, ends in a text; or -1.

    It is looked for behind `start` first: from the beginning, many instructions would take a time that grows with
    their number times the length of the text.
    """
    pieces = [piece.strip() for line in str(content).splitlines() for piece in _SWITCH.split(line)]
    longest = max(pieces, key=len, default="")
    at = text.find(longest, start)
    at = text.find(longest, 0, start + len(longest)) if at < 0 else at
    return at + len(longest) if at >= 0 else -1
