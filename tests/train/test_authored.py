"""The groups written for the verifier: whole, and never split between what is trained on and what is held out."""

from __future__ import annotations

from collections import defaultdict

from semcache.train.recipe import authored
from semcache.train.recipe.verifier_recipe import AGAINST_IT, ONE_BESIDE, origin, rewordings_beside

GROUPS = list(authored.groups())


def test_every_group_is_whole_and_says_everything_once() -> None:
    assert len(GROUPS) > 5000
    for group in GROUPS:
        texts = [group.prompt, *group.same, *(text for _, text in group.different)]
        assert 2 <= len(group.same) <= 5, group.prompt
        assert 3 <= len(group.different) <= 6, group.prompt
        assert len({text.lower() for text in texts}) == len(texts), group.prompt
        assert all(text.strip() == text and 2 <= len(text) <= 1000 for text in texts), group.prompt
    prompts = [(group.topic, group.prompt.lower()) for group in GROUPS]
    assert len(set(prompts)) == len(prompts), "two hands may have had the same idea, one hand has it once"


def test_a_group_is_trained_on_or_held_out_as_a_whole() -> None:
    sides = defaultdict(set)
    by_text = {text: group.prompt for group in GROUPS for text in (group.prompt, *group.same)}
    for found in authored.paired(GROUPS):
        unread = authored.unread(found.pair.made.removeprefix("authored:"))
        assert origin(found) == ("unread" if unread else "authored")
        sides[by_text[found.pair.one]].add(found.held)
    assert all(len(held) == 1 for held in sides.values())
    read = [sides[group.prompt] for group in GROUPS if not authored.unread(group.topic)]
    assert 0.1 < sum(True in one for one in read) / len(read) < 0.15


def test_nothing_of_an_unread_hand_is_trained_on() -> None:
    unread = [group for group in GROUPS if authored.unread(group.topic)]
    assert len({group.topic for group in unread}) == 24
    assert all(found.held for found in authored.paired(unread))


def test_a_kind_of_difference_can_be_left_out() -> None:
    some = GROUPS[::10]
    kinds = {kind for group in some for kind, _ in group.different}
    assert {"number", "negation", "entity", "direction", "scope", "form"} <= kinds
    without = list(authored.paired(some, without=["negation"]))
    assert {found.pair.kind for found in without if not found.pair.same} == kinds - {"negation"}


def test_a_different_text_stands_beside_as_many_rewordings_as_wanted() -> None:
    group = next(one for one in GROUPS if len(one.same) >= 3)
    by_count = {}
    for beside in (1, 2, 3):
        pairs = [found.pair for found in authored.paired([group], beside=beside) if not found.pair.same]
        assert len({(pair.one, pair.two) for pair in pairs}) == len(pairs) == (1 + beside) * len(group.different)
        by_count[beside] = pairs
    assert {pair.one for pair in by_count[3]} <= {group.prompt, *group.same}
    assert all(any(pair == more for more in by_count[2]) for pair in by_count[1])


def test_topics_that_are_paired_less_or_more_often_are_there() -> None:
    assert {group.topic for group in GROUPS} > ONE_BESIDE | AGAINST_IT
    assert not any(map(authored.unread, ONE_BESIDE | AGAINST_IT))
    assert not ONE_BESIDE & AGAINST_IT


def test_a_group_that_was_written_against_a_verifier_is_paired_whole() -> None:
    count = {
        topic: {rewordings_beside(group) for group in GROUPS if group.topic == topic} for topic in ("support", "facts")
    }
    assert count == {"support": {1}, "facts": {2}}
    group = next(one for one in GROUPS if one.topic in AGAINST_IT and len(one.same) > 2)
    pairs = {(found.pair.one, found.pair.two) for found in authored.paired([group], beside=rewordings_beside(group))}
    assert {(same, text) for same in (group.prompt, *group.same) for _, text in group.different} <= pairs
