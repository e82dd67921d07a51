"""The recipe of the shipped weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from semcache.errors import ConfigError
from semcache.retention.freshness import Volatility, VolatilityModel
from semcache.train import volatility as recipe


def test_the_written_prompts_are_the_same_every_time_and_leave_no_slot_open() -> None:
    prompts = recipe.own_prompts()
    assert prompts == recipe.own_prompts()
    assert not [text for text, _ in prompts if "{" in text or "}" in text]
    assert len({text for text, _ in prompts}) == len(prompts)
    assert {kind for _, kind in prompts} == {Volatility.NEVER, Volatility.SLOW, Volatility.FAST}


def test_training_finds_what_separates_the_kinds_and_gives_the_same_weights_again() -> None:
    prompts = recipe.own_prompts(variants=2)
    vectors = np.random.default_rng(0).standard_normal((len(prompts), 16)) / 4
    weights = recipe.weights(prompts, vectors, "an-embedder")
    assert weights == recipe.weights(prompts, vectors, "an-embedder")
    model = VolatilityModel(json.loads(json.dumps(weights)))
    right = sum(model.kind(text) == kind for text, kind in prompts)
    assert right > 0.6 * len(prompts)
    assert model.embedder_id == "an-embedder"


def test_the_shipped_weights_are_those_of_the_cues_of_today() -> None:
    lexical = recipe.weights(recipe.own_prompts(), np.zeros((len(recipe.own_prompts()), 1)), "none")["lexical"]
    assert np.allclose(VolatilityModel.shipped()._lexical, lexical, atol=0.02)


@pytest.mark.parametrize("line", ["no json", '{"prompt": "x"}', '{"prompt": "x", "kind": "often"}', "[1]"])
def test_a_broken_line_of_ones_own_prompts_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"prompt": "Who is the mayor?", "kind": "slow"}\n' + line + "\n")
    with pytest.raises(ConfigError, match=r"prompts\.jsonl:2"):
        recipe.read(path)


def test_prompts_bound_to_the_moment_are_not_learned(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"prompt": "What time is it?", "kind": "relative"}\n')
    with pytest.raises(ConfigError, match="rules"):
        recipe.read(path)
