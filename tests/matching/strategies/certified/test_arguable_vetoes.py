"""A veto against a text in quite other words: a verifier that read both may overrule it, and nobody else."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from semcache.matching import doubts, features
from semcache.matching.decide import RequestTerms, semantic
from semcache.matching.guards import GUARDS, conflicts
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.types import Candidate, Card, Conflict, Controls, Verify, Why
from semcache.types.evidence import LabelSource
from tests.matching.strategies.certified.cases import ANY, CACHED, PACK, candidate, label

ARGUABLE = Conflict("dates", "next morning / tomorrow", arguable=True)
OTHER = "How can I reset my password for the app?"
FINAL = Conflict("dates", "next morning / tomorrow")

FINE = "Does the late fee apply if I return the rental skis at 8 am the next morning instead of 6 pm?"
OTHERWISE = "rent skis, due 6 pm, back 8 am following morning: surcharge y/n"
ANOTHER_HOUR = FINE.replace("8 am", "9 am")


def _threshold(verify: str = "verifier") -> CertifiedThreshold:
    category = msgspec.structs.replace(PACK.of("support"), verify=verify)
    return CertifiedThreshold(msgspec.structs.replace(PACK, categories={**PACK.categories, "support": category}))


def _heard(found: Candidate, said: float) -> Candidate:
    """As `decide.verified` shows it to the strategy: with the word, and what the guards found in the features alone."""
    return replace(found, conflicts=(), features=features.with_verdict(found.features, said))


def test_likeness_never_overrules_an_arguable_veto() -> None:
    for verify in ("off", "verifier"):
        verdict = _threshold(verify).judge(candidate(0.999, CACHED, ARGUABLE), "support", controls=ANY, draw=0.5)
        assert not verdict.serve
        assert verdict.why is Why.GUARD


def test_the_verifier_is_asked_about_it_and_its_word_serves() -> None:
    found, threshold = candidate(0.93, OTHER, ARGUABLE), _threshold()
    assert threshold.judge(found, "support", controls=ANY, draw=0.5).verify
    assert threshold.judge(_heard(found, 0.99), "support", controls=ANY, draw=0.5).serve
    assert not threshold.judge(_heard(found, 0.05), "support", controls=ANY, draw=0.5).serve


def test_nobody_is_asked_about_a_final_veto_nor_beside_one() -> None:
    for found in (
        candidate(0.93, CACHED, FINAL),
        candidate(0.93, CACHED, ARGUABLE, Conflict("numbers", "8 / 9")),
    ):
        verdict = _threshold().judge(found, "support", controls=ANY, draw=0.5)
        assert (verdict.serve, verdict.verify) == (False, False)


def test_a_language_model_may_be_asked_about_an_arguable_veto() -> None:
    assert not doubts.vetoed(candidate(0.93, CACHED, ARGUABLE))
    assert doubts.vetoed(candidate(0.93, CACHED, FINAL))


def test_labels_overrule_arguable_vetoes_as_they_do_others() -> None:
    found, threshold = candidate(0.995, CACHED, ARGUABLE), _threshold("off")
    for _ in range(400):
        threshold.observe(label(found, correct=True, source=LabelSource.MISS))
    assert threshold.judge(found, "support", controls=ANY, draw=0.5).serve


def test_an_arguable_veto_weighs_less_than_a_final_one_and_more_than_a_doubt_until_the_word_is_there() -> None:
    place = features.NAMES.index("guard:dates")
    doubt = Conflict("dates", "next morning / tomorrow", veto=False)
    final, arguable, doubted = (candidate(0.93, CACHED, one).features for one in (FINAL, ARGUABLE, doubt))
    assert final[place] == 1.0
    assert doubted[place] < arguable[place] < 1.0
    assert features.with_verdict(arguable, 0.9) == features.with_verdict(doubted, 0.9)
    assert features.with_verdict(final, 0.9)[place] == 1.0


def test_a_veto_is_arguable_where_the_wording_is_quite_another() -> None:
    (other_words,) = conflicts(OTHERWISE, FINE, GUARDS)
    assert (other_words.veto, other_words.arguable, other_words.final) == (True, True, False)
    (same_words,) = conflicts(ANOTHER_HOUR, FINE, GUARDS)
    assert (same_words.veto, same_words.arguable, same_words.final) == (True, False, True)


def test_other_symbols_are_never_arguable() -> None:
    one = "Is it cheaper to send a parcel of two kilos from Lyon to Bergen by courier, or by ordinary mail? €"
    two = "What would shipping a 2 kg package between France and Norway cost me, post against express? £"
    (found, *_) = conflicts(one, two, GUARDS)
    assert found.guard == "characters"
    assert found.final


def test_a_lookup_asks_the_verifier_about_a_neighbour_in_other_words_that_a_guard_misreads() -> None:
    def decided(text: str) -> object:
        card = Card(1, b"", b"", "support", text, 0.0, 1.0)
        terms = RequestTerms("support", Controls(), now=0.5, draw=0.5)
        return semantic([Candidate(card, 0.95)], FINE, terms, _threshold(), lambda a, b: conflicts(a, b, GUARDS))

    assert isinstance(decided(OTHERWISE), Verify)
    assert not isinstance(decided(ANOTHER_HOUR), Verify)
