"""Authored pairs: those near the prompts come, sound, each with its topic, and the same ones every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from semcache.errors import InvalidArgument
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.train.authored_neighbours import GROUPS, authored_neighbours
from semcache.train.recipe import authored
from semcache.train.synthesize import Counts
from semcache.train.synthesize.pair_filter import rejection_reason

if TYPE_CHECKING:
    from semcache.train.pairs import Pair

KNOWN = list(authored.groups())[::6]  # enough to choose among, and soon encoded
encode = HashingEmbedder().encode


@pytest.fixture(autouse=True)
def _fewer_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authored, "groups", lambda: iter(KNOWN))


def made(prompts: list[str], **options: object) -> list[Pair]:
    return list(authored_neighbours(prompts, encode, **{"seed": 3, **options}))  # type: ignore[arg-type]


def test_the_group_that_is_nearest_comes_first_and_alone_if_one_is_wanted() -> None:
    group = KNOWN[1234]
    pairs = made([group.prompt], groups=1)
    texts = {group.prompt, *group.same, *(text for _, text in group.different)}
    assert pairs
    assert {text for pair in pairs for text in (pair.one, pair.two)} <= texts
    assert {pair.made for pair in pairs} == {f"written:{group.topic}"}
    for pair in pairs:
        assert pair.same == (pair.two in {group.prompt, *group.same})


def test_few_prompts_bring_few_groups() -> None:
    prompts = [group.prompt for group in KNOWN[:5]]
    assert {pair.one for pair in made(prompts)} <= {text for one in KNOWN[:5] for text in (one.prompt, *one.same)}
    assert len(made(prompts, groups=40)) > len(made(prompts))
    many = Counts()
    list(authored_neighbours((group.prompt for group in KNOWN), encode, each=1, counts=many))
    assert many.pairs + many.dropped.total() == 2 * GROUPS


def test_pairs_are_sound_and_counted() -> None:
    counts = Counts()
    pairs = made([group.prompt for group in KNOWN[::20]], groups=500, each=9, counts=counts)
    assert not any(rejection_reason(pair) for pair in pairs)
    assert counts.pairs == len(pairs)
    assert counts.dropped["vetoed"] > 0
    assert {pair.same for pair in pairs} == {True, False}


def test_the_seed_decides_everything() -> None:
    prompts = [group.prompt for group in KNOWN[::2]]
    assert made(prompts) == made(prompts)
    assert made(prompts, seed=4) != made(prompts)


def test_no_prompt_brings_nothing_and_no_pair_is_refused() -> None:
    assert made([]) == []
    with pytest.raises(InvalidArgument, match="each=0"):
        made(["a prompt"], each=0)
    with pytest.raises(InvalidArgument, match="groups=0"):
        made(["a prompt"], groups=0)
