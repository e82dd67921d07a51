"""For all tests: which examples are drawn, what is slow, and that a busy machine is no defect.

`make test` draws the same examples every time, `make test-slow` new ones, from a seed that its command line shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from semcache.runtime.guarded_calls import GuardedCalls
from tests.waiting import PATIENCE

_ANY_PACE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _ANY_PACE, derandomize=True)
settings.register_profile("new", _ANY_PACE, max_examples=200, print_blob=True)
settings.load_profile("same")

TESTS = Path(__file__).parent
SLOW = ("notebooks", "stress")
"""Folders and files whose tests all belong to `make test-slow`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow."""
    for item in items:
        where = item.path.relative_to(TESTS).as_posix()
        if where.startswith(SLOW):
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    """No limit of the product is reached but where a test sets one: it would tell how busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(GuardedCalls.__init__.__kwdefaults__, "patience", PATIENCE)
        for limit in ("models.verifiers.MODEL_PATIENCE", "models.verifiers.LLM_PATIENCE"):
            patch.setattr(f"semcache.{limit}", PATIENCE)
        for module in ("proxy.health_routes", "proxy.plan_turn", "upstream.routing.replica"):
            patch.setattr(f"semcache.{module}._PATIENCE", PATIENCE)
        yield
