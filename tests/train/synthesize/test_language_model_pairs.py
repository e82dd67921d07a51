"""Pairs by a language model: read strictly, filtered, counted, and never fatal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest

from semcache.errors import UpstreamError
from semcache.train.pairs import Pair
from semcache.train.synthesize import Counts
from semcache.train.synthesize.chat_model import ChatModel
from semcache.train.synthesize.language_model_pairs import PATIENCE, Ask, synthesize_asking

PARAPHRASES = json.dumps(["How can I pay?", "ways to pay"])
NEAR = json.dumps(
    [{"change": "negation", "prompt": "How do I not pay?"}, {"change": "mood", "prompt": "Why do I pay?"}]
)


def says(paraphrase: str, near: str) -> Ask:
    async def ask(instructions: str, text: str) -> str:
        assert isinstance(json.loads(text)["prompt"], str)
        return near if "near misses" in instructions else paraphrase

    return ask


async def made(ask: Ask, counts: Counts, prompts: tuple[str, ...] = ("How do I pay?",)) -> list[Pair]:
    return [pair async for pair in synthesize_asking(prompts, ask, model="m", each=3, counts=counts)]


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "<think>hm, []</think>\n{}"])
async def test_both_steps_give_pairs_that_name_the_model(wrap: str) -> None:
    pairs = await made(says(wrap.replace("{}", PARAPHRASES), wrap.replace("{}", NEAR)), Counts())
    assert [(pair.two, pair.same, pair.kind) for pair in pairs] == [
        ("How can I pay?", True, "paraphrase"),
        ("ways to pay", True, "paraphrase"),
        ("How do I not pay?", False, "negation"),
        ("Why do I pay?", False, "near-miss"),
    ]
    assert {pair.made for pair in pairs} == {"llm:m"}


@pytest.mark.parametrize(
    "bad",
    [
        "", "Sure! " + NEAR, "{}", '["a string"', "[1, 2]", '[{"change": "x"}]', "[" * 9999,
        '[{"change":"x","prompt":"abc","more":1}]',
    ],
)  # fmt: skip
async def test_a_reply_of_another_shape_is_counted_and_gives_nothing(bad: str) -> None:
    counts = Counts()
    assert await made(says(bad, bad), counts) == []
    assert counts.dropped["bad reply"] == 2


async def test_a_paraphrase_that_a_guard_vetoes_is_dropped() -> None:
    counts = Counts()
    pairs = await made(
        says(json.dumps(["How do I pay 50 euros?", "ways to pay"]), "[]"), counts, ("Ways to pay 20 euros?",)
    )
    assert not any("50" in pair.two for pair in pairs)
    assert counts.dropped["vetoed"] >= 1


async def test_failed_calls_are_survived_until_they_do_not_end() -> None:
    calls = 0

    async def ask(instructions: str, text: str) -> str:
        nonlocal calls
        calls += 1
        if calls <= PATIENCE - 2:
            raise UpstreamError("down")
        return NEAR if "near misses" in instructions else PARAPHRASES

    counts = Counts()
    assert len(await made(ask, counts, ("How do I pay?",) * 20)) > 20
    assert counts.dropped["no reply"] == PATIENCE - 2
    assert counts.no_reply is not None

    async def down(instructions: str, text: str) -> str:
        raise UpstreamError("down")

    with pytest.raises(UpstreamError, match="down"):
        await made(down, Counts(), ("How do I pay?",) * 1000)


class Limited:
    """A provider that refuses the first requests, and says when to come again."""

    def __init__(self, *refusals: tuple[int, dict[str, str]]) -> None:
        self.refusals, self.asked = list(refusals), 0

    async def send(self, _: object) -> object:
        self.asked += 1
        status, headers = self.refusals.pop(0) if self.refusals else (200, {})
        body = b'{"choices": [{"message": {"role": "assistant", "content": "[]"}}]}' if status == 200 else b"too many"

        async def chunks() -> AsyncIterator[bytes]:
            yield body

        async def close() -> None: ...

        return SimpleNamespace(status=status, headers=list(headers.items()), chunks=chunks, close=close)


@pytest.mark.parametrize(
    ("refusals", "slept"),
    [
        ([(429, {"retry-after": "7"}), (503, {})], [7.0, 2.0]),
        ([(429, {"retry-after": "3600"})], [60.0]),
        ([(429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"})], [1.0]),
        ([(401, {})], None),
        ([(429, {"retry-after": "60"})] * 6, None),
    ],
)
async def test_a_provider_that_says_to_come_later_is_asked_again_then(
    refusals: list[tuple[int, dict[str, str]]], slept: list[float] | None
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    provider = Limited(*refusals)
    model = ChatModel(provider, "m", sleep=sleep)  # type: ignore[arg-type]
    if slept is not None:
        assert await model("instructions", "text") == "[]"
        assert waited == slept
        return
    with pytest.raises(UpstreamError, match=rf"status {refusals[0][0]}: b'too many'"):
        await model("instructions", "text")
    assert sum(waited) <= 300
