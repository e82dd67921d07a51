"""Earlier turns whose wording decides the answer: code, an order that is pointed to, who does what, the talk itself."""

from __future__ import annotations

import pytest

from semcache import AsyncSemanticCache

Turns = list[dict[str, str]]
CODE, ASKED = "A Python statement. What about it?", "What is x?"


def talk(*said: str) -> Turns:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]


OTHER = {
    "code": (talk("x = 7 // 2", CODE, ASKED), talk("x = 7 / 2", CODE, ASKED)),
    "code of the assistant": (
        talk("How fast is it?", "It is O(n) in all cases.", "Why?"),
        talk("How fast is it?", "It is O(n log n) in all cases.", "Why?"),
    ),
    "code without another sign": (
        talk("Here is my code: if not a or b", "Thanks, I see it.", "What exactly does it do?"),
        talk("Here is my code: if not (a or b)", "Thanks, I see it.", "What exactly does it do?"),
    ),
    "order": (
        talk("I've bought a ficus and a cactus.", "Both are nice plants.", "How often should the latter be watered?"),
        talk("I've bought a cactus and a ficus.", "Both are nice plants.", "How often should the latter be watered?"),
    ),
    "order, two turns on": (
        talk("I've bought a fern and an orchid.", "Nice!", "They are in the kitchen.", "OK.", "Which came first?"),
        talk("I've bought an orchid and a fern.", "Nice!", "They are in the kitchen.", "OK.", "Which came first?"),
    ),
    "who does it": (
        talk("Interview me for a job as a data analyst.", "Sure, let's begin.", "I'm ready. Next?"),
        talk("I will interview you for a job as a data analyst.", "Sure, let's begin.", "I'm ready. Next?"),
    ),
    "the assistant's word": (
        talk("What do you say about it?", "I sold the car to Bob.", "So what do you advise?"),
        talk("What do you say about it?", "Bob sold the car to me.", "So what do you advise?"),
    ),
    "what the assistant said of which": (
        talk("Which flights are there?", "Morning 80 EUR with a bag, evening 95 EUR.", "Is a bag included at night?"),
        talk("Which flights are there?", "Morning 80 EUR, evening 95 EUR with a bag.", "Is a bag included at night?"),
    ),
    "two things the assistant said": (
        talk("Which hotels are there?", "Hotel Rosa has a pool and Hotel Blau is by the beach.", "Is Rosa for kids?"),
        talk("Which hotels are there?", "Hotel Rosa is by the beach and Hotel Blau has a pool.", "Is Rosa for kids?"),
    ),
    "one word in what the assistant said": (
        talk(
            "Suggest a hotel.", "The Mira is 10 minutes from the station, has a sauna and a bar.", "How do I get there?"
        ),
        talk(
            "Suggest a hotel.", "The Mira is 10 minutes from the airport, has a sauna and a bar.", "How do I get there?"
        ),
    ),
    "one thing more that the assistant said": (
        talk("Suggest a hotel.", "The Mira is near the station and has a sauna.", "Can I have dinner there?"),
        talk(
            "Suggest a hotel.",
            "The Mira is near the station, has a sauna and a restaurant.",
            "Can I have dinner there?",
        ),
    ),
    "spelling": (
        talk("I typed: recieve", "OK.", "Did I spell it right?"),
        talk("I typed: receive", "OK.", "Did I spell it right?"),
    ),
    "words to be counted": (
        talk("Count the words in: I'm here", "OK.", "How many are there?"),
        talk("Count the words in: I am here", "OK.", "How many are there?"),
    ),
    "a greeting that is asked about": (
        talk("Hello", "Hello!", "Have we greeted each other yet?"),
        talk("Have we greeted each other yet?"),
    ),
    "greeting": (
        talk("Good morning", "Good morning!", "Which greeting did I use?"),
        talk("Good evening", "Good evening!", "Which greeting did I use?"),
    ),
    "a word that was asked for": (
        talk("Shall I use metric units?", "Do you want me to?", "ok great", "Great!", "How tall is Everest?"),
        talk("Shall I use metric units?", "Do you want me to?", "How tall is Everest?"),
    ),
}
SAME = {
    "praise": (
        talk(
            "What is a noun?", "A word that names a thing.", "perfect, thanks a lot", "You're welcome!", "And a verb?"
        ),
        talk("What is a noun?", "A word that names a thing.", "And a verb?"),
    ),
    "a phrase of the assistant's that moved": (
        talk("How long do eggs keep?", "Eggs keep for about five weeks in the fridge.", "And boiled ones?"),
        talk("How long do eggs keep?", "In the fridge, eggs keep for about five weeks.", "And boiled ones?"),
    ),
    "an assistant that is sorry": (
        talk(
            "My parcel is late.", "I'm sorry to hear that. It is in Leipzig and should arrive on Friday.", "And then?"
        ),
        talk("My parcel is late.", "It is in Leipzig and should arrive on Friday.", "And then?"),
    ),
    "first, which picks nothing": (
        talk("How do I restart nginx?", "Run sudo systemctl restart nginx.", "How can I check the config first?"),
        talk("How can I restart nginx?", "Run sudo systemctl restart nginx.", "How can I check the config first?"),
    ),
}


async def answered(one: Turns, two: Turns, name: str) -> bool:
    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        await cache.record(await cache.lookup(one, tenant=name), "A")
        return (await cache.lookup(two, tenant=name)).answer is not None


@pytest.mark.parametrize("name", OTHER)
async def test_another_conversation_is_never_served(name: str) -> None:
    one, two = OTHER[name]
    assert not await answered(one, two, name)
    assert not await answered(two, one, name)


@pytest.mark.parametrize("name", SAME)
async def test_the_same_conversation_is_served(name: str) -> None:
    one, two = SAME[name]
    assert await answered(one, two, name)


async def test_arguments_of_a_call_have_no_order() -> None:
    def called(arguments: str) -> list[dict[str, object]]:
        call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": arguments}}
        return [
            {
                "role": "user",
                "content": "Find three hotels in Rome." if "q" in arguments[:4] else "Find 3 hotels in Rome.",
            },
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Alpha, Beta, Gamma"},
            {"role": "user", "content": "Which of them is the nearest to the station?"},
        ]

    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        await cache.record(await cache.lookup(called('{"q": "Rome", "limit": 3}')), "Beta")  # type: ignore[arg-type]
        again = await cache.lookup(called('{"limit": 3, "q": "Rome"}'))  # type: ignore[arg-type]
        assert again.answer == "Beta"
