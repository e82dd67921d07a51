"""A request lands in the category that the caller, a rule or the nearest centroid names, and else in "default"."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from semcache.config.packs import Category, Pack
from semcache.errors import EmbedError, RequestRejected
from semcache.protocols import Categorizer
from semcache.request.categorize import Categories, build, example_texts
from semcache.types import Controls, Endpoint, Request

PACK = Pack(
    name="p",
    description="",
    share="tenant",
    target=0.01,
    min_margin=0.5,
    categories={
        "support": Category(name="support", examples=("a", "b")),
        "code": Category(name="code", patterns=("traceback", r"^fix\b"), models=("*-coder", "code-?"), examples=("c",)),
        "late": Category(name="late", patterns=("traceback",)),
        "default": Category(name="default"),
    },
)
REQUEST = Request(Endpoint.CHAT, "gpt-x", {}, "How do I return shoes?", b"")


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


BUILT: Categorizer = build(PACK, np.stack([unit(1, 0.1, 0), unit(1, -0.1, 0), unit(0, 0, 1)]))


def test_example_texts_keep_the_order_that_build_expects() -> None:
    assert example_texts(PACK) == [("support", "a"), ("support", "b"), ("code", "c")]


def test_the_nearest_centroid_names_the_category() -> None:
    assert BUILT.near(unit(1, 0, 0.2), "")[0] == "support"
    assert BUILT.near(unit(0.2, 0, 1), "")[0] == "code"


def test_a_category_that_is_not_far_behind_the_best_is_sought_in_too() -> None:
    close, far = unit(1, 0, 0.78), unit(1, 0, 0.72)
    assert 0.15 < close[0] - close[2] < 0.2 < far[0] - far[2]
    assert BUILT.near(close, "")[:2] == ("support", "code")
    assert "code" not in BUILT.near(far, "")


def test_what_is_near_to_nothing_is_default() -> None:
    assert BUILT.near(unit(0, 1, 0), "")[0] == "default"
    assert BUILT.near(unit(-1, 0, 0), "")[0] == "default"


def test_without_examples_everything_is_default() -> None:
    assert Categories(PACK).near(unit(1, 0, 0), "") == ("default",)
    bare = Pack(
        name="p",
        description="",
        share="tenant",
        target=0.01,
        min_margin=0.2,
        categories={"default": Category(name="default")},
    )
    assert build(bare, np.zeros((0, 3), dtype=np.float32)).near(unit(1, 0, 0), "") == ("default",)


def test_the_caller_names_the_category() -> None:
    assert BUILT.by_rule(replace(REQUEST, controls=Controls(category="late"))) == "late"
    assert BUILT.by_rule(replace(REQUEST, text="traceback", controls=Controls(category="support"))) == "support"


def test_an_unknown_category_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestRejected, match=r"'suport'.*did you mean 'support'") as caught:
        BUILT.by_rule(replace(REQUEST, controls=Controls(category="suport")))
    assert caught.value.status == 400


def test_an_unknown_category_like_nothing_is_refused_with_the_known_names() -> None:
    with pytest.raises(RequestRejected, match="known: code, default, late, support"):
        BUILT.by_rule(replace(REQUEST, controls=Controls(category="???")))


def test_rules_go_in_the_order_of_the_pack_and_ignore_case() -> None:
    assert BUILT.by_rule(replace(REQUEST, text="See this Traceback")) == "code"
    assert BUILT.by_rule(replace(REQUEST, text="please fix")) is None


@pytest.mark.parametrize(("model", "expected"), [("big-coder", "code"), ("code-7", "code"), ("coder-big", None)])
def test_model_patterns(model: str, expected: str | None) -> None:
    assert BUILT.by_rule(replace(REQUEST, model=model)) == expected


def test_vectors_that_do_not_fit_the_examples_are_refused() -> None:
    with pytest.raises(EmbedError, match="3 finite example vectors"):
        build(PACK, np.ones((2, 3), dtype=np.float32))
    with pytest.raises(EmbedError, match="3 finite example vectors"):
        build(PACK, np.full((3, 3), np.nan, dtype=np.float32))


def test_a_prompt_between_two_categories_is_sought_in_both() -> None:
    assert set(BUILT.near(unit(1, 0, 0.99), "")) == {"support", "code"}
    assert BUILT.near(unit(1, 0, 0.2), "") == ("support",)


def test_what_merely_resembles_the_news_is_of_the_moment_only_if_its_wording_allows_that() -> None:
    live = Category(name="live", live=True, semantic=False, examples=("a",))
    built = build(structs.replace(PACK, categories={**PACK.categories, "live": live}), np.eye(4, dtype=np.float32))
    news, rather = unit(0.3, 0, 0, 1), unit(0.68, 0.68, 0, 1)
    old = "What happened on the 15th of March 44 BC in Rome?"
    assert built.near(rather, "Who won the cup last night?")[0] == "live"
    assert built.near(rather, old)[0] == "support"
    assert built.near(news, old)[0] != "live"


def test_a_prompt_at_the_margin_is_sought_in_the_default_category_too() -> None:
    margin = PACK.min_margin
    just_inside = unit(margin + 0.01, (1 - (margin + 0.01) ** 2) ** 0.5, 0)
    just_outside = unit(margin - 0.01, (1 - (margin - 0.01) ** 2) ** 0.5, 0)
    assert BUILT.near(just_inside, "") == ("support", "default")
    assert BUILT.near(just_outside, "") == ("default", "support")


def test_a_rule_is_sought_at_the_ends_of_a_long_document() -> None:
    filler = "and so it went on and on. " * 2000
    for text, found in ((f"traceback {filler}", "code"), (f"{filler} traceback", "code"), (filler, None)):
        assert BUILT.by_rule(replace(REQUEST, text=text)) == found
    assert BUILT.by_rule(replace(REQUEST, text=f"{filler} traceback {filler}")) is None, "nobody reads a megabyte"


def test_what_holds_every_week_is_not_of_this_moment_however_near_it_is() -> None:
    live = Category(name="live", live=True, semantic=False, examples=("a",))
    built = build(structs.replace(PACK, categories={**PACK.categories, "live": live}), np.eye(4, dtype=np.float32))
    news = unit(0.0, 0.0, 0.0, 1.0)
    assert built.near(news, "When is the pool open on weekdays?")[0] != "live"
    assert built.near(news, "What are the opening hours of the pool?")[0] != "live"
    assert built.near(news, "Is the pool usually open today?")[0] == "live"
    assert built.near(news, "Is the pool open?")[0] == "live"
    assert built.near(news, "What is the minimum wage in Peru?")[0] != "live"
    assert built.near(news, "What is the min. wage in Peru?")[0] != "live", "one wording, one category"


def test_a_question_for_a_date_of_history_is_not_of_this_moment_however_near_it_is() -> None:
    live = Category(name="live", live=True, semantic=False, examples=("a",))
    built = build(structs.replace(PACK, categories={**PACK.categories, "live": live}), np.eye(4, dtype=np.float32))
    news = unit(0.0, 0.0, 0.0, 1.0)
    assert built.near(news, "When did the Berlin Wall fall?")[0] != "live"
    assert built.near(news, "Why was the Bastille stormed?")[0] != "live"
    assert built.near(news, "What happened in Prague in 1968?")[0] != "live"
    assert built.near(news, "How did the market close?")[0] == "live"
    assert built.near(news, "Who won the match last night?")[0] == "live"
    assert built.near(news, "Did the museum open?")[0] == "live"


def test_without_an_overlap_the_nearest_category_alone_is_near() -> None:
    alone = build(structs.replace(PACK, overlap=0.0), np.stack([unit(1, 0.1, 0), unit(1, -0.1, 0), unit(0, 0, 1)]))
    assert alone.near(unit(1, 0, 0.2), "How do I return shoes?") == ("support",)
    assert alone.near(unit(0, 1, 0), "How do I return shoes?") == ("default",)


def test_the_patterns_of_rules_are_sought_once_in_a_text_whatever_its_model() -> None:
    built = Categories(PACK)
    asked = replace(REQUEST, text="fix this traceback, please")
    assert built.by_rule(asked) == built.by_rule(replace(asked, model="a-coder")) == "code"
    assert built.by_rule(replace(REQUEST, model="a-coder")) == "code"
    assert built.by_rule(REQUEST) is None
    assert built._matched.cache_info()[:2] == (2, 2)  # type: ignore[attr-defined]
