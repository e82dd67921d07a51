"""Equal wordings through the library: what is served without an embedding, to whom, and what is learned from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.cache import opening
from semcache.config.packs import Category
from semcache.errors import EmbedError, StoreError
from semcache.matching.guards import languages
from semcache.request import eligibility
from semcache.request.wording import Wording, canonical, digests
from semcache.storage.stores.wording_rows import WordingRows
from semcache.storage.wording_index import WordingIndex
from semcache.types import Card, Outcome, Request, Selector, Serve, Why
from tests.clock import Clock

KEPT, ASKED = "How do I cancel my subscription?", "how do i cancel my  subscription"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cache(tmp_path: Path, clock: Clock) -> AsyncIterator[AsyncSemanticCache]:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1, clock=clock) as opened:
        yield opened


async def keep(cache: AsyncSemanticCache, prompt: Any = KEPT, answer: str = "Press Cancel.", **params: Any) -> None:
    await cache.record(await cache.lookup(prompt, **params), answer)


async def test_an_equal_wording_is_served_and_says_so(cache: AsyncSemanticCache) -> None:
    await keep(cache)
    found = await cache.lookup(ASKED)
    assert (found.answer, found.outcome, found.why, found.score) == (
        "Press Cancel.",
        Outcome.SEMANTIC,
        Why.WORDING,
        1.0,
    )
    assert found.p_correct is not None
    assert 0.99 < found.p_correct < 1.0


async def test_nothing_is_embedded_for_it(cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch) -> None:
    await keep(cache)

    async def broken(texts: Any) -> Any:
        raise EmbedError("down")

    monkeypatch.setattr(cache.components.embedder, "embed", broken)
    assert (await cache.lookup(ASKED)).answer == "Press Cancel."
    assert (await cache.lookup("What does it cost to cancel?")).why is Why.FAULT


async def test_a_category_by_rule_finds_what_an_equal_wording_that_breaks_the_rule_was_kept_under(
    cache: AsyncSemanticCache,
) -> None:
    await keep(cache, "What does k8s do?")
    found = await cache.lookup("What does Kubernetes do?")
    assert (found.answer, found.why) == ("Press Cancel.", Why.WORDING)


async def test_the_target_of_a_category_by_rule_is_kept_by_equal_wordings_of_others(
    tmp_path: Path, clock: Clock
) -> None:
    pack = tmp_path / "pack.yaml"
    for target, served in (("0.01", True), ("0.005", False)):
        pack.write_text(
            "name: p\ncategories:\n  default: {target: 0.01}\n"
            f"  code: {{target: {target}, rules: {{patterns: [kubernetes]}}}}\n"
        )
        async with await AsyncSemanticCache.open(str(tmp_path / target), policies=str(pack), clock=clock) as cache:
            await keep(cache, "What does k8s do?")
            assert ((await cache.lookup("What does Kubernetes do?")).why is Why.WORDING) is served


async def test_a_category_that_the_caller_names_alone_is_searched(cache: AsyncSemanticCache) -> None:
    await keep(cache, controls={"category": "support"})
    assert (await cache.lookup(ASKED, controls={"category": "code"})).answer is None


@pytest.mark.parametrize(
    "other", [{"tenant": "b"}, {"namespace": "n"}, {"model": "other"}, {"temperature": 0.5}, {"max_tokens": 3}]
)
async def test_another_scope_or_signature_shares_nothing(cache: AsyncSemanticCache, other: dict[str, Any]) -> None:
    await keep(cache)
    assert (await cache.lookup(ASKED, **other)).answer is None


async def test_a_guards_veto_of_the_originals_is_heeded(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(cache)
    from semcache.cache import wording_lookup
    from semcache.types import Conflict

    monkeypatch.setattr(wording_lookup, "unexplained", lambda *_: (Conflict("form", "a/b"),))
    assert (await cache.lookup(ASKED)).why is not Why.WORDING


async def test_a_pack_may_switch_it_off(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("name: plain\ndefaults: {wording: off}\ncategories: {default: {}}\n")
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(pack), embedder="hashing") as cache:
        await keep(cache)
        assert (await cache.lookup(ASKED)).why is not Why.WORDING


GERMAN = ("Wie kann ich mein Passwort ändern?", "Hallo, wie kann ich mein passwort ändern, danke")
SPANISH = ("¿Cómo puedo cambiar mi contraseña?", "hola, cómo puedo cambiar mi contraseña")


@pytest.mark.parametrize(
    ("wording", "served"),
    [
        ("wording_by_language: {de: off}", [True, False, True]),
        ("wording_by_language: {de: [characters]}", [True, False, True]),
        ("wording_by_language: {de: [characters, filler]}", [True, True, True]),
        ("wording: off, wording_by_language: {de: [characters, filler]}", [False, True, False]),
        ("wording: [filler], wording_by_language: {en: [characters], es: off}", [True, False, False]),
    ],
)
async def test_a_pack_may_switch_kinds_off_for_a_language(tmp_path: Path, wording: str, served: list[bool]) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(f"name: plain\ndefaults: {{{wording}, personal: true}}\ncategories: {{default: {{}}}}\n")
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(pack), embedder="hashing") as cache:
        found = []
        for kept, asked in ((KEPT, ASKED), GERMAN, SPANISH):
            await keep(cache, kept)
            found.append((await cache.lookup(asked)).why is Why.WORDING)
    assert found == served


async def test_a_turn_of_a_conversation_needs_the_kinds_of_its_own_language(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    defaults = "{wording_by_language: {de: off}, personal: true, context: semantic}"
    pack.write_text(f"name: plain\ndefaults: {defaults}\ncategories: {{default: {{}}}}\n")
    answer = {"role": "assistant", "content": "Unter Einstellungen."}

    def turns(first: str, last: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": first}, answer, {"role": "user", "content": last}]

    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(pack), embedder="hashing") as cache:
        await keep(cache, turns(GERMAN[0], KEPT))
        assert (await cache.lookup(turns(GERMAN[0], ASKED))).why is Why.WORDING
        assert (await cache.lookup(turns(GERMAN[1], KEPT))).why is not Why.WORDING


async def test_it_is_found_after_a_restart_and_no_more_once_deleted(tmp_path: Path, clock: Clock) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1, clock=clock) as cache:
        await keep(cache)
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1, clock=clock) as cache:
        await cache.catch_up()
        assert (await cache.lookup(ASKED)).why is Why.WORDING
        await cache.invalidate(Selector(everything=True))
        assert (await cache.lookup(ASKED)).answer is None


async def test_other_workers_entries_are_found(tmp_path: Path, clock: Clock) -> None:
    async with (
        await AsyncSemanticCache.open(str(tmp_path), clock=clock) as one,
        await AsyncSemanticCache.open(str(tmp_path), clock=clock) as two,
    ):
        await keep(one)
        await two.catch_up()
        assert (await two.lookup(ASKED)).why is Why.WORDING


async def test_an_answer_dies_on_time_for_equal_wordings_too(cache: AsyncSemanticCache, clock: Clock) -> None:
    await keep(cache)
    clock.now += 10 * 365 * 86400.0
    assert (await cache.lookup(ASKED)).answer is None


async def test_a_wrong_answer_is_never_served_again_to_that_wording(cache: AsyncSemanticCache) -> None:
    await keep(cache)
    served = await cache.lookup(ASKED)
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup(ASKED)).answer is None
    assert (await cache.lookup(KEPT)).answer == "Press Cancel."


async def test_an_audit_is_learned_by_its_kind_alone(cache: AsyncSemanticCache) -> None:
    before = _audits(cache)
    audited = 0
    for number in range(60):
        prompt = f"How do I change the colour of wall number {number}?"
        await keep(cache, prompt, f"Paint wall {number}.")
        found = await cache.lookup(prompt.lower())
        assert found.why is Why.WORDING
        if found.audit:
            audited += 1
            await cache.record(found, f"Paint wall {number}.")
    await cache.settle()
    strata = [one for strata in (await cache.stats())["wording"].values() for one in strata]
    assert audited > 0
    assert sum(one.audits for one in strata) == audited
    assert _audits(cache) == before


async def test_a_fresh_answer_from_an_audit_can_be_found_by_meaning(cache: AsyncSemanticCache) -> None:
    await keep(cache)
    served = await cache.lookup(ASKED)
    assert isinstance(served.lookup.decision, Serve)
    await cache.record(served, "Press Cancel twice.")
    card = cache.registry.exact(served.lookup.key.exact)
    assert card is not None
    assert card.partition != b""


def _audits(cache: AsyncSemanticCache) -> int:
    return sum(cache.components.strategy.standing(name).audits for name in cache.pack.categories)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose canonical wording was asked for to make a digest of it."""
    asked: list[str] = []

    def noted(text: str) -> Wording:
        asked.append(text)
        return canonical(text)

    monkeypatch.setattr(digests, "canonical", noted)
    return asked


