"""For all tests: which examples are drawn, what is slow, and that a busy machine is no defect.

`make test` draws the same twenty-five examples every time, `make test-slow` two hundred new ones, from a seed that its
command line shows.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_ANY_PACE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _ANY_PACE, max_examples=25, derandomize=True)
settings.register_profile("new", _ANY_PACE, max_examples=200, print_blob=True, database=None)
settings.load_profile("same")

TESTS = Path(__file__).parent
# Folders and files that belong to `make test-slow`: those that train, and those that run many processes or for long.
SLOW = (
    "adapters/test_litellm.py",
    "adapters/test_llamaindex.py",
    "agents/mcp/test_mcp_sessions.py",
    "agents/mcp/test_read_only_server.py",
    "cache/test_learning_from_refusals.py",
    "cli/test_backup.py",
    "cli/test_doctor.py",
    "cli/test_embedder_commands.py",
    "cli/test_entry_commands.py",
    "cli/test_export_import.py",
    "cli/test_key_commands.py",
    "cli/test_plan_commands.py",
    "cli/test_policy_commands.py",
    "cli/test_purge.py",
    "cli/test_replay.py",
    "cli/test_serve.py",
    "contract/test_audits.py",
    "contract/test_conversations.py",
    "contract/test_engine_agents.py",
    "contract/test_engine_events.py",
    "contract/test_hedging.py",
    "contract/test_near.py",
    "contract/test_plans.py",
    "contract/test_routing.py",
    "contract/test_single_flight.py",
    "contract/test_tenants.py",
    "contract/test_tools.py",
    "contract/test_vllm.py",
    "engine/test_server.py",
    "eval/kv/test_conformance.py",
    "models/test_shipped_models.py",
    "notebooks",
    "property/test_agents_fail_open.py",
    "property/test_engine_fail_open.py",
    "property/test_near_fail_open.py",
    "property/test_plans_fail_open.py",
    "property/test_postgres_fail_open.py",
    "property/test_router_fail_open.py",
    "proxy/test_key_limits.py",
    "proxy/test_openapi.py",
    "proxy/test_tracing.py",
    "proxy/test_web_sockets.py",
    "proxy/ui/test_browser.py",
    "proxy/ui/test_entrance.py",
    "stress",
    "train/distill/test_distillation.py",
    "train/test_authored_neighbours.py",
    "train/test_finetune.py",
    "train/test_recalibrate.py",
    "train/test_verifier_network.py",
    "train/test_verifier_replacement.py",
    "train/test_verifier_retraining.py",
)


_SLOW_PATHS = frozenset([TESTS / one for one in SLOW])


@cache
def _is_slow(path: Path) -> bool:
    return not _SLOW_PATHS.isdisjoint([path, *path.parents])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare `make test` the libraries that only slow tests import."""
    return True if config.option.markexpr == "not slow" and _is_slow(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the tests, which stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow: files of `SLOW`, snippets that are run, and every press but one in the conformance suite."""
    for item in items:
        where = item.path.relative_to(TESTS).as_posix()
        runs = where == "docs/test_snippets.py" and item.get_closest_marker("process") is not None
        press = where == "engine/press/test_conformance.py" and "kvzip" not in item.name
        if runs or press or _is_slow(item.path):
            item.add_marker("slow")
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(1200))


# The process that hands the tests out imports this file too, and would import the package for nothing.
@pytest.fixture(scope="session", autouse=True)
def _openings() -> Iterator[object]:
    """What no two caches read differently is read once, models stay loaded, and no limit tells how busy it is."""
    from tests.openings import be_patient, held_models, read_once

    with pytest.MonkeyPatch.context() as patch:
        read_once(patch)
        be_patient(patch)
        yield held_models()
