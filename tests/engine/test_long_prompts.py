"""A prompt that is too long for the model is refused by its beginning: to read it whole costs memory and minutes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.engine.chat_template import ChatTemplate
from semcache.engine.openai_requests import ParsedRequest, ServedModel, read_chat, read_completion, read_tokens
from semcache.engine.tokenizer import Tokenizer
from semcache.errors import InvalidArgument, RequestRejected

SERVED = ServedModel("tiny", 1024)
LONG = "the cache " * 200_000


class Counting:
    """A tokenizer that counts the characters that it is given."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.read = 0

    def encode(self, text: str, **options: Any) -> Any:
        self.read += len(text)
        return self._inner.encode(text, **options)

    def __call__(self, text: str, **options: Any) -> Any:
        self.read += len(text)
        return self._inner(text, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.fixture
def counted(folder: Callable[..., Path]) -> tuple[Tokenizer, Counting]:
    tokenizer = Tokenizer(str(folder()))
    outer = tokenizer._outer = Counting(tokenizer._outer)
    return tokenizer, outer


def chat(content: Any = "hi", role: str = "user", **more: Any) -> bytes:
    return json.dumps({"model": "tiny", "messages": [{"role": role, "content": content}], **more}).encode()


def read(raw: bytes, tokenizer: Tokenizer) -> ParsedRequest:
    return read_chat(raw, tokenizer, SERVED, id="x")


DOCUMENT = [{"type": "text", "text": LONG, "document": True}]


@pytest.mark.parametrize(
    "ask",
    [
        lambda tokenizer: read(chat(LONG), tokenizer),
        lambda tokenizer: read(chat("hi", LONG), tokenizer),
        lambda tokenizer: read(chat(DOCUMENT, chunks={}), tokenizer),
        lambda tokenizer: read_completion(json.dumps({"prompt": LONG}).encode(), tokenizer, SERVED, id="x"),
    ],
    ids=["turn", "role", "document", "completion"],
)
def test_too_long_a_prompt_is_refused_without_reading_it(
    counted: tuple[Tokenizer, Counting], ask: Callable[[Tokenizer], object]
) -> None:
    tokenizer, outer = counted
    with pytest.raises(RequestRejected, match="1024 tokens") as refused:
        ask(tokenizer)
    assert refused.value.code == "context_length_exceeded"
    assert outer.read < len(LONG) / 20


def test_of_a_prediction_no_more_is_read_than_an_answer_may_hold(counted: tuple[Tokenizer, Counting]) -> None:
    tokenizer, outer = counted
    said = chat(max_tokens=8, prediction={"type": "content", "content": LONG})
    assert read(said, tokenizer).predicted
    assert outer.read < 1_000


def test_the_tokens_of_a_prompt_that_is_too_long_can_still_be_counted(counted: tuple[Tokenizer, Counting]) -> None:
    tokenizer, _ = counted
    text = "the cache " * 1_500
    ids = read_tokens(json.dumps({"prompt": text}).encode(), tokenizer, SERVED)
    assert ids == tokenizer.encode(text)
    assert len(ids) > SERVED.most


def test_a_prompt_within_the_limit_is_read_whole_however_its_tokens_lie(counted: tuple[Tokenizer, Counting]) -> None:
    tokenizer, _ = counted
    for text in ("a" * 900, "the cache " * 60, "é" * 200, "cache " * 30 + " " * 500 + "x" * 100):
        ids = tokenizer.encode(text)
        assert tokenizer.encode(text, most=len(ids)) == ids


def test_instructions_are_found_wherever_a_template_puts_them() -> None:
    def backwards(messages: Any, **_: Any) -> str:
        return "\n".join(f"{one['role']}: {one['content']}" for one in reversed(messages))

    template = ChatTemplate("system developer", backwards)
    said = [{"role": "system", "content": f"rule {n}"} for n in range(12)] + [{"role": "system", "content": "rule 3"}]
    assert template.text(said, {}).count("rule") == 13
    dropping = ChatTemplate("system", lambda messages, **_: backwards(messages[:-1]))
    with pytest.raises(InvalidArgument, match=r"leaves out messages\[12\]"):
        dropping.text([*said[:-1], {"role": "system", "content": "rule of its own"}], {})
