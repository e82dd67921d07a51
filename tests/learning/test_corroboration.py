"""A tenant's reports, however many, do not switch off what others are served."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache import AsyncSemanticCache
from semcache.learning.corroboration import Corroboration, Reach
from semcache.matching.strategies import ByCategory
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.wording_tier import features_of
from semcache.request.wording import Edit
from semcache.types import Controls, Label, LabelSource
from tests.learning.test_changed_promises import audit, opened, taught

LABEL = Label(1.0, "default", "b", 1, 1, b"e", 0.9, (1.0,), 0.9, False, LabelSource.FEEDBACK, True)
PLACES = ("France", "Chile", "Ghana")
ASKED = [f"What is the {thing} of {place}?" for thing in ("capital", "currency") for place in PLACES]


def teaches_all(corroboration: Corroboration, label: Label) -> bool:
    return corroboration.take(label) is Reach.ALL


def test_one_tenant_alone_is_heard_and_one_of_several_as_far_as_another_says_so_too() -> None:
    alone = Corroboration()
    assert all(teaches_all(alone, LABEL) for _ in range(5))
    several = Corroboration()
    several.saw("a")
    assert not any(teaches_all(several, LABEL) for _ in range(5))
    other = replace(LABEL, tenant="c")
    assert [teaches_all(several, other) for _ in range(3)] == [True, True, True]
    assert sum(teaches_all(several, LABEL) for _ in range(10)) == 3
    assert teaches_all(several, replace(LABEL, source=LabelSource.AUDIT))
    elsewhere = replace(LABEL, category="other")
    assert not teaches_all(several, elsewhere), "reports of another category corroborate nothing"


def test_what_taught_nothing_takes_nothing_back() -> None:
    several = Corroboration()
    several.saw("a")
    assert not teaches_all(several, LABEL)
    assert not teaches_all(several, replace(LABEL, source=LabelSource.WITHDRAWN))


def test_what_a_language_model_said_is_no_sample_of_its_tenant() -> None:
    word = replace(LABEL, source=LabelSource.VERDICT, tenant="asker")
    sample = replace(LABEL, source=LabelSource.MISS, correct=True)
    several = Corroboration()
    for tenant in ("a", "b", "c") * 15:
        teaches_all(several, replace(sample, tenant=tenant))
    for _ in range(100):
        assert teaches_all(several, word)
    # Neither its share is used up, nor is it unlike the others for what the model said.
    assert [teaches_all(several, replace(sample, tenant="asker")) for _ in range(10)][3:] == [True] * 7


async def test_false_reports_of_one_tenant_cost_another_none_of_its_hits(tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as cache:
        for tenant in ("a", "b"):
            for text in ASKED:
                await cache.record(await cache.lookup(text, tenant=tenant), "an answer")
        await cache.settle()

        async def hits() -> int:
            found = [await cache.lookup("Could you tell me: " + text, tenant="a") for text in ASKED]
            return sum(one.answer is not None for one in found)

        before = await hits()
        for _ in range(6):
            for text in ASKED:
                found = await cache.lookup("I would like to know: " + text, tenant="b")
                if found.answer is not None:
                    await cache.feedback(found.entry_id, correct=False)
                    await cache.record(await cache.lookup(text, tenant="b"), "an answer")
        await cache.settle()
        assert before >= 5
        assert await hits() >= 0.9 * before


@pytest.mark.parametrize(("tenants", "colluding"), [(4, 1), (8, 2), (20, 5), (40, 10)])
def test_a_quarter_of_the_tenants_teach_nothing_by_their_reports(tenants: int, colluding: int) -> None:
    several = Corroboration()
    for number in range(tenants):
        several.saw(str(number))
    told = [teaches_all(several, replace(LABEL, tenant=str(number))) for _ in range(20) for number in range(colluding)]
    assert not any(told)


def test_what_more_than_a_quarter_report_is_heard() -> None:
    several = Corroboration()
    for number in range(8):
        several.saw(str(number))
    told = [teaches_all(several, replace(LABEL, tenant=str(number))) for _ in range(4) for number in range(4)]
    assert any(told)


SAMPLE = replace(LABEL, source=LabelSource.AUDIT)


def test_a_flood_of_samples_teaches_others_no_more_than_all_of_them_do() -> None:
    several = Corroboration()
    taught = dict.fromkeys("abcd", 0)
    for turn in range(4000):
        name = "bcd"[turn // 20 % 3] if turn % 20 == 0 else "a"
        taught[name] += several.take(replace(SAMPLE, tenant=name)) is Reach.ALL
    assert taught["b"] + taught["c"] + taught["d"] >= 190  # but for the first few of each, none is left out
    assert taught["a"] <= 4000 // 400 * 40 + 40


def test_what_goes_beyond_still_teaches_the_tenants_own_class() -> None:
    several = Corroboration()
    reached = {several.take(replace(SAMPLE, tenant=name)) for name in ("a", "b", "c", *("a" for _ in range(500)))}
    assert reached == {Reach.ALL, Reach.OWN}


LIKELY, LIE = replace(SAMPLE, correct=True, p_correct=0.95), replace(SAMPLE, correct=False, p_correct=0.95)


@pytest.mark.parametrize("honest", [0, 20])
def test_a_tenant_whose_samples_belie_what_was_expected_is_set_aside(honest: int) -> None:
    """However it began: soon it teaches its own class alone, and those it lies to go on teaching."""
    several = Corroboration()
    for turn in range(60):
        several.take(replace(LIKELY, tenant="bcd"[turn % 3]))
    for _ in range(honest):
        several.take(replace(LIKELY, tenant="a"))
    told = [several.take(replace(LIE, tenant="a")) for _ in range(60)]
    assert told.count(Reach.ALL) <= 8
    assert set(told[10:]) == {Reach.OWN}
    assert several.take(replace(LIKELY, tenant="b")) is Reach.ALL


def test_what_a_tenant_taught_of_served_answers_is_disowned_once_when_it_is_set_aside() -> None:
    several = Corroboration()
    for turn in range(60):
        several.take(replace(LIKELY, tenant="bcd"[turn % 3], served=True))
    told = [replace(LIE, tenant="a", served=turn % 2 == 0, entry_id=turn) for turn in range(20)]
    taught = [one for one in [*[replace(LIKELY, tenant="a")] * 5, *told] if several.take(one) is Reach.ALL]
    served = [one for one in taught if one.served]
    assert served, "nothing was taught before it was set aside"
    assert several.disowned() == served
    assert several.disowned() == []


def test_what_surprises_in_all_tenants_alike_is_learned_from() -> None:
    several = Corroboration()
    told = [several.take(replace(LIE, tenant="abcd"[turn % 4])) for turn in range(200)]
    assert told[-40:].count(Reach.ALL) >= 36


@given(st.lists(st.sampled_from("ab"), max_size=300))
def test_two_tenants_are_heard_alike(names: list[str]) -> None:
    """With two there is no telling who is unlike the other; a newcomer that errs is heard once it can be compared."""
    both = Corroboration()
    for place, name in enumerate(names):
        heard = both.take(replace(SAMPLE, tenant=name)) is Reach.ALL
        assert heard or names[:place].count(name) < 3


@given(st.lists(st.sampled_from("abcdef"), max_size=600))
def test_no_tenant_teaches_more_than_half_of_late_but_for_its_first_samples(names: list[str]) -> None:
    several = Corroboration()
    taught: list[str] = []
    for name in names:
        if several.take(replace(SAMPLE, tenant=name)) is Reach.ALL:
            taught.append(name)
            if len(set(names)) >= 3 and len(set(taught)) >= 3:
                own = taught.count(name)
                assert own <= max(40, len(taught) - own + 1) or len(taught) > 300


async def test_a_tenant_that_is_set_aside_is_no_longer_served_the_wordings_that_are_wrong_for_it(
    tmp_path: Path,
) -> None:
    """Its audits close them for it, and for nobody else."""
    audit = replace(SAMPLE, features=features_of(Edit.FILLER), p_correct=0.998)
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as cache:
        log = cache.components.learner.log
        await log.append([replace(audit, tenant="a", correct=True)] * 60)
        await log.append([replace(audit, tenant="b", correct=False)] * 60)
        assert log.corroboration.take(replace(audit, tenant="b", correct=False)) is Reach.OWN
        assert not log.wordings.judge("default", Edit.FILLER, Controls(), "b").serve
        assert log.wordings.judge("default", Edit.FILLER, Controls(), "a").serve


async def test_a_lie_that_met_an_audit_costs_others_nothing_once_its_tenant_is_set_aside(tmp_path: Path) -> None:
    """Else one tenant could use up the error budget of all by its first false answer."""
    async with opened(tmp_path) as cache:
        strategy = cache.components.strategy
        assert isinstance(strategy, ByCategory)
        for _ in range(100):
            strategy.note("default", 0.97, served=True, audited=True)
        await taught(cache, [audit(number, tenant="abc"[number % 3]) for number in range(60)])
        certified = strategy._of("default")
        assert isinstance(certified, CertifiedThreshold)
        budget = certified._of("default").control.budget
        before = budget.spent
        await taught(cache, [audit(100 + number, tenant="d", correct=number < 3) for number in range(4)])
        assert budget.spent > before + 0.9, "the lie taught nothing"
        await taught(cache, [audit(104 + number, tenant="d", correct=False) for number in range(8)])
        assert budget.spent == pytest.approx(before, abs=0.1)
        spent = budget.spent
        await taught(cache, [audit(120 + number, tenant="d", correct=False) for number in range(8)])
        assert budget.spent == pytest.approx(spent, abs=0.1), "it is given back once"
    async with opened(tmp_path) as again:
        strategy = again.components.strategy
        strategy.note("default", 0.97, served=True, audited=True)
        certified = strategy._of("default")  # type: ignore[attr-defined]
        budget = certified._of("default").control.budget
        left = budget.spent
        assert left > 1.0
        await taught(again, [audit(200, tenant="a"), audit(201, tenant="d", correct=False)])
        assert budget.spent == pytest.approx(left, abs=0.1), "given back again by a restart"


def test_answers_that_change_with_time_set_nobody_aside() -> None:
    several = Corroboration()
    changed = replace(SAMPLE, tenant="a", source=LabelSource.REASKED, features=(3600.0, 1.0), p_correct=1.0)
    for _ in range(8):
        several.take(changed)
    told = [several.take(replace(LIKELY, tenant="ab"[turn % 2])) for turn in range(60)]
    assert told.count(Reach.OWN) <= 2


async def test_what_a_liar_has_cost_beliefs_about_edits_and_hits_on_a_word_is_given_back_by_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as cache:
        log, back = cache.components.learner.log, Counter[str]()
        monkeypatch.setattr(log.wordings, "disown", lambda label: back.update(["wording"]))
        monkeypatch.setattr(log.judged, "disown", lambda label: back.update(["judged"]))
        await taught(cache, [audit(number, tenant="abc"[number % 3]) for number in range(60)])
        await taught(cache, [audit(100 + number, tenant="d", correct=number < 3) for number in range(4)])
        assert not back
        await taught(cache, [audit(104 + number, tenant="d", correct=False) for number in range(8)])
    assert back["wording"] == back["judged"] > 0


def test_a_report_that_several_workers_have_labelled_counts_once_and_so_does_its_withdrawal() -> None:
    corroboration = Corroboration()
    corroboration.saw("other")
    for number in range(3):
        corroboration.take(replace(LABEL, tenant="other", exact=b"%d" % number))
    first = replace(LABEL, origin="report:7")
    assert [corroboration.take(replace(first, exact=exact)) for exact in (b"a", b"b", b"c")] == [
        Reach.ALL,
        Reach.NOBODY,
        Reach.NOBODY,
    ]
    assert corroboration.take(replace(LABEL, origin="report:8")) is Reach.ALL
    gone = replace(first, source=LabelSource.WITHDRAWN)
    assert [corroboration.take(replace(gone, exact=exact)) for exact in (b"a", b"b", b"c")] == [
        Reach.ALL,
        Reach.NOBODY,
        Reach.NOBODY,
    ]


def test_labels_of_hits_under_one_promise_are_no_labels_of_one_report() -> None:
    corroboration, hedged = Corroboration(), replace(LABEL, origin="promise:1:2")
    assert [corroboration.take(hedged) for _ in range(3)] == [Reach.ALL] * 3


def test_right_and_wrong_reports_do_not_vouch_for_each_other() -> None:
    corroboration = Corroboration()
    for tenant in "ab":
        corroboration.saw(tenant)
    for _ in range(5):
        assert not teaches_all(corroboration, replace(LABEL, tenant="b", correct=False))
    assert not teaches_all(corroboration, replace(LABEL, tenant="a", correct=True))
    assert teaches_all(corroboration, replace(LABEL, tenant="a", correct=False))
