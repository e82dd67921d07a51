"""Conversations in other words at shipped defaults: which are the same one, and what is never taken for it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.config.packs import packs_dir
from semcache.matching import chains
from semcache.matching.verification import Verifiers

OIL = [
    "How do I change the oil of a car?",
    "Drain the old oil, replace the filter and refill.",
    "How often is that done?",
]
SAFE = ["Is it safe to take ibuprofen with paracetamol?", "Yes, for most adults.", "For how many days?"]


def chat(*texts: str) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def tracked(question: str, parcel: int, result: str, said: str | None, last: str) -> list[dict[str, Any]]:
    arguments = json.dumps({"parcel": parcel})
    call = {"id": f"call_{question}", "type": "function", "function": {"name": "track", "arguments": arguments}}
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": result},
        {"role": "assistant", "content": "It is in the depot."},
        {"role": "user", "content": last},
    ]


@pytest.fixture
async def cache() -> AsyncIterator[AsyncSemanticCache]:
    async with await AsyncSemanticCache.open("memory://", seed=7) as opened:
        yield opened


async def keep(cache: AsyncSemanticCache, messages: list[dict[str, Any]], answer: str = "An answer.") -> None:
    await cache.record(await cache.lookup(messages), answer)


async def test_an_earlier_question_of_equal_wording_needs_no_embedding(cache: AsyncSemanticCache) -> None:
    await keep(cache, chat(*OIL))
    found = await cache.lookup(chat("How can I change the oil of a car??", *OIL[1:]))
    assert (found.answer, found.why) == ("An answer.", "wording")
    assert cache.components.wordings.tier.standing()


async def test_a_chain_of_turns_in_other_words_is_served_in_a_stratum_of_its_own(cache: AsyncSemanticCache) -> None:
    await keep(cache, chat(*OIL))
    found = await cache.lookup(chat("How do you do an oil change on a car?", *OIL[1:]))
    assert found.answer == "An answer."
    [standing] = [one for rows in cache.components.wordings.tier.standing().values() for one in rows]
    assert (standing.edit, standing.served) == ("turns", 1)


@pytest.mark.parametrize(("word", "served"), [(0.7, None), (0.8, "An answer.")])
async def test_a_verifier_that_doubts_one_turn_settles_the_chain(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch, word: float, served: str | None
) -> None:
    async def of_pair(*_: object) -> float:
        return word

    monkeypatch.setattr(Verifiers, "of_pair", of_pair)
    monkeypatch.setattr(chains, "sure_alone", lambda _: False)
    monkeypatch.setattr(chains, "holds", lambda _: True)
    await keep(cache, chat(*OIL))
    assert (await cache.lookup(chat("How do you do an oil change on a car?", *OIL[1:]))).answer == served


@pytest.mark.parametrize(
    "opening",
    [
        "How do I change the oil of a motorcycle?",
        "How do I change the tyres of a car?",
        "How do I not change the oil of a car?",
        "Where do I buy a car?",
    ],
)
async def test_a_changed_detail_in_an_earlier_turn_is_another_conversation(
    cache: AsyncSemanticCache, opening: str
) -> None:
    await keep(cache, chat(*OIL))
    found = await cache.lookup(chat(opening, *OIL[1:]))
    assert found.answer is None


async def test_the_beginning_of_another_conversation_is_not_overlooked(cache: AsyncSemanticCache) -> None:
    await keep(cache, chat(*OIL))
    await keep(cache, chat(*SAFE), "Another answer.")
    assert (await cache.lookup(chat(*SAFE[:2], OIL[2]))).answer is None


async def test_equal_results_of_tools_allow_other_words_around_them(cache: AsyncSemanticCache) -> None:
    last = "When does a parcel from there usually arrive?"
    await keep(cache, tracked("Where is my parcel 4711?", 4711, "depot Leeds", None, last))
    same = tracked("Can you tell me where parcel 4711 is?", 4711, "depot Leeds", "Let me look.", last)
    assert (await cache.lookup(same)).answer == "An answer."
    for changed in (
        tracked("Can you tell me where parcel 4711 is?", 4711, "depot York", None, last),
        tracked("Can you tell me where parcel 4712 is?", 4711, "depot Leeds", None, last),
        tracked("Can you tell me where parcel 4711 is?", 4712, "depot Leeds", None, last),
    ):
        assert (await cache.lookup(changed)).answer is None


async def test_a_language_model_reads_the_whole_conversations(tmp_path: Path) -> None:
    shown: list[tuple[str, str]] = []

    class Model:
        async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
            shown.append((query, cached_query))
            return 0.97

    pack = tmp_path / "pack.yaml"
    shipped = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
    pack.write_text(shipped.replace("verify: verifier", "verify: llm", 1), encoding="utf-8")
    async with await AsyncSemanticCache.open("memory://", verifier=Model(), policies=str(pack), seed=7) as cache:
        await keep(cache, chat(*SAFE))
        found = await cache.lookup(chat("Are ibuprofen and paracetamol safe to take together?", *SAFE[1:]))
    assert found.answer == "An answer."
    assert shown == [
        (
            "user: Are ibuprofen and paracetamol safe to take together?\nassistant: Yes, for most adults.\n"
            "user: For how many days?",
            "user: Is it safe to take ibuprofen with paracetamol?\nassistant: Yes, for most adults.\n"
            "user: For how many days?",
        )
    ]
