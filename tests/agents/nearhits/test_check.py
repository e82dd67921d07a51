"""A cascade believes what looks like answers that were good, and serves it only while comparisons certify that."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from semcache.agents.multiplex.signals import RoutingRequest
from semcache.agents.nearhits import Arm, NearHits, PathState
from semcache.agents.nearhits.check import FEW, CascadeCheck
from semcache.agents.nearhits.near import Draws
from semcache.storage.indexes.flat import FlatIndex
from tests.agents.nearhits.test_near import SETTINGS, example, unit

ASKED = RoutingRequest("How much is 12 and 30?")
GOOD, BAD = "12 + 30 = 42. The answer is 42.", "I am not sure, however 12 + 30 = 17"
CASCADE = replace(SETTINGS, strategy="cascade")


def taught(rounds: int = 200) -> CascadeCheck:
    check = CascadeCheck(0.4, 0.1)
    for number in range(rounds):
        check.learn(ASKED, GOOD if number % 2 else BAD, float(number % 2))
    return check


def test_nothing_is_believed_before_enough_is_known_and_then_what_looks_good() -> None:
    check = taught(FEW - 2)
    assert not check.believes(ASKED, GOOD)
    check = taught()
    assert check.believes(ASKED, GOOD)
    assert not check.believes(ASKED, BAD)
    assert not check.believes(ASKED, "  ")


def test_where_hardly_an_answer_is_believed_asking_first_does_not_pay() -> None:
    check = taught()
    assert check.pays(0.9)
    for _ in range(300):
        check.believes(ASKED, BAD)
    assert not check.pays(0.05)
    for _ in range(300):
        check.believes(ASKED, GOOD)
    assert check.pays(0.9)


def test_what_a_check_learned_survives() -> None:
    check, again = taught(), CascadeCheck(0.4, 0.1)
    again.restore(json.loads(json.dumps(check.state())))
    assert (again.believes(ASKED, GOOD), again.believes(ASKED, BAD)) == (True, False)


def lived(near: NearHits, seed: int, rounds: int, *, honest: bool = True) -> list[tuple[str, bool]]:
    """Requests half of which the small model answers well; what was served of each, and whether it was good.

    An answer shows whether it is good while the model is `honest`.
    """
    rng, seen = random.Random(seed), []
    for number in range(rounds):
        draws = Draws(rng.random(), rng.random(), rng.random())
        choice = near.consider(
            f"How much is {number}?", partition=b"p", category="c", vector=unit(1, 0.1), now=float(number), draws=draws
        )
        good = rng.random() < 0.5
        answer = GOOD if good or not honest else BAD
        believed = near.believes(choice, answer) if choice.arm is not Arm.LARGE or choice.compare else False
        seen.append(("small" if choice.arm is not Arm.LARGE and believed else "large", good))
        if choice.compare:
            near.compared(choice, quality=float(good), now=float(number), answer=answer, believed=believed)
    return seen


def test_what_looks_good_is_served_once_that_is_certified_and_nothing_else() -> None:
    near = NearHits(CASCADE, FlatIndex)
    near.offer(example(1), 0.0)
    seen = lived(near, 0, 1500)
    first = next(number for number, (who, _) in enumerate(seen) if who == "small")
    assert first > FEW
    served = [good for who, good in seen[first:] if who == "small"]
    assert sum(served) / len(served) > 0.9
    assert len(served) > 0.4 * len(seen[first:])


def test_a_model_whose_answers_tell_nothing_is_never_served() -> None:
    near = NearHits(CASCADE, FlatIndex)
    assert {who for who, _ in lived(near, 1, 1000, honest=False)} == {"large"}


def test_when_good_looks_deceive_nothing_is_served_any_more() -> None:
    near = NearHits(CASCADE, FlatIndex)
    lived(near, 2, 1500)
    assert near.watch("c").open
    after = lived(near, 3, 2000, honest=False)
    assert {who for who, _ in after[-500:]} == {"large"}


def test_a_path_that_serves_what_is_worse_than_promised_closes() -> None:
    near = NearHits(CASCADE, FlatIndex)
    lived(near, 2, 1500)
    assert near.watch("c").open
    draws, vector = Draws(compare=0.0), unit(1, 0.1)
    for number in range(200):
        asked = f"How much is {number}?"
        choice = near.consider(asked, partition=b"p", category="c", vector=vector, now=1500.0, draws=draws)
        near.compared(choice, quality=0.0, now=1500.0, answer=GOOD, believed=True)
        if not near.watch("c").open:
            break
    assert near.watch("c").state is PathState.CLOSED
