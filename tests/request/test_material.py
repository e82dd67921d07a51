"""A question that material in the request answers is asked of no moment and of nobody's records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache

TOLD = [
    ('Text: "Anna moved from Graz to Linz in 2019 and works as a baker."\nTask: Where does Anna live now?'),
    "Article: The bridge at Orsova is closed because of a landslide.\n\nQuestion: Is the bridge at Orsova closed?",
    "Passage: The company is now led by Ines Roth, who was its chief lawyer.\n\nQuestion: Who leads the company now?",
    "Context: The current president of the club is Mara Lind.\n\nQuestion: Who is the current president of the club?",
    "<context>The printer on floor 3 is not working.</context>\n<question>Is that printer working now?</question>",
    "Knowledge base:\n- Refunds take 5 working days.\n\nCustomer question: how long until I get my refund\n\nReply:",
    "Facts: A parcel takes 3 to 5 days to Austria.\n\nQuestion: How many days until my parcel gets to Austria?",
]
UNTOLD = [
    "Context: You are the assistant of Acme Weather, be brief.\n\nQuestion: What's the weather in Paris today?",
    "Context: The user lives in Paris and likes short answers.\n\nQuestion: What's the weather in Paris today?",
    "Context: The museum is open from 9 to 18, on Mondays it is closed.\n\nQuestion: Is the museum open now?",
    "Context: The museum closes at 18:00 every day, so come early.\n\nQuestion: Is the museum open?",
    "Knowledge base: Refunds take 5 working days and go to the card.\n\nQuestion: Where is my refund?",
    "Knowledge base: Orders are shipped within 3 days of payment.\n\nQuestion: What's the status of my order?",
    "Context: Customer: Anna Lind, refund of 5 days ago is open.\n\nQuestion: How long until I get my refund?",
    "Context: Support of Acme answers within 2 days, be polite.\n\nQuestion: How much do I owe?",
    "You are a support assistant who answers in 5 days.\n\nCustomer: how long until I get my refund",
    "Context: We sell bitcoin at the price of the day.\n\nQuestion: What's the price of bitcoin?",
    "Context: Anna moved from Graz to Linz.\n\nQuestion: Where does Bob work now?",
]


@pytest.mark.parametrize("text", TOLD)
async def test_what_material_tells_is_kept(text: str, tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path)) as cache:
        await cache.record(await cache.lookup(text), "An answer.")
        again = await cache.lookup(text)
    assert again.answer == "An answer."


@pytest.mark.parametrize("text", UNTOLD)
async def test_what_material_does_not_tell_is_asked_anew(text: str, tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path)) as cache:
        await cache.record(await cache.lookup(text), "An answer.")
        again = await cache.lookup(text)
    assert again.answer is None


@pytest.mark.parametrize("text", [TOLD[0], TOLD[5]])
async def test_with_tools_an_answer_may_come_from_elsewhere(text: str, tmp_path: Path) -> None:
    tool: dict[str, Any] = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    async with await AsyncSemanticCache.open(str(tmp_path)) as cache:
        kept = await cache.lookup(text, tools=[tool])
        await cache.record(kept, "An answer.")
        again = await cache.lookup(text, tools=[tool])
    assert again.answer is None
