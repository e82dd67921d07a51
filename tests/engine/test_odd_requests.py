"""Whatever stands in a field of a request to the engine is read, or refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

from semcache.engine.chat_template import ChatTemplate
from semcache.engine.openai_requests import ServedModel, read_chat, read_completion
from semcache.errors import RequestRejected
from tests.dialects.odd import mutants, surviving

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

CHAT = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief.", "name": "n"},
        {"role": "user", "content": [{"type": "text", "text": "a", "document": True}], "tool_calls": None},
    ],
    "chunks": {"method": "blend", "recompute": 0.5},
    "max_completion_tokens": 3,
    "logprobs": True,
    "top_logprobs": 2,
    "response_format": {"type": "text"},
    "modalities": ["text"],
    "tools": [],
    "tool_choice": "none",
    "stop": ["a"],
    "stream": True,
    "stream_options": {"include_usage": True},
    "logit_bias": {"5": 1},
    "prediction": {"type": "content", "content": [{"type": "text", "text": "x"}]},
    "n": 1,
    "seed": 3,
    "temperature": 1,
    "cache_salt": "x",
    "repetition_penalty": 1.1,
    "chat_template_kwargs": {"enable_thinking": True},
    "reasoning_effort": "none",
}
PRESSED = {key: value for key, value in CHAT.items() if key != "chunks"} | {"press": {"method": "kvzip", "keep": 0.4}}
COMPLETION = {"model": "m", "prompt": ["a", [1, 2]], "logprobs": 1, "echo": False, "best_of": 1, "stop": "x"}


class Words:
    """A tokenizer with a token a word."""

    size = 100
    template = ChatTemplate(
        "{{ enable_thinking }} {{ tools }} {{ tool_calls }} <tool_call>", lambda messages, **settings: str(messages)
    )

    def encode(self, text: str, special: bool = True, most: int | None = None) -> list[int]:
        return [1] * len(text.split())

    def chat(self, messages: Sequence[dict[str, str]], settings: Any, most: int | None = None) -> list[int]:
        return self.encode(" ".join(message["role"] + " " + message["content"] for message in messages))

    def ending(self, ids: list[int]) -> str:
        return ""

    def located(
        self, messages: Sequence[dict[str, str]], documents: Sequence[str], settings: Any, most: int | None = None
    ) -> tuple[list[int], Any]:
        return self.chat(messages, settings), tuple(range(at, at + len(text)) for at, text in enumerate(documents))


@pytest.mark.parametrize(
    ("document", "read"),
    [(CHAT, read_chat), (PRESSED, read_chat), (COMPLETION, read_completion)],
    ids=["chat", "pressed", "completion"],
)
def test_any_field_of_a_request_may_hold_anything(document: Any, read: Callable[..., Any]) -> None:
    def check(odd: Any) -> None:
        with suppress(RequestRejected):
            read(json.dumps(odd).encode(), Words(), ServedModel("m", 100, any_model=True, lossy=True), id="i")

    assert read(json.dumps(document).encode(), Words(), ServedModel("m", 100), id="i").jobs
    surviving([document], check)
    given(mutants([document]))(check)()
