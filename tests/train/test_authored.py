"""The groups written for the verifier: whole, and never split between what is trained on and what is held out."""

from __future__ import annotations

from collections import defaultdict

from semcache.train.recipe import authored
from semcache.train.recipe.verifier_recipe import COURSES, GO_ON, TOPICS, MixtureSizes, in_courses, origin

GROUPS = list(authored.groups())


def test_every_group_is_whole_and_says_everything_once() -> None:
    assert len(GROUPS) > 5000
    for group in GROUPS:
        texts = [group.prompt, *group.same, *(text for _, text in group.different)]
        assert 2 <= len(group.same) <= 5, group.prompt
        assert 3 <= len(group.different) <= 6, group.prompt
        assert len({text.lower() for text in texts}) == len(texts), group.prompt
        assert all(text.strip() == text and 2 <= len(text) <= 400 for text in texts), group.prompt
    prompts = [group.prompt.lower() for group in GROUPS]
    assert len(set(prompts)) == len(prompts)


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
    assert len({group.topic for group in unread}) == 14
    assert all(found.held for found in authored.paired(unread))


def test_a_kind_of_difference_can_be_left_out() -> None:
    kinds = {kind for group in GROUPS for kind, _ in group.different}
    assert {"number", "negation", "entity", "direction", "scope", "form"} <= kinds
    without = list(authored.paired(GROUPS, without=["negation"]))
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


def test_the_topics_of_the_later_courses_are_there_and_nothing_is_trained_on_an_unread_one() -> None:
    topics = {group.topic for group in GROUPS}
    named = [topic for topics in TOPICS.values() for topic in topics]
    assert topics > set(named)
    assert len(set(named)) == len(named)
    assert not any(map(authored.unread, named))


def test_no_pair_is_in_two_courses_while_there_are_others() -> None:
    pools = {name: [one for one in authored.paired(GROUPS[at::3]) if not one.held] for at, name in enumerate("abc")}
    courses = ({"a": 300}, {"a": 50, "b": 200}, {"a": 40, "b": 30, "c": 100}, {"a": 20, "b": 20, "c": 20})
    made = in_courses(pools, courses, 7)
    assert [len(course) for course in made] == [300, 250, 170, 60]
    assert in_courses(pools, courses, 7) == made
    every = [pair for course in made for pair in course]
    assert len({(one.pair.one, one.pair.two) for one in every}) == len(every)
    assert sum(pair in pools["a"] for pair in made[3]) == 20


def test_a_pool_that_is_read_to_its_end_is_read_again_from_its_beginning() -> None:
    pool = [pair for pair in authored.paired(GROUPS[:20]) if not pair.held][:30]
    made = in_courses({"a": pool, "b": []}, ({"a": 20}, {"a": 8, "b": 5}, {"a": 10}, {"a": 99}), 7)
    read = [sorted(map(pool.index, course)) for course in made]
    assert read == [[*range(20)], [*range(20, 28)], [*range(8), 28, 29], [*range(30)]]


def test_what_is_gone_on_with_reads_of_every_pool_again() -> None:
    courses = MixtureSizes().courses
    assert len(COURSES) == len(courses)
    pools = {name for course in courses for name in course}
    assert all(set(course) >= pools - {"asked_2", "contrasts", "contrasts_2"} for course in courses[-GO_ON:])
    assert set(courses[-1]) == pools
