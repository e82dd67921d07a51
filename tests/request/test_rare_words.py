"""Rare words that look like slips of frequent ones: a question about one is not served what the other one is."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("what is a quoll", "what is a quill"),
    ("how do i make macarons", "how do i make macaroons"),
    ("what is chorine", "what is chlorine"),
    ("what is a cetaceous animal", "what is a cretaceous animal"),
    ("who carried the fasces in rome", "who carried the faces in rome"),
    ("how do i play a cajon at home", "how do i play a canon at home"),
    ("what is a trochee", "what is a troche"),
    ("what is diphenol", "what is diphenyl"),
    # A word that no list has, of five letters and with nothing beside it but the question.
    ("what is a plune", "what is a plane"),
    ("how do i make blede", "how do i make blade"),
]
SAME = [
    ("what is a valcano", "what is a volcano"),
    ("where can i see a penguni in germany", "where can i see a penguin in germany"),
    ("what is a cofffee", "what is a coffee"),
    ("what is teh capital of peru", "what is the capital of peru"),
    ("where is frnace", "where is france"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_a_rare_word_is_no_slip_of_another_one(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_a_slip_is_corrected_still(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
