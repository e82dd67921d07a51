"""What may be served, and what must not be."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import Category, Pack
from semcache.matching import decide, features
from semcache.matching.strategies import StaticThreshold
from semcache.types import Candidate, Card, Conflict, Controls, Decision, Forward, Outcome, Serve, Verdict, Verify, Why

NOW = 1000.0
CARD = Card(7, b"e", b"s", "default", "cached prompt", created=900.0, expires=2000.0)
PACK = Pack(
    name="p",
    description="",
    share="tenant",
    target=0.01,
    min_margin=0.0,
    categories={
        "default": Category(name="default", threshold=0.9),
        "strict": Category(name="strict", threshold=0.97),
    },
)


def choose(candidates: list[Candidate], **changes: object) -> Decision:
    given: dict[str, object] = {
        "text": "a prompt",
        "threshold": StaticThreshold(PACK),
        "conflicts": lambda query, cached: (),
    }
    given |= {name: changes.pop(name) for name in given if name in changes}
    return decide.semantic(candidates, terms=terms(**{"draw": 0.5, **changes}), **given)  # type: ignore[arg-type]


def terms(**changes: object) -> decide.RequestTerms:
    return replace(decide.RequestTerms("default", Controls(), NOW), **changes)  # type: ignore[arg-type]


def test_the_nearest_is_served_at_its_threshold() -> None:
    served = choose([Candidate(CARD, 0.9)])
    assert isinstance(served, Serve)
    assert (served.card, served.how, served.score, served.p_correct) == (CARD, Outcome.SEMANTIC, 0.9, 0.9)
    assert len(served.features) == len(features.NAMES)


def test_below_the_threshold_says_how_near_it_was() -> None:
    assert choose([Candidate(CARD, 0.899)]) == Forward(Why.BELOW_THRESHOLD, nearest=Candidate(CARD, 0.899))


def test_nothing_near_is_cold() -> None:
    assert choose([]) == Forward(Why.COLD)


def test_a_guard_vetoes_the_nearest_but_not_the_next() -> None:
    other = replace(CARD, id=8, text="another prompt")
    conflict = Conflict("numbers", "3 against 4")
    candidates = [Candidate(CARD, 0.99), Candidate(other, 0.95)]
    served = choose(candidates, conflicts=lambda _, cached: (conflict,) if cached == CARD.text else ())
    assert isinstance(served, Serve)
    assert served.card.id == 8
    refused = choose(candidates[:1], conflicts=lambda *_: (conflict,))
    assert isinstance(refused, Forward)
    assert refused.why is Why.GUARD
    assert refused.nearest is not None
    assert refused.nearest.conflicts == (conflict,)


@pytest.mark.parametrize("guard", ["negation", "direction"])
def test_other_words_for_an_answer_that_is_opposed_are_not_served(guard: str) -> None:
    near = Candidate(replace(CARD, text="opposed"), 0.95)
    other = Candidate(replace(CARD, id=8, answer=7), 0.92)
    assert near.card.answer_class == other.card.answer_class

    def conflicts(_: str, cached: str) -> tuple[Conflict, ...]:
        return (Conflict(guard, "enable / disable"),) if cached == "opposed" else ()

    decision = choose([near, other], conflicts=conflicts)
    assert isinstance(decision, Forward)
    assert decision.why is Why.GUARD


def test_a_caller_can_raise_the_threshold_and_not_lower_it() -> None:
    assert isinstance(choose([Candidate(CARD, 0.95)], controls=Controls(min_score=0.97)), Forward)
    assert isinstance(choose([Candidate(CARD, 0.5)], controls=Controls(min_score=0.1)), Forward)


def test_a_neighbour_of_another_category_has_to_meet_the_terms_of_both() -> None:
    elsewhere = replace(CARD, category="strict")
    refused = choose([Candidate(elsewhere, 0.95)])
    assert isinstance(refused, Forward)
    assert refused.why is Why.BELOW_THRESHOLD
    assert isinstance(choose([Candidate(elsewhere, 0.97)]), Serve)
    assert isinstance(choose([Candidate(CARD, 0.95)], category="strict"), Forward)
    assert isinstance(choose([Candidate(elsewhere, 0.95), Candidate(CARD, 0.93)]), Serve)


def test_what_was_rejected_for_this_request_stays_rejected() -> None:
    assert choose([Candidate(CARD, 1.0)], rejected={7}).why is Why.REJECTED  # type: ignore[union-attr]
    assert decide.exact(CARD, terms(rejected={7})) == Forward(Why.REJECTED)


def test_time_is_up_at_the_very_second() -> None:
    assert isinstance(decide.exact(CARD, terms(now=1999.999)), Serve)
    assert decide.exact(CARD, terms(now=2000.0)) == Forward(Why.EXPIRED)


def test_max_age_counts_from_creation() -> None:
    assert isinstance(decide.exact(CARD, terms(controls=Controls(max_age=100))), Serve)
    assert decide.exact(CARD, terms(controls=Controls(max_age=99))) == Forward(Why.MAX_AGE)


cards = st.builds(
    Card,
    id=st.integers(0, 5),
    exact=st.just(b""),
    partition=st.just(b""),
    category=st.just("default"),
    text=st.sampled_from(["clean", "conflicting"]),
    created=st.floats(0, 2000),
    expires=st.floats(0, 2000),
)


@given(
    st.lists(st.builds(Candidate, cards, st.floats(-1, 1)), max_size=6),
    st.floats(0, 2000),
    st.sets(st.integers(0, 5)),
    st.none() | st.floats(0, 2000),
    st.none() | st.floats(-1, 1),
)
def test_nothing_unfit_is_ever_served(
    candidates: list[Candidate], now: float, rejected: set[int], max_age: float | None, min_score: float | None
) -> None:
    candidates.sort(key=lambda candidate: -candidate.score)
    decision = choose(
        candidates,
        now=now,
        rejected=rejected,
        controls=Controls(max_age=max_age, min_score=min_score),
        conflicts=lambda _, cached: (Conflict("g", ""),) if cached == "conflicting" else (),
    )
    fit = [
        c
        for c in candidates
        if c.card.expires > now
        and c.card.created <= now + 60  # no entry of a clock that is a minute ahead
        and c.card.id not in rejected
        and c.card.text == "clean"
        and c.score >= max(0.9, min_score if min_score is not None else -1)
        and (max_age is None or now - c.card.created <= max_age)
    ]
    if isinstance(decision, Serve):
        assert decision.card == fit[0].card
        assert decision.score == fit[0].score
    else:
        assert not fit


def test_what_is_asked_anew_may_be_served_meanwhile_and_says_so() -> None:
    for now, stale in ((1999.9, False), (2000.0, True), (2009.9, True)):
        exact = decide.exact(CARD, terms(now=now, revalidate=10.0))
        near = choose([Candidate(CARD, 0.95)], now=now, revalidate=10.0)
        assert isinstance(exact, Serve)
        assert isinstance(near, Serve)
        assert (exact.stale, near.stale) == (stale, stale)
    assert decide.exact(CARD, terms(now=2010.0, revalidate=10.0)) == Forward(Why.EXPIRED)
    assert choose([Candidate(CARD, 0.95)], now=2010.0, revalidate=10.0).why is Why.EXPIRED  # type: ignore[union-attr]


def test_an_answer_of_another_category_is_not_served_beyond_its_time() -> None:
    other = replace(CARD, category="strict")
    assert isinstance(choose([Candidate(other, 0.99)], now=1999.0, revalidate=10.0), Serve)
    assert choose([Candidate(other, 0.99)], now=2000.0, revalidate=10.0).why is Why.EXPIRED  # type: ignore[union-attr]


class Asking(StaticThreshold):
    """Serves everything, and remembers on whose behalf it was asked about which category."""

    def __init__(self) -> None:
        super().__init__(PACK)
        self.asked: list[tuple[str, str]] = []

    def judge(
        self, candidate: Candidate, category: str, *, controls: Controls, draw: float, tenant: str = ""
    ) -> Verdict:
        self.asked.append((category, tenant))
        return super().judge(candidate, category, controls=controls, draw=draw, tenant=tenant)


def test_the_terms_of_both_categories_are_asked_on_the_tenants_behalf() -> None:
    threshold = Asking()
    choose([Candidate(replace(CARD, category="strict"), 0.99)], threshold=threshold, tenant="acme")
    assert threshold.asked == [("default", "acme"), ("strict", "acme")]


class _Asks(StaticThreshold):
    """Sure enough of any neighbour, and has it read first; of what a verifier has read it is as sure as that."""

    def judge(self, candidate: Candidate, *_: object, **__: object) -> Verdict:
        asked, word = (candidate.features[features.NAMES.index(name)] for name in ("asked", "word"))
        if not asked:
            return Verdict(False, 0.99, audit=0.25, verify=True, why=Why.SEMANTIC, risk=0.03)
        p_same = 1.0 / (1.0 + math.exp(-word))
        return Verdict(p_same >= 0.97, p_same, audit=0.5, why=Why.SEMANTIC)


@pytest.mark.parametrize(("p_same", "served"), [(0.98, True), (0.92, False), (0.4, False)])
def test_what_likeness_is_sure_of_is_served_only_on_a_word_that_is_enough(p_same: float, served: bool) -> None:
    asked = choose([Candidate(CARD, 0.9)], threshold=_Asks(PACK))
    assert isinstance(asked, Verify)
    assert (asked.chance, asked.risk, asked.stale) == (0.25, 0.03, False)
    found = decide.verified(asked, p_same, allowed=0.01, terms=terms(draw=0.3), threshold=_Asks(PACK))
    assert isinstance(found, Serve if served else Forward)
    assert found.p_correct == pytest.approx(p_same)
    if isinstance(found, Serve):
        assert (found.audit, found.chance, found.stale) == (True, 0.5, False)


def test_what_is_asked_anew_meanwhile_is_read_first_as_well_and_served_as_stale() -> None:
    stale = replace(CARD, expires=NOW - 1.0)
    asked = choose([Candidate(stale, 0.9)], threshold=_Asks(PACK), revalidate=60.0)
    assert isinstance(asked, Verify)
    served = decide.verified(asked, 0.99, allowed=0.01, terms=terms(draw=0.9), threshold=_Asks(PACK))
    assert isinstance(served, Serve)
    assert served.stale


def test_nothing_likelier_is_looked_for_where_likeness_is_sure_and_only_has_to_be_read() -> None:
    class TwoOfThem(_Asks):
        shown, alone = 0, False

        def judge(self, candidate: Candidate, *_: object, **__: object) -> Verdict:
            self.shown += 1
            return replace(super().judge(candidate), alone=self.alone)

    others = [Candidate(replace(CARD, id=number, answer=number), 0.9) for number in (1, 2)]
    for alone, shown in ((True, 1), (False, 2)):
        threshold = TwoOfThem(PACK)
        threshold.alone = alone
        assert isinstance(choose(others, threshold=threshold), Verify)
        assert threshold.shown == shown


def test_what_a_verifier_does_not_read_is_served_by_likeness_that_is_sure_alone_under_the_terms_of_both() -> None:
    class Alone(_Asks):
        def judge(self, candidate: Candidate, *where: object, **given: object) -> Verdict:
            return replace(super().judge(candidate, *where, **given), alone="strict" not in where)

    asked = choose([Candidate(CARD, 0.9)], threshold=Alone(PACK))
    assert isinstance(asked, Verify)
    for draw, audit in ((0.2, True), (0.5, False)):
        served = decide.unread(asked, draw)
        assert isinstance(served, Serve)
        assert (served.card, served.p_correct, served.audit, served.chance) == (CARD, 0.99, audit, 0.25)
    elsewhere = choose([Candidate(replace(CARD, category="strict"), 0.9)], threshold=Alone(PACK))
    assert isinstance(elsewhere, Verify)
    assert decide.unread(elsewhere, 0.5) is None
