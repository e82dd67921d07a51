"""Pairs by a language model: read strictly, filtered, counted, and never fatal."""

from __future__ import annotations

import json

import pytest

from semcache.errors import UpstreamError
from semcache.train.pairs import Pair
from semcache.train.synthesize import Counts
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

    async def down(instructions: str, text: str) -> str:
        raise UpstreamError("down")

    with pytest.raises(UpstreamError, match="down"):
        await made(down, Counts(), ("How do I pay?",) * 1000)
