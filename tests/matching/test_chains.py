"""A chain of turns is as sure as all its links together."""

from __future__ import annotations

import math

import pytest

from semcache.matching import chains
from semcache.matching.chains import ChainLink
from semcache.types import Candidate, Card

CARD = Card(1, b"", b"", "", "cached", 0.0, math.inf, 1)


def links(*ps: float) -> list[ChainLink]:
    return [ChainLink("asked", Candidate(CARD, 0.9), p) for p in ps]


@pytest.mark.parametrize(
    ("ps", "served"), [((0.76,), True), ((0.74,), False), ((0.88,) * 2, True), ((0.85,) * 2, False)]
)
def test_doubts_of_several_links_add_up_after_a_word(ps: tuple[float, ...], served: bool) -> None:
    assert chains.holds(links(*ps)) == served


@pytest.mark.parametrize(("ps", "served"), [((0.971,), True), ((0.969,), False), ((0.98,) * 2, False)])
def test_without_a_word_more_is_asked_of_a_chain(ps: tuple[float, ...], served: bool) -> None:
    assert chains.sure_alone(links(*ps)) == served


@pytest.mark.parametrize(("ps", "asked"), [((0.61,) * 4, True), ((0.61,) * 5, False), ((0.99, 0.59), False)])
def test_no_word_is_asked_for_where_one_link_or_their_number_is_hopeless(ps: tuple[float, ...], asked: bool) -> None:
    assert chains.hopeful(links(*ps)) == asked


def test_a_chain_without_doubtful_links_is_sure() -> None:
    assert chains.joint([]) == 1.0
