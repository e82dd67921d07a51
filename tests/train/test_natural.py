"""The natural questions and their verdicts: each pair once, and nothing that is held out beside what is trained on."""

from __future__ import annotations

from semcache.train.recipe import natural
from semcache.train.recipe.verifier_recipe import origin

QUESTIONS = {one.text: one for one in natural.questions()}


def test_every_question_is_there_once_and_can_be_asked_of_anybody() -> None:
    assert len(QUESTIONS) == len(natural.questions()) > 5000
    assert len({text.lower() for text in QUESTIONS}) == len(QUESTIONS)
    assert all(text.strip() == text and 8 <= len(text) <= 250 for text in QUESTIONS)
    assert all(one.topic and one.hand for one in QUESTIONS.values())


def test_a_pair_has_one_verdict_whichever_question_comes_first() -> None:
    pairs = [frozenset((one.one, one.two)) for one in natural.verdicts()]
    assert len(set(pairs)) == len(pairs) > 10_000
    assert all(len(pair) == 2 and pair <= set(QUESTIONS) for pair in pairs)
    assert {one.p_yes for one in natural.verdicts()} <= {0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99}


def test_topics_and_hands_that_are_held_out_are_not_trained_on() -> None:
    sides = [(one.topic, one.hand) for one in QUESTIONS.values() if one.held]
    others = [(one.topic, one.hand) for one in QUESTIONS.values() if not one.held]
    assert {hand for _, hand in sides} == {"unread_site", "unread_desk"}
    for place in (0, 1):
        assert not {side[place] for side in sides} & {side[place] for side in others}
    assert all(QUESTIONS[found.pair.one].held is QUESTIONS[found.pair.two].held for found in natural.paired())


def test_pairs_are_read_in_both_orders_with_labels_as_sure_as_the_verdict() -> None:
    found = list(natural.paired())
    assert len(found) == 2 * len(natural.verdicts())
    for place, judged in enumerate(natural.verdicts()):
        there, back = found[2 * place : 2 * place + 2]
        assert (there.pair.one, there.pair.two) == (back.pair.two, back.pair.one) == (judged.one, judged.two)
        p_same = there.sure if there.pair.same else 1.0 - there.sure
        assert abs(p_same - judged.p_yes) < 1e-9
        assert origin(there) == origin(back) == "natural"
