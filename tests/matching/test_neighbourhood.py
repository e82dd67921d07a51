from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from semcache.matching import features, neighbourhood
from semcache.matching.surroundings import around
from semcache.types import Candidate, Card, Conflict

MARGIN, RIVALS = features.AROUND.index("margin"), features.AROUND.index("rivals")


def candidates(*found: tuple[str, int, float]) -> list[Candidate]:
    """Of text, answer and score, best first."""
    return [
        Candidate(Card(place, b"", b"", "", text, 0.0, math.inf, answer), score)
        for place, (text, answer, score) in enumerate(found, 1)
    ]


class Guards:
    """Vetoes texts that name another city than Rome."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str, cached: str) -> tuple[Conflict, ...]:
        self.asked.append(cached)
        return () if "Rome" in cached else (Conflict("entities", cached, veto=True),)


def test_entries_that_a_guard_rules_out_are_no_rivals_of_the_right_one() -> None:
    found = candidates(("a flight to Paris", 1, 0.95), ("flights to Rome", 2, 0.94), ("a flight to Oslo", 3, 0.93))
    guards = Guards()
    surveyed = neighbourhood.surveyed("a flight to Rome", found, guards)
    plain = around(found)
    assert [one.around for one in surveyed.candidates][::2] == [plain[0], plain[2]], "of those all others are rivals"
    right = surveyed.candidates[1].around
    assert right == around([found[1]])[0]
    assert plain[1][MARGIN] < 0.0 < right[MARGIN]
    assert plain[1][RIVALS] > right[RIVALS] == 0.0
    assert {entry: bool(of) for entry, of in surveyed.findings.items()} == {1: True, 2: False, 3: True}


def test_rivals_that_are_vetoed_are_compared_in_full_only_when_that_is_asked_for() -> None:
    found = candidates(("a flight to Paris", 1, 0.95), ("flights to Rome", 2, 0.94), ("a flight to Oslo", 3, 0.93))
    whole, brief = Guards(), Guards()

    def unless_vetoed(text: str, cached: str) -> tuple[Conflict, ...] | None:
        return brief(text, cached) and None

    surveyed = neighbourhood.surveyed("a flight to Rome", found, whole, unless_vetoed)
    assert whole.asked == []
    assert surveyed.candidates == neighbourhood.surveyed("a flight to Rome", found, Guards()).candidates
    assert [len(surveyed.objections(one)) for one in found] == [1, 0, 1]
    assert whole.asked == ["a flight to Paris", "a flight to Oslo"], "what is no veto is known already"


def test_guards_are_not_asked_where_nothing_can_come_of_it() -> None:
    for found in (
        candidates(("a flight to Rome", 1, 0.95)),
        candidates(("a flight to Rome", 1, 0.95), ("flights to Rome", 1, 0.9)),
        candidates(("a flight to Rome", 1, 0.69), ("a flight to Oslo", 2, 0.68)),
        candidates(("a flight to Rome", 1, 0.95), ("trains", 2, 0.7)),
        [],
    ):
        guards = Guards()
        surveyed = neighbourhood.surveyed("fly to Rome", found, guards)
        assert guards.asked == []
        assert surveyed.findings == {}
        assert [one.around for one in surveyed.candidates] == around(found)


@given(
    st.lists(
        st.tuples(st.sampled_from(["Rome 1", "Rome 2", "Oslo", "Paris"]), st.integers(1, 3), st.floats(0.0, 1.0)),
        max_size=8,
    )
)
def test_the_candidates_stay_what_and_where_they_are(found: Sequence[tuple[str, int, float]]) -> None:
    given_ = candidates(*sorted(found, key=lambda one: -one[2]))
    surveyed = neighbourhood.surveyed("Rome", given_, Guards())
    assert [(one.card, one.score) for one in surveyed.candidates] == [(one.card, one.score) for one in given_]
    assert all(len(one.around) == len(features.AROUND) for one in surveyed.candidates)
    assert all(math.isfinite(value) for one in surveyed.candidates for value in one.around)
