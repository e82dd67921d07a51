"""The shipped packs load, keep their promises, and agree with the guards and eligibility that act on them."""

from __future__ import annotations

import pytest

from semcache.config.pack_schema import GUARDS
from semcache.config.packs import Pack, load, packs
from semcache.models.embedders import default_embedder
from semcache.request.categorize import Categories
from semcache.request.eligibility import is_live
from semcache.request.secrets import has_secret

NAMES = ["agents", "code", "default", "finance", "live-data", "medical", "private", "support"]


@pytest.fixture(params=NAMES)
def pack(request: pytest.FixtureRequest) -> Pack:
    return load(request.param)


def test_these_packs_ship() -> None:
    assert packs() == NAMES


def test_a_pack_is_named_as_its_file(pack: Pack) -> None:
    assert pack.source.endswith(f"{pack.name}.yaml")
    assert pack.description


def test_every_category_says_what_it_is_and_can_be_recognised(pack: Pack) -> None:
    for name, category in pack.categories.items():
        assert category.description, name
        assert name == "default" or 8 <= len(category.examples) <= 15, name


def test_no_example_stands_in_two_categories(pack: Pack) -> None:
    texts = [text.lower() for category in pack.categories.values() for text in category.examples]
    assert len(texts) == len(set(texts))


def test_no_example_holds_a_secret(pack: Pack) -> None:
    assert not [text for category in pack.categories.values() for text in category.examples if has_secret(text)]


def test_thresholds_are_strict_and_lives_finite(pack: Pack) -> None:
    for name, category in pack.categories.items():
        assert 0.88 <= category.threshold <= 0.99, name
        assert 0 < category.ttl <= 90 * 86400, name
        assert category.guards == GUARDS, name


def test_live_categories_never_match_by_meaning_and_die_within_minutes() -> None:
    for name in NAMES:
        for category in load(name).categories.values():
            if category.live:
                assert not category.semantic, (name, category.name)
                assert category.ttl <= 600, (name, category.name)


def test_examples_of_cached_timeless_categories_are_not_live() -> None:
    for name in ("default", "code", "medical", "support"):
        for category in load(name).categories.values():
            if category.cache and not category.live and category.name not in ("chat", "contact"):
                assert not [text for text in category.examples if is_live(text)], (name, category.name)


def test_only_private_holds_personal_answers_and_shares_with_nobody() -> None:
    for name in NAMES:
        pack = load(name)
        personal = any(category.personal for category in pack.categories.values())
        assert personal is (name == "private")
        assert pack.share == ("user" if name == "private" else "tenant")


def test_agents_match_by_meaning_only_what_they_ask_on_the_side() -> None:
    assert [name for name, category in load("agents").categories.items() if category.semantic] == ["lookup"]


@pytest.mark.parametrize(
    ("prompt", "category"),
    [
        ("What is the capital of Portugal?", "lookup"),
        ("What does the HTTP status code 404 mean?", "lookup"),
        ("What does the acronym API stand for?", "lookup"),
        ("Compare two hotels and write a summary", "plan"),
        ("Find the cheapest phone in the shop and add it to the cart", "plan"),
        ("I want you to send the email to the customer now", "act"),
        ("What is the status of ticket 7?", "default"),
        ("What is on the screen?", "default"),
        ("How many stars does this repo have?", "default"),
    ],
)
async def test_agents_find_what_is_asked_on_the_side_and_no_step_for_that(prompt: str, category: str) -> None:
    pack, embedder = load("agents"), default_embedder()
    examples = {name: await embedder.embed(list(one.examples)) for name, one in pack.categories.items() if one.examples}
    (vector,) = await embedder.embed([prompt])
    assert Categories(pack, examples).near(vector, prompt)[0] == category
    await embedder.close()


def test_danger_to_life_is_never_cached() -> None:
    assert not load("medical").categories["emergency"].cache
