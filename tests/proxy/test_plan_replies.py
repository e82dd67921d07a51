"""Replies of plans: a call for a model that wants its signature back, and why a request gets none."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.proxy.plan_service import PlanReply, Unplanned
from semcache.types import Endpoint
from tests.proxy.test_plan_service import CALLED, TASK, learned, request


@pytest.mark.parametrize(
    ("model", "signed"),
    [
        ("gemini-3-pro-preview", True),
        ("google/gemini-3.1-flash", True),
        ("gemini-flash-latest", True),
        ("gemini-2.5-pro", False),
        ("models/gemini-1.5-flash", False),
        ("gpt-4o-mini", False),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_for_a_model_that_wants_signatures_back_has_its_word_for_none(
    model: str, signed: bool, stream: bool
) -> None:
    service, dialect = await learned(Endpoint.CHAT), dialects()[Endpoint.CHAT]
    served = await service.serve(dialect, request(Endpoint.CHAT, TASK, model=model, stream=stream), [], "7")
    assert isinstance(served, PlanReply)
    told = b'"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}'
    assert (told in served.payload) is signed


@pytest.mark.parametrize(
    ("endpoint", "fields", "why"),
    [
        (Endpoint.CHAT, {"n": 2}, "tool-choice; n"),
        (Endpoint.CHAT, {"tool_choice": "none"}, "tool-choice"),
        (Endpoint.MESSAGES, {"thinking": {"type": "enabled", "budget_tokens": 1024}}, "tool-choice; thinking"),
        (Endpoint.RESPONSES, {"store": True}, 'stored-response; send "store": false'),
    ],
)
async def test_a_request_that_no_plan_may_answer_is_told_by_which_field(
    endpoint: Endpoint, fields: dict[str, Any], why: str
) -> None:
    service, dialect = await learned(endpoint), dialects()[endpoint]
    served = await service.serve(dialect, request(endpoint, TASK, **fields), [], "8")
    assert isinstance(served, Unplanned)
    found = served.found
    assert (f"{found.why}; {found.detail}" if found.detail else found.why) == why


async def test_calls_of_chat_have_ids_that_mistral_takes_and_each_step_has_its_own() -> None:
    service, dialect = await learned(Endpoint.CHAT), dialects()[Endpoint.CHAT]
    ids = []
    for messages in (TASK, CALLED, TASK):
        served = await service.serve(dialect, request(Endpoint.CHAT, messages), [], "7")
        assert isinstance(served, PlanReply)
        ids.append(json.loads(served.payload)["choices"][0]["message"]["tool_calls"][0]["id"])
    assert [re.fullmatch(r"[a-zA-Z0-9]{9}", one) is not None for one in ids] == [True, True, True]
    assert ids[0] == ids[2] != ids[1]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("model", "thought"), [("deepseek-v4-pro", True), ("moonshotai/Kimi-K2-Thinking", True), ("gpt-4o", False)]
)
async def test_a_call_for_a_model_that_wants_its_thoughts_back_has_a_space_for_them(
    model: str, thought: bool, stream: bool
) -> None:
    service, dialect = await learned(Endpoint.CHAT), dialects()[Endpoint.CHAT]
    served = await service.serve(dialect, request(Endpoint.CHAT, TASK, model=model, stream=stream), [], "7")
    assert isinstance(served, PlanReply)
    assert (b'"reasoning_content":" "' in served.payload) is thought
