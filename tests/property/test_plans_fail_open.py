"""Whatever fails, and whatever stands in a slot, a plan makes the calls that the model would have made, or none."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plans import Plans
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.protocols import Outbound
from semcache.proxy.plan_service import PlanService
from tests.agents.worlds import asked, called, tool
from tests.property.faulty import broken_answers, failing
from tests.proxy.driver import Answer, Call, Received, Upstream, running
from tests.proxy.test_small_plans import PACK as SMALL_PACK
from tests.proxy.test_small_plans import World as SmallWorld
from tests.proxy.test_small_plans import models as two_models
from tests.proxy.test_small_plans import reason_of, task

TOOLS = [tool("send", user_id="string", text="string"), tool("refund", order="integer", amount="number")]
FORMS = {"send": "Send the note {} to user {}, please", "refund": "Refund order {} with {} coins"}
KNOWN = {
    "send": [("hello", "ann_lee_1"), ("see you", "bo_ray_2"), ("good bye", "cy_fox_3")],
    "refund": [("17", "3"), ("23", "8"), ("41", "12")],
}
NEW = {"send": ("hi there", "di_moe_4"), "refund": ("99", "5")}
PACK = "name: plans\ndefaults: {strategy: static, threshold: 1.0, wording: off, semantic: false}\n"
ODD = (
    '"', "\\", '\\"}', '{"a": 1}', "[1]", "[]", "{0}", "{user_id}", "${x}", "<b>", "a\nb", "x" * 5000, "word " * 200,
    "🙂", "hi 🙂", "🙂 hi", "\u202eabc\u202c", "\u200bz", "z\u200b", "\U000e0041x", "e\u0301",
    "\x00", "１２", "٣", "-1",
    "- 1", "+5", "1e9", "1e999", "NaN", "Infinity", "null", "true", "0x10", "1_000", "1.5", "1.0", "007", "½",
    "①", "5%",
    "$5", "€5", "5'", '5"', "99999999999999999999999", "12345678901234567", "../../etc", "~root", "a/b", "C++", "C#",
    "@ann", "#ann", "a & b", "> 5", "< 5", "= 5", "*", "**x**", "to user bob", "hello to user bob_2", "hi, please",
    "'; DROP TABLE x; --", "not ann", "ann or bob", "everyone", "all users", "him", "the same user",
)  # fmt: skip


def wanted(outbound: Outbound) -> dict[str, Any]:
    """What the model says next: a call with what stands in the task, character by character, or its last word."""
    messages = json.loads(outbound.body)["messages"]
    text = next(one["content"] for one in messages if one["role"] == "user")
    if any(one["role"] == "tool" for one in messages):
        return {"role": "assistant", "content": "Done."}
    if found := re.fullmatch(r"Send the note (.*) to user (.*), please", text, re.DOTALL):
        return called(("send", {"user_id": found[2], "text": found[1]}, ""))[0]
    if found := re.fullmatch(r"Refund order ([+-]?\d+)(?:\.0)? with ([+-]?\d+|\d+\.\d+) coins", text):
        return called(("refund", {"order": int(found[1]), "amount": float(found[2])}, ""))[0]
    return {"role": "assistant", "content": "I do not understand."}


def model(outbound: Outbound) -> Answer:
    message = wanted(outbound)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Answer([json.dumps({**body, "usage": {"prompt_tokens": 5, "completion_tokens": 3}}).encode()])


def calls_of(message: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        (
            one["function"]["name"],
            {name: plainly(value) for name, value in json.loads(one["function"]["arguments"]).items()},
        )
        for one in message.get("tool_calls") or []
    ]


def plainly(value: Any) -> Any:
    """A value without the punctuation of the sentence around it, and without a pair of quotation marks or brackets."""
    if not isinstance(value, str):
        return value
    value = re.sub(r"^(?:[-–—.,!?;:…]+\s+(?!\d))+|(?:\s+[-–—.,!?;:…]+|[\s.,!?;:…]+)+$", "", value)
    paired = len(value) > 1 and value[0] + value[-1] in ('""', "''", "()", "``", "“”", "‘’", "«»")
    return plainly(value[1:-1]) if paired else value


async def ask(proxy: Any, messages: list[Any]) -> Received:
    # Written by json, which escapes what is no character of UTF-8.
    return await Call(proxy, json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()).reply()


async def run(proxy: Any, text: str) -> None:
    """A whole run, and that it ended well."""
    messages = asked(text)
    while True:
        reply = await ask(proxy, messages)
        said = reply.json["choices"][0]["message"]
        messages.append(said)
        if not said.get("tool_calls"):
            break
        messages += [{"role": "tool", "tool_call_id": one["id"], "content": '"ok"'} for one in said["tool_calls"]]
    outcome = {"run": reply.header("x-semcache-run"), "success": True}
    await Call(proxy, outcome, "/semcache/plans/outcome").reply()


async def check(proxy: Any, text: str) -> bool:
    """Ask for the first step of a task; return True if a plan said it."""
    messages = asked(text)
    reply = await ask(proxy, messages)
    assert reply.status == 200, reply.body
    said = reply.json["choices"][0]["message"]
    right = wanted(Outbound("POST", "/", [], json.dumps({"messages": messages}).encode()))
    assert calls_of(said) == calls_of(right), text[:200]
    return bool(reply.cache.get("detail") == "plan")


@asynccontextmanager
async def taught(folder: Path, **settings: Any) -> AsyncIterator[Any]:
    async with running(Upstream(model), folder, pack=PACK, plans__mode="answer", **settings) as proxy:
        for kind, pairs in KNOWN.items():
            for pair in pairs:
                await run(proxy, FORMS[kind].format(*pair))
        for kind, pair in NEW.items():
            assert await check(proxy, FORMS[kind].format(*pair)), "there is a plan"
        yield proxy


def put(kind: str, place: int, odd: str) -> str:
    pair = list(NEW[kind])
    pair[place] = odd
    first, middle, last = FORMS[kind].split("{}")
    return first + pair[0] + middle + pair[1] + last


async def test_what_stands_in_a_slot_is_what_is_called_with(tmp_path: Path) -> None:
    rng = random.Random(16)
    async with taught(tmp_path) as proxy:
        for kind in FORMS:
            for place in (0, 1):
                for odd in ODD:
                    await check(proxy, put(kind, place, odd))
                for _ in range(60):
                    signs = "".join(
                        rng.choices("ab1 .,-/\\'\"()[]{}<>@#$%&*+=~^|:;!?_\u200d\u0301é中🙂", k=rng.randint(1, 6))
                    )
                    # A trailing space belongs to the sentence, as far as anybody can tell.
                    await check(
                        proxy, put(kind, place, "x" + signs.strip() + "y" if rng.random() < 0.5 else signs.strip())
                    )


@pytest.mark.parametrize("where", ["content", "arguments", "tools"])
async def test_half_of_a_character_is_refused_or_forwarded(tmp_path: Path, where: str) -> None:
    half = "\ud800"
    async with taught(tmp_path) as proxy:
        messages = asked(FORMS["send"].format(half if where == "content" else "hi", "di_moe_4"))
        if where == "arguments":
            messages += called(("send", {"user_id": half, "text": half}, half))
        tools = [{**TOOLS[0], "function": {**TOOLS[0]["function"], "description": half}}] if where == "tools" else TOOLS
        reply = await Call(proxy, json.dumps({"model": "m", "messages": messages, "tools": tools}).encode()).reply()
        assert reply.status == 400
        assert "JSON" in reply.json["error"]["message"]


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
@pytest.mark.parametrize("part", ["store", "library", "embedder", "plans", "service"])
async def test_with_a_part_failing_every_step_is_the_models(
    tmp_path: Path, part: str, store: str, request: pytest.FixtureRequest
) -> None:
    places: dict[str, list[tuple[Any, str]]] = {
        "store": [],
        "library": [(PlanLibrary, "keep"), (PlanLibrary, "vector"), (PlanLibrary, "index_of")],
        "embedder": [(HashingEmbedder, "embed")],
        "plans": [(Plans, "lookup"), (Plans, "record"), (Plans, "outcome")],
        "service": [(PlanService, "serve"), (PlanService, "learn"), (PlanService, "run")],
    }
    url = f"sqlite:///{tmp_path / 'plans.db'}" if store == "sqlite" else request.getfixturevalue("postgres_url")
    rng = random.Random(part)
    async with taught(tmp_path, store__url=url) as proxy:
        with failing(rng, 0.4, *places[part]):
            for number in range(30):
                kind = rng.choice(list(FORMS))
                pair = (str(number), "7") if kind == "refund" else ("a word", f"new_user_{number}")
                await check(proxy, FORMS[kind].format(*pair))
        assert await check(proxy, FORMS["refund"].format(1234, 7)) or part == "store"


@pytest.mark.parametrize("broken", range(len(broken_answers("small"))))
async def test_with_the_small_model_failing_the_named_one_plans(tmp_path: Path, broken: int) -> None:
    """The small model, once certified, fills the open slot of a plan and has its last word."""
    faulty, way = False, broken_answers("small")[broken]

    def answer(outbound: Outbound) -> Any:
        if faulty and json.loads(outbound.body)["model"] == "small":
            return way()
        return two_models(outbound)

    upstream = Upstream(answer)
    settings = {"plans__mode": "answer", "plans__small__model": "small", "cache__judge": "exact", "cache__seed": 1}
    async with running(upstream, tmp_path, pack=SMALL_PACK, plans__small__timeout=0.2, **settings) as proxy:
        here = await SmallWorld(proxy, upstream).certified()
        faulty = True
        for _ in range(3):
            replies = await here.run()
            assert {reply.status for reply in replies} == {200}
            assert here.executed[-1]["reason"] == reason_of(task(here.runs))
            assert replies[-1].json["choices"][0]["message"]["content"] == f"Cancelled for ann_lee_{here.runs}."
