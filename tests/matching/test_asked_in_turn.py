"""The local verifier is asked about the likeliest neighbour, and where its word is not enough about the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from semcache.config.packs import Category, Pack
from semcache.matching import decide, features
from semcache.matching.strategies.static import StaticThreshold
from semcache.matching.verification import ConfiguredVerifier, Verifiers
from semcache.runtime.telemetry import Meter
from semcache.types import (
    CacheKey,
    Candidate,
    Card,
    Controls,
    Endpoint,
    Entry,
    Forward,
    Lookup,
    Request,
    Scope,
    Serve,
    Verdict,
    Verify,
    Why,
)
from tests.matching import kept
from tests.waiting import PATIENCE

TEXTS = ("How long is the Rhine?", "How long is the Rhone?", "How deep is the Rhine?")
CARDS = [Card(place, b"", b"", "default", text, 0.0, 9e9, place) for place, text in enumerate(TEXTS, 1)]
METER = Meter()
KEY = CacheKey(Scope(), b"s", b"k", "length of the rhine", b"{}")
PACKS = {
    verify: Pack(
        name="p",
        description="",
        share="tenant",
        target=0.01,
        min_margin=0.2,
        categories={"default": Category(name="default", verify=verify, audit=0.25)},  # type: ignore[arg-type]
    )
    for verify in ("verifier", "llm")
}


class Weighs(StaticThreshold):
    """Wants a word about whatever it has none on, and believes it."""

    def __init__(self) -> None:
        super().__init__(PACKS["verifier"])

    def floor(self, category: str, controls: Controls) -> float:
        return 0.5

    def judge(self, candidate: Candidate, *_: object, **__: object) -> Verdict:
        word = candidate.features[features.NAMES.index("word")]
        if not candidate.features[features.NAMES.index("asked")]:
            return Verdict(False, candidate.score, verify=True, why=Why.UNCERTAIN)
        return Verdict(word >= 4.0, 0.9 + word / 100, why=Why.UNCERTAIN)


class Says:
    """A verifier with a word, or an error, for each kept prompt."""

    def __init__(self, *words: float | Exception) -> None:
        self.words, self.heard = dict(zip(TEXTS, words, strict=False)), list[str]()

    async def same(self, _query: str, cached_query: str, _answer: str) -> float:
        self.heard.append(cached_query)
        word = self.words[cached_query]
        if isinstance(word, Exception):
            raise word
        return word


def _doubt(cards: Sequence[Card] = CARDS) -> Verify:
    found = [Candidate(card, 0.9 - card.id / 100) for card in cards]
    terms = decide.RequestTerms("default", Controls(), now=1.0, draw=0.5)
    decision = decide.semantic(found, "length of the rhine", terms, Weighs(), lambda *_: ())
    assert isinstance(decision, Verify)
    return decision


async def _entry_of(_served: Serve, key: CacheKey | None) -> Entry | None:
    assert key is not None
    return kept.entry(1, KEY, "1,230 km.")


async def _settled(
    says: Says, verify: str = "verifier", unsure: Verify | None = None, best: float = 1.0, unread: str = ""
) -> Lookup:
    request = Request(Endpoint.CHAT, "m", {}, "length of the rhine", b"{}", controls=Controls())
    lookup = Lookup("r", request, KEY, "default", unsure or _doubt())
    configured = ConfiguredVerifier(says, PATIENCE, best, reads=lambda _, cached: cached != unread)
    verifiers = Verifiers({verify: configured}, _entry_of, meter=METER)
    return await verifiers.settle(lookup, pack=PACKS[verify], threshold=Weighs(), draw=0.5)


def test_a_doubt_brings_the_next_one_and_no_more_than_may_be_asked() -> None:
    first = _doubt()
    assert first.card.id == 1
    assert first.then is not None
    assert (first.then.card.id, first.then.then) == (2, None)
    assert _doubt(CARDS[2:]).then is None


async def test_a_no_about_the_first_leaves_the_second_to_be_served() -> None:
    says = Says(0.02, 0.99)
    lookup = await _settled(says)
    assert isinstance(lookup.decision, Serve)
    assert lookup.decision.card.id == 2
    assert says.heard == list(TEXTS[:2])
    assert lookup.verified is not None


async def test_a_yes_about_the_first_is_enough() -> None:
    says = Says(0.99, 0.99)
    lookup = await _settled(says)
    assert isinstance(lookup.decision, Serve)
    assert (lookup.decision.card.id, says.heard) == (1, [TEXTS[0]])


@pytest.mark.parametrize(("words", "likelier"), [((0.3, 0.02), 1), ((0.02, 0.3), 2)])
async def test_a_miss_teaches_about_the_likelier_of_both(words: tuple[float, float], likelier: int) -> None:
    decision = (await _settled(Says(*words))).decision
    assert isinstance(decision, Forward)
    assert (decision.why, decision.nearest is not None) == (Why.VERIFY_FAILED, True)
    assert decision.nearest is not None
    assert decision.nearest.card.id == likelier
    assert decision.nearest.features[features.NAMES.index("asked")] == 1.0


@pytest.mark.parametrize("fault", [TimeoutError("late"), RuntimeError("broken")])
async def test_one_that_does_not_answer_is_not_asked_again(fault: Exception) -> None:
    says = Says(fault, 0.99)
    assert isinstance((await _settled(says)).decision, Forward)
    assert says.heard == [TEXTS[0]]


async def test_the_books_count_a_request_once_by_what_became_of_it() -> None:
    def counted(result: str) -> float:
        found = METER.registry.get_sample_value(
            "semcache_verifications_total", {"category": "default", "result": result}
        )
        return found or 0.0

    before = {result: counted(result) for result in ("yes", "no", "late")}
    await _settled(Says(0.02, TimeoutError("late")))
    assert {result: counted(result) - before[result] for result in before} == {"yes": 0, "no": 1, "late": 0}
    await _settled(Says(0.02, 0.99))
    assert {result: counted(result) - before[result] for result in before} == {"yes": 1, "no": 1, "late": 0}


async def test_one_that_it_does_not_read_is_passed_over() -> None:
    says = Says(0.99, 0.99)
    passed = (await _settled(says, unread=TEXTS[0])).decision
    assert isinstance(passed, Serve)
    assert (passed.card.id, says.heard) == (2, [TEXTS[1]])


async def test_one_that_it_does_not_read_is_served_where_likeness_alone_is_sure() -> None:
    says, sure = Says(0.99, 0.99), replace(_doubt(), alone=True)
    served = (await _settled(says, unsure=sure, unread=TEXTS[0])).decision
    assert isinstance(served, Serve)
    assert (served.card.id, says.heard) == (1, [])
    weak, says = Says(0.5, 0.5), Says(0.02, 0.02)
    assert isinstance((await _settled(weak, unsure=sure, best=0.5)).decision, Forward)
    assert isinstance((await _settled(says, unsure=sure)).decision, Forward)


async def test_a_language_model_is_asked_once() -> None:
    says = Says(0.02, 0.99)
    assert isinstance((await _settled(says, "llm")).decision, Forward)
    assert says.heard == [TEXTS[0]]
