"""Opening a cache from settings: who judges, who goes first, and that nothing is left open."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from semcache import AsyncSemanticCache
from semcache.cache import common_parts, opening, opening_choices, opening_from_settings
from semcache.config.settings import Settings
from semcache.errors import ConfigError, InvalidArgument
from semcache.learning.judges.by_language_model import LlmJudge
from semcache.matching.label_noise import LabelNoise
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.request.wording import mending
from semcache.storage.stores import open_store
from semcache.types import Selector, Serve, Store
from tests.waiting import PATIENCE, soon

if TYPE_CHECKING:
    from semcache.types import Matrix


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("inf"), float("nan")])
def test_a_time_to_wait_is_a_number_above_zero(tmp_path: Path, timeout: float) -> None:
    with pytest.raises(ConfigError, match=f"timeout={timeout}: .* such as 2.0"):
        opening_choices.Opening(data=str(tmp_path), timeout=timeout)


async def test_the_words_that_slips_are_read_by_are_there_before_the_first_request(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("{name: p, defaults: {wording: off}}")
    mending._pairs.cache_clear()
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(pack), embedder=HashingEmbedder(64)):
        assert mending._pairs.cache_info().currsize == 1


class Slow(HashingEmbedder):
    """Takes its time once `asked` is set."""

    asked = False

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if self.asked:
            await asyncio.sleep(0.05)
        return await super().embed(texts)


@pytest.mark.parametrize(("timeout", "hit"), [(0.01, False), (PATIENCE, True)])
async def test_who_opens_a_cache_says_how_long_a_request_waits(tmp_path: Path, timeout: float, hit: bool) -> None:
    pack, slow = tmp_path / "pack.yaml", Slow(64)
    pack.write_text("{name: p, defaults: {wording: off, strategy: static, threshold: 0.5, guards: []}}")
    async with await AsyncSemanticCache.open("memory://", policies=str(pack), embedder=slow, timeout=timeout) as cache:
        await cache.record(await cache.lookup("How do I reset my password?"), "Click.")
        slow.asked = True
        found = await cache.lookup("How do I reset my old password?")
        assert isinstance(found.lookup.decision, Serve) is hit


async def test_a_folder_may_be_a_path(tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(tmp_path / "data", embedder=HashingEmbedder(64)) as cache:
        await cache.record(await cache.lookup("How do I reset my password?"), "Click.")
    assert (tmp_path / "data").is_dir()


async def test_a_pack_may_be_a_path(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text("{name: of-a-path}")
    for pack in (tmp_path, tmp_path / "pack.yaml"):
        async with await AsyncSemanticCache.open("memory://", policies=pack, embedder=HashingEmbedder(64)) as cache:
            assert cache.pack.name == "of-a-path"


@pytest.mark.parametrize(
    ("data", "options", "told"),
    [
        ("", {}, "names no folder"),
        ("a\0b", {}, "names no folder"),
        (3, {}, "no folder and no URL"),
        ("memory://", {"embeder": "hashing"}, "no option 'embeder': it has .*embedder"),
        ("memory://", {"embedder": None}, "embedder=None"),
        ("memory://", {"judge": None}, "judge=None"),
        ("memory://", {"policies": None}, "policies=None"),
        ("memory://", {"target": "0.01"}, "target='0.01'"),
        ("memory://", {"timeout": "2"}, "timeout='2'"),
    ],
)
async def test_what_opens_no_cache_is_named(data: Any, options: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        await AsyncSemanticCache.open(data, **options)


async def test_a_cache_closes_where_the_system_has_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashingEmbedder(64)
    async with await AsyncSemanticCache.open(str(tmp_path), embedder=embedder) as cache:
        await cache.record(await cache.lookup("How do I reset my password?"), "Click.")
        monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    async with await AsyncSemanticCache.open(str(tmp_path), embedder=embedder) as cache:
        assert (await cache.lookup("How do I reset my password?")).answer == "Click."


async def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="is a file"):
        await AsyncSemanticCache.open(tmp_path / "file")


async def test_what_is_no_finding_and_no_selector_is_named() -> None:
    async with await AsyncSemanticCache.open("memory://", embedder=HashingEmbedder(64)) as cache:
        with pytest.raises(InvalidArgument, match="not str first"):
            await cache.record("How do I pay?", "By card.")  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="give a Selector"):
            await cache.invalidate({"tag": "a"})  # type: ignore[arg-type]


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

    monkeypatch.setattr(opening_from_settings, "backend_for", backend_for)
    return made


def settings(folder: Path, **judge: Any) -> Settings:
    return Settings.load({"data": str(folder), "embedder": "hashing", "cache.judge": "llm", **judge}, {}, None)


async def test_a_judge_that_is_a_model_gets_a_backend_of_its_own_that_is_closed(
    tmp_path: Path, doors: list[Door]
) -> None:
    components = await opening_from_settings.open_from(
        settings(tmp_path, **{"judge.model": "small"}), clock=lambda: 0.0
    )
    assert isinstance(components.judge, LlmJudge)
    await components.closing.aclose()
    assert [door.closed for door in doors] == [1]


@pytest.mark.parametrize(
    ("given", "seconds"), [({}, 20.0), ({"judge.timeout": "90"}, 90.0), ({"judge.timeout": "5"}, 5.0)]
)
async def test_a_judge_has_as_long_as_the_settings_say(
    tmp_path: Path, doors: list[Door], given: dict[str, str], seconds: float
) -> None:
    chosen = settings(tmp_path, **{"judge.model": "small", **given})
    components = await opening_from_settings.open_from(chosen, clock=lambda: 0.0)
    assert isinstance(components.judge, LlmJudge)
    assert components.judge._patience == seconds
    assert components.learner._judge.patience > seconds
    await components.closing.aclose()


async def test_a_backend_that_is_given_is_its_owners_to_close(tmp_path: Path, doors: list[Door]) -> None:
    given = Door()
    components = await opening_from_settings.open_from(
        settings(tmp_path, **{"judge.model": "small"}), clock=lambda: 0.0, judge_backend=given
    )
    await components.closing.aclose()
    assert (doors, given.closed) == ([], 0)


async def test_what_cannot_be_opened_leaves_no_backend_behind(tmp_path: Path, doors: list[Door]) -> None:
    with pytest.raises(ConfigError, match="model"):
        await opening_from_settings.open_from(settings(tmp_path), clock=lambda: 0.0)
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
            opening_choices.Opening(
                data=str(tmp_path), judge=judge, embedder="hashing", clock=lambda: 0.0, verifier=verifier
            )
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
    components = await opening_from_settings.open_from(chosen, clock=lambda: 0.0)
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
    async with await AsyncSemanticCache.open(
        str(tmp_path / "data"), policies=two_entries(tmp_path), embedder="hashing", seed=1
    ) as cache:
        released, delete = asyncio.Event(), cache.components.store.delete

        async def late(*args: Any, **options: Any) -> Any:
            await released.wait()
            return await delete(*args, **options)

        monkeypatch.setattr(cache.components.store, "delete", late)
        try:
            for number in range(3):
                await cache.record(await cache.lookup(f"Question {number}"), f"Answer {number}")
            await cache.catch_up()
            assert (await cache.lookup("Question 1")).answer == "Answer 1"
        finally:
            released.set()


async def test_what_was_evicted_while_the_store_was_read_is_not_taken_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await AsyncSemanticCache.open(
        str(tmp_path / "data"), policies=two_entries(tmp_path), embedder="hashing", seed=1
    ) as cache:
        put_all, (reading, released) = cache.components.store.put_all, slow_vectors(cache, monkeypatch)

        async def put_and_follow(entries: Any) -> None:
            """Store the first entry, and have the store read before the writer makes it findable."""
            monkeypatch.setattr(cache.components.store, "put_all", put_all)
            await put_all(entries)
            await soon(reading.wait())

        monkeypatch.setattr(cache.components.store, "put_all", put_and_follow)
        try:
            for number in range(3):
                await cache.record(await cache.lookup(f"Question {number}"), f"Answer {number}")
        finally:
            released.set()
        await cache.catch_up()
        assert (await cache.lookup("Question 1")).answer == "Answer 1"
        assert (await cache.lookup("Question 2")).answer == "Answer 2"


async def test_what_was_deleted_while_the_store_was_read_is_not_taken_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, policies = str(tmp_path / "data"), two_entries(tmp_path)
    async with (
        await AsyncSemanticCache.open(path, policies=policies, embedder="hashing", seed=1) as other,
        await AsyncSemanticCache.open(path, policies=policies, embedder="hashing", seed=2) as cache,
    ):
        changes, (reading, released) = cache.components.store.changes, slow_vectors(cache, monkeypatch)
        taken_in, told = asyncio.Event(), asyncio.Event()

        async def then_wait(since: int) -> Any:
            """Tell of the deletion only when it was seen that the entry was not taken in."""
            if reading.is_set():
                taken_in.set()
                await told.wait()
            return await changes(since)

        monkeypatch.setattr(cache.components.store, "changes", then_wait)
        try:
            await other.record(await other.lookup("Question 0"), "Answer 0")
            await soon(reading.wait())
            assert len(await cache.invalidate(Selector(category="default"))) == 1
            released.set()
            await soon(taken_in.wait())
            assert len(cache.registry) == 0
        finally:
            released.set()
            told.set()


def slow_vectors(cache: AsyncSemanticCache, patch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Hold back what the store reads for a follower: set when it was read, and to be set for it to arrive."""
    vectors_of, reading, released = cache.components.store.vectors_of, asyncio.Event(), asyncio.Event()

    async def late(*args: Any, **options: Any) -> Any:
        batch = await vectors_of(*args, **options)
        reading.set()
        await released.wait()
        return batch

    patch.setattr(cache.components.store, "vectors_of", late)
    return reading, released


