"""Figures: against their definitions, by counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.errors import InvalidArgument

pytest.importorskip("sklearn", reason="the train extra is not installed")
from semcache.train import metrics

scored = st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: 0 < sum(same for _, same in rows) < len(rows)
)


def counted(rows: list[tuple[float, bool]], threshold: float) -> tuple[float, float, float]:
    """Precision, recall and hit ratio of serving at `threshold`."""
    hits = [same for score, same in rows if score >= threshold]
    return sum(hits) / len(hits), sum(hits) / sum(same for _, same in rows), len(hits) / len(rows)


def measured(rows: list[tuple[float, bool]]) -> metrics.Quality:
    return metrics.measure(np.array([score for score, _ in rows]), np.array([same for _, same in rows]))


@settings(deadline=None)  # the first call imports scikit-learn
@given(scored)
def test_figures_are_what_counting_gives(rows: list[tuple[float, bool]]) -> None:
    found = measured(rows)
    levels = [counted(rows, threshold) for threshold in {score for score, _ in rows}]
    f = {beta: max((1 + beta**2) * p * r / (beta**2 * p + r) if p else 0.0 for p, r, _ in levels) for beta in (1, 0.5)}
    assert found.f1 == pytest.approx(f[1])
    assert found.f05 == pytest.approx(f[0.5])
    assert (found.precision, found.recall) == pytest.approx(counted(rows, found.threshold)[:2])
    for least, recall in ((0.95, found.recall_95), (0.99, found.recall_99)):
        assert recall == pytest.approx(max([r for p, r, _ in levels if p >= least], default=0.0))
    for hits, precision in found.curve:
        assert any(abs(hits - level[2]) < 1e-4 and abs(precision - level[0]) < 1e-4 for level in levels)


def test_a_perfect_order_is_perfect_and_a_constant_score_is_worth_nothing() -> None:
    perfect = measured([(0.9, True), (0.7, True), (0.3, False)])
    assert (perfect.average_precision, perfect.roc_auc, perfect.recall_99) == (1.0, 1.0, 1.0)
    constant = measured([(0.5, True), (0.5, False), (0.5, False), (0.5, False)])
    assert (constant.average_precision, constant.roc_auc, constant.recall_95) == (0.25, 0.5, 0.0)


def test_one_class_cannot_be_measured() -> None:
    with pytest.raises(InvalidArgument, match="2 pairs of one class"):
        measured([(0.5, True), (0.6, True)])


def test_the_interval_holds_the_figure_and_narrows_with_pairs() -> None:
    rng = np.random.default_rng(0)

    def width(n: int) -> float:
        same = rng.random(n) < 0.4
        low, high = metrics.interval(rng.normal(size=n) + same, same, seed=1, draws=60)
        return high - low

    assert width(4000) < 0.5 * width(200)
