"""The natural questions and their verdicts: each pair once, and nothing that is held out beside what is trained on."""

from __future__ import annotations

from semcache.train.recipe import natural
from semcache.train.recipe.verifier_recipe import origin

QUESTIONS = {one.text: one for one in natural.questions()}


def test_every_question_is_there_once_and_can_be_asked_of_anybody() -> None:
    assert len(QUESTIONS) == len(natural.questions()) > 20_000
    assert len({text.lower() for text in QUESTIONS}) == len(QUESTIONS)
    assert all(text.strip() == text and 8 <= len(text) <= 300 for text in QUESTIONS)
    assert all(one.topic and one.hand for one in QUESTIONS.values())


def test_a_pair_has_one_verdict_whichever_question_comes_first() -> None:
    pairs = [frozenset((one.one, one.two)) for one in natural.verdicts()]
    assert len(set(pairs)) == len(pairs) > 32_000
    assert all(len(pair) == 2 and pair <= QUESTIONS.keys() for pair in pairs)
    assert {one.p_yes for one in natural.verdicts()} <= {0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99}


def test_topics_and_hands_that_are_held_out_are_not_trained_on() -> None:
    sides = [(one.topic, one.hand) for one in QUESTIONS.values() if one.held]
    others = [(one.topic, one.hand) for one in QUESTIONS.values() if not one.held]
    assert {hand for _, hand in sides} == {"unread_site", "unread_desk", "unread_crowd", "unread_requests"}
    for place in (0, 1):
        assert not {side[place] for side in sides} & {side[place] for side in others}
    assert all(QUESTIONS[found.pair.one].held is QUESTIONS[found.pair.two].held for found in natural.paired())


def test_labels_are_as_sure_as_the_verdicts() -> None:
    for found, judged in zip(natural.paired(), natural.verdicts(), strict=True):
        assert (found.pair.one, found.pair.two) == (judged.one, judged.two)
        p_same = found.sure if found.pair.same else 1.0 - found.sure
        assert abs(p_same - judged.p_yes) < 1e-9
        assert origin(found) == "natural"
