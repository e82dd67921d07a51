"""The prior of a new embedder: learned where that helps, left alone where it does not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from semcache.matching import features
from semcache.matching.strategies.certified.belief_prior import TERMS, UNASKED, BeliefPrior
from semcache.train import splits
from semcache.train.pairs import Pair
from semcache.train.prior import fit
from semcache.train.recalibrate import PROFILES, candidates, recalibrate

WORDS = ("reset", "cancel", "renew", "change", "verify", "close", "open", "merge", "export", "print", "sign", "lock")
THINGS = ("account", "invoice", "parcel", "password", "order", "card", "address", "phone", "ticket", "coupon")


def traffic(count: int) -> list[Pair]:
    """Pairs with many words in common, some of the same answer and some not, none sharing a text with another."""
    rng = random.Random(1)
    found = []
    for n in range(count):
        verb, thing = rng.choice(WORDS), rng.choice(THINGS)
        same = n % 2 == 0
        other = verb if same else rng.choice([word for word in WORDS if word != verb])
        found.append(
            Pair(f"how do I {verb} my {thing} at branch b{n}x", f"{other} my {thing} at branch b{n}x please", same)
        )
    return found


def scorer(pairs: Sequence[Pair], near: float, far: float):
    """An embedder whose cosine is about `near` for pairs of the same answer and `far` for others."""
    rng = np.random.default_rng(2)
    vectors: dict[str, np.ndarray] = {}
    for pair in pairs:
        one, aside = rng.normal(size=(2, 64))
        one /= np.linalg.norm(one)
        aside -= (aside @ one) * one
        aside /= np.linalg.norm(aside)
        cosine = np.clip((near if pair.same else far) + rng.normal(scale=0.02), -1, 0.999)
        vectors[pair.one], vectors[pair.two] = one, cosine * one + np.sqrt(1 - cosine**2) * aside

    def encode(texts: Sequence[str]) -> np.ndarray:
        rows = []
        for text in texts:
            known = vectors.get(text)
            if known is None:  # another writing of one of them
                known = rng.normal(size=64)
                known /= np.linalg.norm(known)
            rows.append(known)
        return np.array(rows, np.float32)

    return encode


def test_an_embedder_with_a_scale_of_its_own_gets_a_prior_of_its_own() -> None:
    """Here pairs of the same answer score 0.72, which the shipped prior takes for doubtful."""
    pairs = traffic(600)
    outcome = recalibrate(pairs, scorer(pairs, 0.72, 0.56), seed=3)
    assert outcome.told["chosen"] == "learned"
    assert outcome.told["log_loss"]["learned"] < 0.5 * outcome.told["log_loss"]["shipped"]
    assert set(outcome.priors) == set(PROFILES)
    prior = BeliefPrior.read(outcome.priors["any"])
    assert list(prior.risks) == sorted(prior.risks)
    assert outcome == recalibrate(pairs, scorer(pairs, 0.72, 0.56), seed=3), "the same again"


def test_a_check_part_that_was_chosen_by_the_same_seed_teaches_a_prior_too() -> None:
    """As `embedder finetune` does: the part is one end of the very order that its halves would be cut from."""
    pairs = traffic(2000)
    check = splits.split(pairs, check=0.1, test=0.1, seed=7).check
    assert recalibrate(check, scorer(pairs, 0.72, 0.56), seed=7).told["chosen"] == "learned"


def test_few_pairs_say_nothing_and_the_shipped_prior_stays() -> None:
    pairs = traffic(20)
    outcome = recalibrate(pairs, scorer(pairs, 0.9, 0.6), seed=3)
    assert outcome.priors == {}
    assert outcome.told["chosen"] == "shipped"
    assert recalibrate([], scorer([], 0.9, 0.6), seed=3).priors == {}


def test_candidates_are_labelled_by_pairs_alone_and_guards_have_the_first_word() -> None:
    pairs = traffic(40)
    found = candidates(pairs, scorer(pairs, 0.9, 0.8), seed=1)
    trapped = [*pairs, Pair("ship 3 parcels", "ship 4 parcels", False)]
    with_trap = candidates(trapped, scorer(trapped, 0.9, 0.8), seed=1)
    assert len(with_trap["alone"][0]) == len(found["alone"][0]), "a guard vetoes it, so no lookup would judge it"
    assert sum(found["alone"][1]) == 20
    crowd = features.NAMES.index("crowd")
    assert {values[crowd] for values in found["alone"][0]} == {0.0}
    assert min(values[crowd] for values in found["crowded"][0]) > 0.0
    assert all(found["repeats"][1])


@pytest.mark.parametrize("score", [0.3])
def test_what_lies_below_the_floor_teaches_nothing(score: float) -> None:
    pairs = traffic(40)
    assert candidates(pairs, scorer(pairs, score, score), seed=1)["alone"] == ([], [])


def test_where_nobody_was_asked_the_verifiers_word_keeps_the_weight_that_is_stated() -> None:
    rng = random.Random(3)
    values = [tuple(rng.random() for _ in features.AROUND) + (0.0,) * (len(features.NAMES) - 8) for _ in range(60)]
    found = BeliefPrior.read(fit({"some": (values, [one[0] > 0.5 for one in values])}))
    for name, (mean, deviation) in UNASKED.items():
        place = TERMS.index(name)
        assert (found.mean[place], found.deviation[place], found.scale[place]) == (mean, deviation, 1.0)


def test_traffic_that_nobody_was_asked_about_does_not_make_the_verifiers_word_seem_steady() -> None:
    rng = random.Random(4)

    def group(word: float) -> tuple[list[tuple[float, ...]], list[bool]]:
        """Half right; where the verifier is asked at all, `word` is what it says of the right ones."""
        right = [place % 2 == 0 for place in range(200)]
        around = [tuple(rng.random() for _ in features.AROUND) + (0.0,) * (len(features.NAMES) - 8) for _ in right]
        said = [0.5 + word * (0.4 if one else -0.4) * rng.random() for one in right]
        return [features.with_verdict(one, p) if word else one for one, p in zip(around, said, strict=True)], right

    heard = {"trusted": group(1.0), "mistaken": group(-0.5)}
    alone = fit(heard)
    among = fit(heard | {f"unasked {n}": group(0.0) for n in range(8)})
    assert alone["terms"]["word"][3] > 0.1
    assert among["told"]["terms"] == alone["terms"]
    assert "word" not in among["terms"]


def test_different_pairs_that_no_lookup_meets_do_not_make_everything_seem_right() -> None:
    """Their cosines lie below what a lookup looks at, so that only candidates that are right are left to learn from."""
    pairs = traffic(600)
    outcome = recalibrate(pairs, scorer(pairs, 0.72, 0.1), seed=3)
    assert outcome.told["candidates"] >= 200
    assert outcome.told["chosen"] == "shipped"
    assert "of either label" in outcome.told["note"]
    assert outcome.priors == {}
