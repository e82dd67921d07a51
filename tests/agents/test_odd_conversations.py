"""Whatever a client's conversation holds: a run can be read of it, or there is one reason why not."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from semcache.agents import run
from semcache.agents.capture import distil
from semcache.agents.nearhits import place
from semcache.agents.nearhits.example import NearExample
from semcache.agents.run import NoRun
from semcache.agents.tools.history import History
from semcache.agents.tools.rules import ToolRules
from semcache.dialects import dialects
from semcache.errors import RequestRejected
from semcache.proxy import plan_dialects
from semcache.types import Endpoint
from tests.agents.worlds import SALT, TOOLS, cancelling
from tests.dialects.odd import ANSWERS, REQUESTS, mutants, surviving

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

AGENTS = pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES], ids=str)


def read_messages(messages: Any, tools: Any) -> None:
    for read in (run.read, run.task_of, run.turns_of):
        with suppress(NoRun):
            read(messages)
    with suppress(NoRun):
        distil(run.read(messages), run.tools(tools), salt=SALT)
    with suppress(NoRun):
        History.of(messages, ToolRules(), tools=tools if isinstance(tools, list) else ())


@AGENTS
def test_any_field_of_an_agents_request_may_hold_anything(endpoint: Endpoint) -> None:
    example = NearExample(1, b"p", "Asked", "Answered", np.zeros(4, dtype=np.float32), 0.0)

    def check(document: Any) -> None:
        raw = json.dumps(document).encode()
        try:
            dialects()[endpoint].read(raw)
        except RequestRejected:
            return
        place.placed(endpoint, raw, [example], "m")
        place.restated(endpoint, raw, "Asked")
        plan_dialects.other_wish(endpoint, raw)
        read = plan_dialects.conversation(endpoint, raw)
        if read is not None:
            read_messages(*read)
            plan_dialects.with_hint(endpoint, raw, "hint")

    surviving(REQUESTS[endpoint], check)
    given(mutants(REQUESTS[endpoint]))(check)()


@AGENTS
def test_any_field_of_an_agents_answer_may_hold_anything(endpoint: Endpoint) -> None:
    def check(document: Any) -> None:
        said = plan_dialects.read_answer(endpoint, json.dumps(document).encode())
        assert said is None or isinstance(said, dict)

    surviving([ANSWERS[endpoint]], check)
    given(mutants([ANSWERS[endpoint]]))(check)()


def test_any_field_of_a_run_may_hold_anything() -> None:
    whole = {"messages": cancelling("ann_lee_1", "OBUT9V"), "tools": TOOLS}

    def check(document: Any) -> None:
        if isinstance(document, dict) and isinstance(document.get("messages"), list):
            read_messages(document["messages"], document.get("tools"))

    surviving([whole], check)
    given(mutants([whole]))(check)()