def two_entries(folder: Path) -> str:
    """Write a policy pack that keeps two entries of a category; return its path."""
    pack = folder / "pack.yaml"
    pack.write_text("name: test\ncapacity: 2\ndefaults: {strategy: static, eviction: lru}\ncategories: {}\n")
    return str(pack)


async def test_every_learner_knows_how_often_the_judge_errs(tmp_path: Path, doors: list[Door]) -> None:
    """A learner that did not would take the judge's errors for those of answers, and close what is right."""
    chosen = settings(tmp_path, **{"judge.model": "small", "judge.false_yes": 0.2, "judge.false_no": 0.1})
    components = await opening_from_settings.open_from(chosen, clock=lambda: 0.0)
    log: Any = components.learner.log
    noises = {log.strategy._made["certified"]._noise, log.wordings._noise, log.judged._noise}
    await components.closing.aclose()
    assert noises == {LabelNoise(0.2, 0.1)}


async def test_the_empty_store_that_tests_share_is_what_a_cache_makes_but_for_its_salt(tmp_path: Path) -> None:
    def tables(file: Path) -> set[tuple[str, str]]:
        with closing(sqlite3.connect(file)) as connection:
            return set(connection.execute("SELECT name, sql FROM sqlite_master"))

    salts = set()
    for name in ("one", "two"):
        async with await AsyncSemanticCache.open(str(tmp_path / name), embedder="hashing") as cache:
            salts.add(cache.components.store.salt)
    store = open_store(str(tmp_path / "made.db"))
    await store.open()
    salts.add(store.salt)
    await store.close()
    assert len(salts) == 3
    assert tables(tmp_path / "one" / "semcache.db") == tables(tmp_path / "made.db")
