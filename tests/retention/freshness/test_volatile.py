"""A prompt whose answer moves must not be kept as long as one whose answer stays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import load
from semcache.request import volatility_cues as lexical
from semcache.retention.freshness import LearnedFreshness, Volatility, VolatilityModel, is_relative

MODEL = VolatilityModel.shipped()


@pytest.mark.parametrize(
    "text",
    [
        "What is the weather in Oslo today?",
        "who is winning right now",
        "How many days until Christmas?",
        "what day is it",
        "Show me today's headlines",
        "spot price of gold",
        "how many goals has he scored so far this season",
        "What’s the latest news about the strike?",
    ],
)
def test_a_prompt_bound_to_the_moment_of_asking_is_recognised(text: str) -> None:
    assert is_relative(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of Australia?",
        "How many days are in a leap year?",
        "How long is the Nile?",
        "Explain how tides work",
        "When did the Second World War end?",
        "how do I reset my password",
    ],
)
def test_a_prompt_about_any_time_is_not(text: str) -> None:
    assert not is_relative(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who wrote Moby Dick?", Volatility.NEVER),
        ("What does the word ephemeral mean?", Volatility.NEVER),
        ("Write a function that sums a list", Volatility.NEVER),
        ("Who was the chancellor of Austria in 1934?", Volatility.NEVER),
        ("Who is the president of Portugal?", Volatility.SLOW),
        ("Who is the CEO of Volvo?", Volatility.SLOW),
        ("What is the tallest building in Warsaw?", Volatility.SLOW),
        ("How many followers does Rihanna have on Instagram?", Volatility.FAST),
        ("Which is the newest version of Debian?", Volatility.FAST),
        ("Who won the most recent Stanley Cup?", Volatility.FAST),
    ],
)
def test_the_wording_alone_tells_what_is_plain(text: str, kind: Volatility) -> None:
    assert MODEL.kind(text) == kind


def test_a_named_year_makes_an_answer_last_longer() -> None:
    free = MODEL.probabilities("Who won the world cup?")
    bound = MODEL.probabilities("Who won the world cup in 1998?")
    assert bound[0] > free[0]


def test_the_vector_is_used_when_it_is_the_models_own_and_ignored_otherwise() -> None:
    text = "Who is the president of Portugal?"
    rng = np.random.default_rng(0)
    vector = rng.standard_normal(384).astype(np.float32)
    alone = MODEL.probabilities(text)
    assert not np.allclose(MODEL.probabilities(text, vector / np.linalg.norm(vector)), alone)
    assert np.allclose(MODEL.probabilities(text, vector[:100]), alone)  # another embedder's dimension
    fast = 50 * (MODEL._embedding[2] - MODEL._embedding[0]).astype(np.float32)
    foreign = LearnedFreshness(load("default"), embedder_id="somebody-else")
    own = LearnedFreshness(load("default"), embedder_id=MODEL.embedder_id)
    assert own.kind(text, fast) == Volatility.FAST
    assert foreign.kind(text, fast) == foreign.kind(text)


@given(st.text(max_size=300))
def test_any_text_has_cues_and_probabilities(text: str) -> None:
    found = lexical.of(text)
    assert len(found) == len(lexical.NAMES)
    assert set(found) <= {0.0, 1.0}
    probabilities = MODEL.probabilities(text)
    assert probabilities.min() >= 0
    assert probabilities.sum() == pytest.approx(1)


def test_case_and_spacing_do_not_matter() -> None:
    assert lexical.of("WHO  is\nthe Current mayor") == lexical.of("who is the current mayor")


def test_what_a_very_long_prompt_asks_at_its_end_is_still_read() -> None:
    text = "word " * 100_000 + "who is the current president"
    assert len(lexical.fold(text)) <= lexical.LONGEST + 1
    assert dict(zip(lexical.NAMES, lexical.of(text), strict=True))["current"] == 1.0


def test_weights_of_other_cues_are_refused() -> None:
    weights = json.loads((Path(lexical.__file__).parent / "volatility.json").read_text())
    weights["names"] = weights["names"][:-1]
    with pytest.raises(ValueError, match=r"semcache\.train\.volatility"):
        VolatilityModel(weights)
