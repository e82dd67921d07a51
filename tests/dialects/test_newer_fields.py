"""Fields of newer versions of the APIs: tools that come with a message, moderation, hints of prompt caches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.protocols import Dialect
from semcache.types import Endpoint, Request

CHAT, RESPONSES, MESSAGES = (dialects()[name] for name in (Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES))


def read(dialect: Dialect, **body: Any) -> Request:
    return dialect.read(json.dumps({"model": "m", **body}).encode())


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("dialect", "asked"), [(CHAT, {"messages": [user("hi")]}), (RESPONSES, {"input": "hi"})], ids=["chat", "responses"]
)
def test_an_answer_with_the_moderation_of_its_prompt_tells_of_that_prompt(dialect, asked):
    assert read(dialect, moderation={"model": "omni"}, **asked).traits.repeats_prompt
    assert not read(dialect, moderation=None, **asked).traits.repeats_prompt
