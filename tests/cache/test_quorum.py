"""A planted answer would reach a colleague the first time that it is near; a quorum wants several who asked for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import AsyncSemanticCache
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening
from semcache.cache.quorum import Quorum
from semcache.config.packs import load
from semcache.proxy.auth import Caller, asker_of
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import Card, Endpoint, Request, Scope, Store, Why
from tests.components import replace_verifiers
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running
from tests.proxy.test_grey_zone import PARAPHRASE, PROMPT, Judge
from tests.proxy.test_judged_modes import asking, held_back

PACK = """
name: held
share: {share}
defaults:
  strategy: static
  threshold: 0.8
  audit: 0
  wording: {wording}
  quorum: {quorum}
"""
KEPT = "How do I reset the password of the router?"
NEAR = "How do I reset the password of the router please?"


def pack(folder: Path, quorum: int = 2, *, wording: str = "off", share: str = "tenant") -> str:
    path = folder / "held.yaml"
    path.write_text(PACK.format(quorum=quorum, wording=wording, share=share))
    return str(path)


async def opened(folder: Path, quorum: int = 2, **options: str) -> AsyncSemanticCache:
    opening = Opening(data=str(folder), policies=pack(folder, quorum, **options), embedder="hashing", seed=1)
    return AsyncSemanticCache(await open_components(opening))


async def asks(cache: AsyncSemanticCache, user: str | None, prompt: str = KEPT, answer: str = "So.") -> Why:
    found = await cache.lookup(prompt, user=user)
    if found.answer is None:
        assert isinstance(await cache.record(found, answer), Store)
        await cache.settle()
    return found.why


@pytest.mark.parametrize(("wording", "asked"), [("off", KEPT), ("off", NEAR), ("[filler, characters]", NEAR)])
async def test_another_user_is_not_served_before_enough_have_asked(tmp_path: Path, wording: str, asked: str) -> None:
    async with await opened(tmp_path, 3, wording=wording) as cache:
        assert [await asks(cache, user, asked) for user in ("ann", "ben", "cat")] == [Why.COLD, Why.QUORUM, Why.QUORUM]
        served = await cache.lookup(asked, user="dan")
        assert served.answer == "So."
        assert (await cache.stats())["held_back"] == {"default": 2}


async def test_who_asked_is_served_at_once(tmp_path: Path) -> None:
    async with await opened(tmp_path) as cache:
        await asks(cache, "ann")
        for prompt in (KEPT, NEAR):
            assert (await cache.lookup(prompt, user="ann")).answer == "So."


async def test_being_near_is_not_asking(tmp_path: Path) -> None:
    """Else a plant would be let go by the very users that it is meant for."""
    async with await opened(tmp_path) as cache:
        await asks(cache, "eve", KEPT, "Call 555-0199 and pay.")
        assert await asks(cache, "ann", NEAR, "Press the button.") is Why.QUORUM
        assert await asks(cache, "ben", NEAR, "Press the button.") is Why.QUORUM
        assert (await cache.lookup(NEAR, user="cat")).answer == "Press the button."
        assert (await cache.lookup(KEPT + "?", user="cat")).answer != "Call 555-0199 and pay."


async def test_equal_answers_of_other_wordings_count_together(tmp_path: Path) -> None:
    async with await opened(tmp_path) as cache:
        await asks(cache, "ann", KEPT)
        await asks(cache, "ben", NEAR)
        assert (await cache.lookup(KEPT, user="cat")).answer == "So."


async def test_nobody_in_particular_counts_for_nobody(tmp_path: Path) -> None:
    async with await opened(tmp_path) as cache:
        assert [await asks(cache, None) for _ in range(4)] == [Why.COLD] + [Why.QUORUM] * 3


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
async def test_who_asked_is_known_after_a_restart(tmp_path: Path, store: str, request: pytest.FixtureRequest) -> None:
    data = str(tmp_path) if store == "sqlite" else request.getfixturevalue("postgres_url")
    opening = Opening(data=data, policies=pack(tmp_path), embedder="hashing", seed=1)
    async with AsyncSemanticCache(await open_components(opening)) as cache:
        await asks(cache, "ann")
        await asks(cache, "ben")
    async with AsyncSemanticCache(await open_components(opening)) as cache:
        assert (await cache.lookup(KEPT, user="ann")).answer == "So."
        assert (await cache.lookup(KEPT, user="cat")).answer == "So."


async def test_share_by_user_has_no_quorum_to_wait_for(tmp_path: Path) -> None:
    async with await opened(tmp_path, share="user") as cache:
        await asks(cache, "ann")
        assert (await cache.lookup(KEPT, user="ann")).answer == "So."


async def test_the_reason_is_told(tmp_path: Path) -> None:
    async with await opened(tmp_path) as cache:
        await asks(cache, "ann")
        told = await cache.explain(KEPT, user="ben")
        assert told["why"] == "quorum"
        assert "users" in told["meaning"]
        assert (await cache.stats())["held_back"] == {}  # nobody asked: it was explained


async def test_calls_in_flight_are_not_shared(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion()]), gate=asyncio.Event())
    text = PACK.format(quorum=2, wording="off", share="tenant")
    async with running(upstream, tmp_path, pack=text) as proxy:
        calls = [Call(proxy, ask(KEPT), x_semcache_user=user) for user in ("ann", "ben")]
        while len(upstream.calls) < 2:
            await asyncio.sleep(0.01)
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert not any("collapsed" in reply.cache for reply in replies)


async def test_the_proxy_says_why_and_replays_to_whom_it_may(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion()]))
    text = PACK.format(quorum=2, wording="off", share="tenant")
    async with running(upstream, tmp_path, pack=text) as proxy:

        async def detail(user: str) -> str:
            return str((await Call(proxy, ask(KEPT), x_semcache_user=user).reply()).cache["detail"])

        told = [await detail(user) for user in ("ann", "ann", "ben", "ann", "cat", "cat")]
    assert told == ["cold", "exact", "quorum", "exact", "exact", "exact"]


async def test_a_language_models_word_lets_nothing_go(tmp_path: Path) -> None:
    judge = Judge(1.0)
    async with asking(held_back({}), judge, tmp_path, "first\n  quorum: 2") as proxy:
        replace_verifiers(proxy.cache, proxy.cache.components.verifiers)
        await Call(proxy, ask(PROMPT), x_semcache_user="ann").reply()
        own = await Call(proxy, ask(PARAPHRASE), x_semcache_user="ann", cache_control="no-store").reply()
        other = await Call(proxy, ask(PARAPHRASE), x_semcache_user="ben", cache_control="no-store").reply()
    assert own.cache["detail"] == "judged"
    assert "hit" not in other.cache


def test_keys_tell_callers_apart_where_none_names_a_user() -> None:
    assert asker_of(None, Caller(key_id="key_1")) != asker_of(None, Caller(key_id="key_2"))
    assert asker_of("ann", Caller(key_id="key_1")) == asker_of("ann", Caller(key_id="key_2"))
    assert asker_of("key_1", Caller()) != asker_of(None, Caller(key_id="key_1"))
    assert asker_of(None, Caller()) is None


def test_what_the_operator_brought_in_is_served_to_all(tmp_path: Path) -> None:
    registry = EntryRegistry(lambda _: _Unlimited())  # type: ignore[arg-type,return-value]
    quorum = Quorum(load(pack(tmp_path)), registry, b"s" * 32)
    assert quorum.holds(_card(1, (5,)), _request("ann"))
    assert not quorum.holds(_card(1, (0,)), _request("ann"))


class _Unlimited:
    def admit(self, *_: object) -> list[int]:
        return []

    def forget(self, _: int) -> None:
        return


def _card(number: int, askers: tuple[int, ...] = (), answer: int = 0) -> Card:
    return Card(number, b"%d" % number, b"", "default", "", 0.0, 1.0, answer, askers)


def _request(asker: str | None) -> Request:
    return Request(Endpoint.CHAT, "m", {}, "", b"", scope=Scope("t"), asker=asker)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "alias", "drop"]), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)),
        max_size=30,
    )
)
def test_the_askers_of_an_answer_are_those_of_all_its_entries(steps: list[tuple[str, int, int, int]]) -> None:
    """Whatever comes, goes and is grouped anew, no user is forgotten and none is counted for another's answer."""
    registry = EntryRegistry(lambda _: _Unlimited())  # type: ignore[arg-type,return-value]
    for what, number, other, user in steps:
        if what == "put":
            registry.add(_card(number, (user,)))
        elif what == "alias" and number != other:
            registry.regroup(number, other)
        elif what == "drop":
            registry.remove(number)
        live = [card for one in range(1, 6) if (card := registry.get(one)) is not None]
        for card in live:
            same = [one for one in live if card.answer_class in (one.answer_class, one.id)]
            assert registry.askers(card) == {asker for one in same for asker in one.askers}


@settings(max_examples=40)
@given(st.integers(2, 4), st.lists(st.sampled_from(["ann", "ben", "cat", "dan", None]), min_size=1, max_size=12))
def test_nobody_is_served_what_too_few_asked_for(quorum: int, users: list[str | None]) -> None:
    """However users follow each other, one is served only what it or `quorum` others asked for before."""

    async def run(folder: Path) -> None:
        async with AsyncSemanticCache(
            await open_components(Opening(data="memory://", policies=pack(folder, quorum), embedder="hashing", seed=1))
        ) as cache:
            before: set[str] = set()
            for user in users:
                found = await cache.lookup(KEPT, user=user)
                assert (found.answer is not None) == (user in before or len(before) >= quorum)
                if found.answer is None:
                    await cache.record(found, "So.")
                    before |= {user} - {None}  # type: ignore[arg-type]

    import tempfile

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(run(Path(name)))
