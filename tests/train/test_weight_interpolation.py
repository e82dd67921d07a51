"""Mixing weights: what is chosen, what it costs elsewhere, and that the model is left with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.train import weight_interpolation
from semcache.train.pairs import Pair
from semcache.train.weight_interpolation import MixMeasurement

unit = st.floats(0.0, 1.0)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=4), unit, unit)
def test_a_share_keeps_most_of_what_can_be_won_within_bounds(
    figures: list[tuple[float, float]], known: float, may_lose: float
) -> None:
    looks = [
        MixMeasurement(share, check, {"general": there})
        for share, (check, there) in zip(weight_interpolation.SHARES, figures, strict=False)
    ]
    share = weight_interpolation.choose(looks, MixMeasurement(0.0, 0.5, {"general": known}), may_lose)
    chosen = next(look for look in looks if look.share == share)
    within = [look for look in looks if known - look.general["general"] <= may_lose and look.check > 0.5]
    if not within:
        assert chosen is looks[-1], "the least that was learned"
        return
    assert chosen in within
    assert chosen.check - 0.5 >= weight_interpolation.KEPT * max(look.check - 0.5 for look in within)


def test_every_general_set_counts_by_itself() -> None:
    base = MixMeasurement(0.0, 0.7, {"traps": 0.5, "near": 0.9})
    far, mid = (
        MixMeasurement(1.0, 0.9, {"traps": 0.7, "near": 0.85}),
        MixMeasurement(0.6, 0.8, {"traps": 0.6, "near": 0.895}),
    )
    assert weight_interpolation.choose([far, mid], base, 0.01) == 0.6, "what is won on one set does not pay for another"
    assert weight_interpolation.choose([far, mid], base, 1.0) == 1.0


def test_of_shares_that_are_about_as_good_the_least_is_taken() -> None:
    base = MixMeasurement(0.0, 0.7, {})
    assert (
        weight_interpolation.choose(
            [MixMeasurement(1.0, 0.8, {}), MixMeasurement(0.6, 0.79, {}), MixMeasurement(0.4, 0.75, {})], base, 0.01
        )
        == 0.6
    )


def test_the_model_is_left_with_the_weights_that_the_report_names(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the train extra is not installed")
    pytest.importorskip("sklearn", reason="the train extra is not installed")
    import torch

    from semcache.train import finetune
    from tests.train.bases import tiny, traffic

    model = finetune.load(str(tiny(tmp_path / "base")))
    base = weight_interpolation.weights_of(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.5
    trained = weight_interpolation.weights_of(model)
    told = weight_interpolation.settle(model, base, traffic(), {"general": traffic(2)})
    assert [look["share"] for look in told["looks"]] == [*weight_interpolation.SHARES, 0.0]
    for name, value in model.state_dict().items():
        if value.is_floating_point():
            assert torch.allclose(value, base[name] + told["share"] * (trained[name] - base[name]), atol=1e-6), name
    assert weight_interpolation.settle(model, base, [Pair("a", "b", True)], {}, share=0.0) == {
        "share": 0.0,
        "looks": [],
    }
    assert all(torch.equal(value, base[name]) for name, value in model.state_dict().items())
