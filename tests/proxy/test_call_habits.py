"""A plan's calls for a model under another name have what the model's own calls had, or its provider refuses them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.proxy.call_habits import MODELS, CallField, CallHabits
from semcache.proxy.plan_service import PlanReply, PlanService
from semcache.types import Endpoint
from tests.proxy.test_plan_service import ANN, TASK, learned, request

SIGNED = {"extra_content": {"google": {"thought_signature": "c2lnbmVk"}}}
THOUGHT = {"reasoning_content": "The user wants to cancel."}


def answer(of_call: dict[str, Any], of_message: dict[str, Any], *, stream: bool) -> bytes:
    """A model's first call with these fields, as it is learned from: whole, or put together from its stream."""
    call = {**ANN[2]["tool_calls"][0], **of_call}
    message = {"role": "assistant", "content": None, "tool_calls": [call], **of_message}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
    if not stream:
        return body
    choice = {"index": 0, "delta": {**message, "tool_calls": [{"index": 0, **call}]}, "finish_reason": "tool_calls"}
    chunk = json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})
    assembler = dialects()[Endpoint.CHAT].assembler()
    assembler.feed(f"data: {chunk}\n\ndata: [DONE]\n\n".encode())
    return assembler.finish().body


async def served(service: PlanService, model: str, *, stream: bool) -> str:
    reply = await service.serve(
        dialects()[Endpoint.CHAT], request(Endpoint.CHAT, TASK, model=model, stream=stream), [], "7"
    )
    assert isinstance(reply, PlanReply)
    return reply.payload.decode()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("of_call", "of_message", "told"),
    [
        (SIGNED, {}, '"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}'),
        ({}, THOUGHT, '"reasoning_content":" "'),
    ],
    ids=["signature", "thought"],
)
async def test_a_call_has_what_calls_of_the_same_model_had(
    of_call: dict[str, Any], of_message: dict[str, Any], told: str, stream: bool
) -> None:
    service = await learned(Endpoint.CHAT)
    assert told not in await served(service, "fast", stream=stream)
    asking = request(Endpoint.CHAT, ANN[:2], model="fast", stream=stream)
    await service.learn(asking, [], answer(of_call, of_message, stream=stream))
    assert told in await served(service, "fast", stream=stream)
    assert told not in await served(service, "other", stream=stream)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"tool_calls": "x"},
        {"tool_calls": [1]},
        {"tool_calls": [{"extra_content": 1}]},
        THOUGHT,
        {"tool_calls": None},
    ],
    ids=str,
)
def test_an_answer_without_calls_or_without_the_fields_shows_nothing(message: dict[str, Any]) -> None:
    habits = CallHabits()
    habits.note("m", message)
    assert habits.of("m") == frozenset()


def test_what_is_known_of_models_is_bounded() -> None:
    habits = CallHabits()
    for number in range(MODELS + 1):
        habits.note(f"m{number}", {"tool_calls": [SIGNED]})
    assert habits.of("m0") == frozenset()
    assert habits.of("m1") == frozenset([CallField.SIGNATURE])