async def test_a_restart_serves_equal_wordings_at_once_and_reads_none_of_what_was_stored(
    tmp_path: Path, clock: Clock, read: list[str]
) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
        await keep(cache)
        await keep(cache, "How do I change the colour of my wall?")
    read.clear()
    async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
        assert (await cache.lookup(ASKED)).why is Why.WORDING
        assert read == [ASKED]
        await cache.catch_up()
        assert read == [ASKED]


async def test_other_rules_are_not_taken_for_these_and_wordings_are_read_by_them_once(
    tmp_path: Path, clock: Clock, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
        await keep(cache)
    monkeypatch.setattr(digests, "mark_of_rules", lambda: b"next")
    for readings in ([KEPT, ASKED], [ASKED]):
        read.clear()
        async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
            await cache.catch_up()
            assert (await cache.lookup(ASKED)).why is Why.WORDING
        assert read == readings


async def test_a_kind_that_was_switched_off_meanwhile_serves_nothing_of_what_was_kept(
    tmp_path: Path, clock: Clock
) -> None:
    pack = tmp_path / "pack.yaml"
    for kinds, served in (("[characters, filler]", True), ("[characters]", False), ("[filler]", True)):
        pack.write_text(f"name: p\ndefaults: {{wording: {kinds}}}\ncategories: {{default: {{}}}}\n")
        async with await AsyncSemanticCache.open(str(tmp_path / "d"), policies=str(pack), clock=clock) as cache:
            await keep(cache)
            assert ((await cache.lookup(f"Hi team, {KEPT}")).why is Why.WORDING) is served


async def test_what_other_workers_keep_is_found_without_reading_its_wording(
    tmp_path: Path, clock: Clock, read: list[str]
) -> None:
    async with (
        await AsyncSemanticCache.open(str(tmp_path), clock=clock) as one,
        await AsyncSemanticCache.open(str(tmp_path), clock=clock) as two,
    ):
        await keep(one)
        read.clear()
        await two.catch_up()
        assert read == []
        assert (await two.lookup(ASKED)).why is Why.WORDING


async def test_a_store_that_keeps_no_wordings_has_them_read_after_each_start(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(WordingRows, "reword")
    monkeypatch.setattr(opening, "digest_of", lambda text, salt: b"")
    for _ in range(2):
        async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
            await keep(cache)
            await cache.catch_up()
            assert (await cache.lookup(ASKED)).why is Why.WORDING


async def test_a_store_that_is_down_keeps_nobody_from_equal_wordings(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
        await keep(cache)

    async def broken(*_: object) -> None:
        raise StoreError("down")

    monkeypatch.setattr(digests, "mark_of_rules", lambda: b"next")
    monkeypatch.setattr(WordingRows, "reword", broken)
    async with await AsyncSemanticCache.open(str(tmp_path), clock=clock) as cache:
        await cache.catch_up()
        assert (await cache.lookup(ASKED)).why is Why.WORDING


async def test_requests_are_let_through_while_the_wordings_of_stored_entries_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as one:
        for number in range(120):
            await keep(one, f"How do I reset the {number}th of all our office printers?")
    monkeypatch.setattr(digests, "mark_of_rules", lambda: b"next")
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as two:
        live, done = two.components.live, asyncio.Event()
        left = [live.read_wordings(0)]

        async def others() -> None:
            while not done.is_set():
                left.append(live.read_wordings(0))
                await asyncio.sleep(0)

        waiting = asyncio.create_task(others())
        await two.catch_up()
        done.set()
        await waiting
        assert left[0] > 60
        assert max(before - after for before, after in pairwise([*left, live.read_wordings(0)])) < 60
        assert live.read_wordings(0) == 0
        found = await two.lookup("how do i reset the 7th of all our office printers")
        assert found.why is Why.WORDING


def test_at_least_one_wording_is_read_and_no_more_than_asked_for() -> None:
    index = WordingIndex()
    for number in range(5):
        index.add_stored(Card(number, b"", b"p" * 16, "", "How do I cancel my order?" * 4, 0.0, 1e12))
    assert index.work(1, lambda _: True) == 4
    assert index.work(10_000, lambda _: True) == 0
    assert sorted(index.find([b"p" * 16], "How do I cancel my order?" * 4)) == [0, 1, 2, 3, 4]


def test_an_entry_that_is_added_again_or_removed_is_found_once_or_not_at_all() -> None:
    index, elsewhere = WordingIndex(b"salt"), b"q" * 16
    card = Card(1, b"", b"p" * 16, "", KEPT, 0.0, 1e12)
    for one in (card, card, replace(card, partition=elsewhere), replace(card, partition=elsewhere, id=2)):
        index.add(one)
    assert index.find([card.partition], ASKED) == []
    assert index.find([card.partition, elsewhere], ASKED) == [2, 1]
    index.remove(card)
    index.remove(card)
    assert index.find([elsewhere], ASKED) == [2]


def test_digests_are_handed_out_once_together_and_not_of_entries_that_have_gone() -> None:
    index = WordingIndex(b"salt")
    cards = [Card(number, b"", b"p" * 16, "", f"{KEPT} {number}", 0.0, 1e12) for number in range(3)]
    for card in cards:
        index.add_stored(card)
    assert index.work(10_000, lambda _: True) == 0
    assert index.take_read(least=4) == {}
    index.remove(cards[1])
    assert index.take_read() == {card.id: digests.digest_of(card.text, b"salt") for card in (cards[0], cards[2])}
    assert index.take_read() == {}


async def test_an_audit_counts_in_the_category_in_which_the_hit_was_served(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(
        "name: p\ndefaults: {audit: 1.0}\ncategories:\n  default: {}\n  code: {rules: {patterns: [kubernetes]}}\n"
    )
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(pack), embedder="hashing", seed=1) as cache:
        await keep(cache, "What does k8s do?")
        found = await cache.lookup("What does Kubernetes do?")
        assert (found.why, found.audit, found.lookup.category) == (Why.WORDING, True, "default")
        await cache.record(found, "Press Cancel.")
        await cache.settle()
        standing = (await cache.stats())["wording"]
    assert {name: [one.audits for one in rows] for name, rows in standing.items()} == {"default": [1]}


async def test_a_request_is_asked_once_if_it_may_be_looked_up_in_its_own_category(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(cache, category="default")
    asked: list[str] = []
    plain = eligibility.ineligible

    def ineligible(request: Request, category: Category) -> Why | None:
        asked.append(category.name)
        return plain(request, category)

    monkeypatch.setattr(eligibility, "ineligible", ineligible)
    found = await cache.lookup(ASKED, category="default")
    assert (found.why, asked) == (Why.WORDING, ["default"])


async def test_no_language_is_told_of_prompts_of_one_wording(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(cache)
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(languages, "unread", lambda one, two: asked.append((one, two)))
    assert (await cache.lookup(ASKED)).why is Why.WORDING
    assert not asked
