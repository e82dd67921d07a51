"""Opening a cache from settings: who judges, who goes first, and that nothing is left open."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.cache import common_parts, opening
from semcache.config.settings import Settings
from semcache.errors import ConfigError
from semcache.learning.judges.by_language_model import LlmJudge
from semcache.types import Store


class Door:
    """A backend that is only opened and closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def send(self, outbound: Any) -> Any:
        raise AssertionError("nothing was to be asked")

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> list[Door]:
    made: list[Door] = []

    def backend_for(*_: Any, **__: Any) -> Door:
        made.append(Door())
        return made[-1]

    monkeypatch.setattr(opening, "backend_for", backend_for)
    return made


def settings(folder: Path, **judge: Any) -> Settings:
    return Settings.load({"data": str(folder), "embedder": "hashing", "cache.judge": "llm", **judge}, {}, None)


async def test_a_judge_that_is_a_model_gets_a_backend_of_its_own_that_is_closed(
    tmp_path: Path, doors: list[Door]
) -> None:
    components = await opening.open_from(settings(tmp_path, **{"judge.model": "small"}), clock=lambda: 0.0)
    assert isinstance(components.judge, LlmJudge)
    await components.closing.aclose()
    assert [door.closed for door in doors] == [1]


async def test_a_backend_that_is_given_is_its_owners_to_close(tmp_path: Path, doors: list[Door]) -> None:
    given = Door()
    components = await opening.open_from(
        settings(tmp_path, **{"judge.model": "small"}), clock=lambda: 0.0, judge_backend=given
    )
    await components.closing.aclose()
    assert (doors, given.closed) == ([], 0)


async def test_what_cannot_be_opened_leaves_no_backend_behind(tmp_path: Path, doors: list[Door]) -> None:
    with pytest.raises(ConfigError, match="model"):
        await opening.open_from(settings(tmp_path), clock=lambda: 0.0)
    assert [door.closed for door in doors] == [1]


@pytest.mark.parametrize(
    ("judge", "verifier"), [("verifyer", "off"), ("llm", "off"), ("exact", "model")], ids=["unknown", "lacking", "late"]
)
async def test_whatever_fails_at_the_start_leaves_embedder_and_store_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: str, verifier: Any
) -> None:
    made: list[Any] = []

    def kept(make: Any) -> Any:
        def wrapper(*args: Any, **named: Any) -> Any:
            part = make(*args, **named)
            closed = part.close

            async def close() -> None:
                made.remove(part)
                await closed()

            part.close = close
            made.append(part)
            return part

        return wrapper

    def broken(*_: Any, **__: Any) -> Any:
        raise ConfigError("the verifier cannot be loaded")

    monkeypatch.setattr(common_parts, "open_embedder", kept(common_parts.open_embedder))
    monkeypatch.setattr(opening, "IndexOwner", kept(opening.IndexOwner))
    monkeypatch.setattr(opening, "verifiers_for_library", broken)
    with pytest.raises(ConfigError):
        await opening.open_components(
            opening.Opening(data=str(tmp_path), judge=judge, embedder="hashing", clock=lambda: 0.0, verifier=verifier)
        )
    assert made == []


async def test_a_judge_of_a_plug_in_is_given_the_backend_that_settings_name(
    tmp_path: Path, doors: list[Door], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    class Mine:
        name, instant = "mine", True

        async def agree(self, comparison: Any) -> bool | None:
            return None

    def make(kind: str, name: str, **parts: Any) -> Any:
        given.update(parts)
        return Mine()

    monkeypatch.setattr("semcache.config.plugins.names", lambda kind: ["mine"] if kind == "judges" else [])
    monkeypatch.setattr("semcache.config.plugins.make", make)
    chosen = settings(tmp_path, **{"cache.judge": "mine", "judge.model": "small"})
    components = await opening.open_from(chosen, clock=lambda: 0.0)
    assert (given["backend"], given["model"], given["embedder"]) == (doors[0], "small", components.embedder)
    await components.closing.aclose()
    assert [door.closed for door in doors] == [1]


async def test_the_pack_says_how_many_answers_are_kept_in_all_and_which_go_first(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("name: test\ncapacity: 3\ndefaults: {strategy: static, eviction: lru}\ncategories: {other: {}}\n")
    async with await AsyncSemanticCache.open(
        str(tmp_path / "data"), policies=str(pack), embedder="hashing", seed=1
    ) as cache:
        for number in range(4):
            found = await cache.lookup(f"Question {number}", category="other" if number % 2 else "default")
            assert isinstance(await cache.record(found, f"Answer {number}"), Store)
            # What is asked for again stays.
            assert (await cache.lookup("Question 0", category="default")).answer == "Answer 0"
        await cache.settle()
        assert len(cache.registry) == 3
        assert (await cache.lookup("Question 0", category="default")).answer == "Answer 0"


async def test_an_evicted_answer_that_the_store_still_holds_is_not_taken_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("name: test\ncapacity: 2\ndefaults: {strategy: static, eviction: lru}\ncategories: {}\n")
    async with await AsyncSemanticCache.open(
        str(tmp_path / "data"), policies=str(pack), embedder="hashing", seed=1
    ) as cache:
        released, delete = asyncio.Event(), cache.components.store.delete

        async def late(*args: Any, **options: Any) -> Any:
            await released.wait()
            return await delete(*args, **options)

        monkeypatch.setattr(cache.components.store, "delete", late)
        for number in range(3):
            await cache.record(await cache.lookup(f"Question {number}"), f"Answer {number}")
        await cache.catch_up()
        assert (await cache.lookup("Question 1")).answer == "Answer 1"
        released.set()
