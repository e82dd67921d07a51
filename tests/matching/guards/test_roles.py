"""Who does what to whom: exchanged roles are told apart in every form of a question, and other forms are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.matching.guards import roles
from semcache.request.text import read
from tests.matching.guards.verdicts import VETO, verdict

EXCHANGED = [
    ("Who taught Aristotle?", "Who did Aristotle teach?"),
    ("Who taught Plato?", "Who was taught by Plato?"),
    ("Did Rome conquer Greece?", "Was Rome conquered by Greece?"),
    ("Do sharks attack dolphins?", "Are sharks attacked by dolphins?"),
    ("Which animals eat foxes?", "Which animals are eaten by foxes?"),
    ("What animals do lions eat?", "What animals eat lions?"),
    ("What causes migraines?", "What do migraines cause?"),
    ("Can a landlord be sued by a tenant?", "Can a landlord sue a tenant?"),
    ("Will moss kill my grass?", "Can my moss be killed by grass?"),
    ("What led to the fall of the Berlin Wall?", "What did the fall of the Berlin Wall lead to?"),
    ("Which banks can borrow from the ECB?", "Which banks does the ECB borrow from?"),
    ("Who succeeded Queen Victoria?", "Who did Queen Victoria succeed?"),
    ("By whom was Napoleon defeated at Waterloo?", "Who did Napoleon defeat at Waterloo?"),
    ("My dog attacked the neighbour, what now?", "The neighbour attacked my dog, what now?"),
    ("Iron deficiency leads to what?", "What leads to iron deficiency?"),
    ("Is Tesla sued by Walmart?", "Does Tesla sue Walmart?"),
    ("What does inflation cause?", "What are the causes of inflation?"),
    ("What brought about the fall of the Berlin Wall?", "What did the fall of the Berlin Wall lead to?"),
    ("Does the subject come before the verb?", "Does the verb come before the subject?"),
    ("Does the subject come before the verb?", "Does the subject follow the verb?"),
    ("Does Welsh put the verb before the subject?", "In Welsh, does the subject come before the verb?"),
    ("Should I take levothyroxine before breakfast?", "Should I eat breakfast before levothyroxine?"),
    ("What preys on owls?", "What do owls prey on?"),
]
ALIKE = [
    ("Who taught Aristotle?", "Who was Aristotle taught by?"),
    ("Did Rome conquer Greece?", "Was Greece conquered by Rome?"),
    ("Does climate change cause droughts?", "Are droughts caused by climate change?"),
    ("What does inflation lead to?", "What are the consequences of inflation?"),
    ("What causes inflation?", "What are the reasons for inflation?"),
    ("Does stress cause acne?", "Does acne result from stress?"),
    ("Is coffee before a workout better than after it?", "Is coffee after a workout worse than before it?"),
    ("Can I stretch before my workout?", "Can I work out after stretching?"),
    ("Does lightning come before thunder?", "Does thunder follow lightning?"),
    ("What do owls eat?", "What is eaten by owls?"),
    ("Who betrayed Anne Frank?", "anne frank betrayed by who"),
    ("Does France border Spain?", "Does Spain border France?"),
    ("Did Edison work for Tesla, or Tesla for Edison?", "Did Tesla work for Edison, or Edison for Tesla?"),
    ("Is leave accrued during parental leave?", "Does leave accrue during parental leave?"),
    ("Is the order shipped late?", "Did the order ship late?"),
    ("Does sugar dissolve in water?", "Does water dissolve sugar?"),
    ("How does sleep affect memory?", "How is memory affected by sleep?"),
    ("Can employees record a boss secretly?", "Can a boss be secretly recorded by employees?"),
    ("The abbey lies north of the market", "North of the market lies the abbey"),
    ("Does my bank lend to students?", "Can students be lent to by my bank?"),
]


@pytest.mark.parametrize(("one", "two"), EXCHANGED)
def test_roles_that_changed_places_are_a_veto(one: str, two: str) -> None:
    assert verdict("direction", one, two) == VETO
    assert verdict("direction", two, one) == VETO


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_the_same_roles_in_another_form_are_none(one: str, two: str) -> None:
    assert roles.exchanged(roles.read(read(one).words), roles.read(read(two).words)) is None


def test_a_long_prompt_names_no_roles() -> None:
    assert roles.read(read("Did Rome conquer Greece? " + "It was long ago. " * 10).words) == {}


_WORDS = st.lists(
    st.sampled_from(
        ("who", "what", "did", "was", "been", "by", "the", "cats", "eat", "eaten", "dogs", "which", "to", "of", "be")
    )
)


@given(_WORDS, _WORDS)
def test_any_order_of_words_is_read_and_compared_alike_from_both_sides(one: list[str], two: list[str]) -> None:
    left, right = roles.read(tuple(one)), roles.read(tuple(two))
    assert (roles.exchanged(left, right) is None) == (roles.exchanged(right, left) is None)
    assert roles.exchanged(left, left) is None
