"""A cache's templates lie in its store: what one opening learned the next one knows, waiting or not."""

from __future__ import annotations

from pathlib import Path

from semcache import SemanticCache
from semcache.agents.plan_opening import BlockingPlans, open_plans
from tests.agents.worlds import TOOLS, asked, cancelling


def test_what_was_learned_is_known_after_a_restart_by_the_same_cache(tmp_path: Path) -> None:
    task = asked("Cancel the first reservation of user cy_fox_3, please")
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        plans = BlockingPlans(cache.run(open_plans(cache.inner.components)), cache.run)
        assert plans.lookup(task, tools=TOOLS).outcome == "miss"
        assert plans.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS) is not None
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        plans = BlockingPlans(cache.run(open_plans(cache.inner.components)), cache.run)
        found = plans.lookup(task, tools=TOOLS)
        assert found.outcome == "plan"
        assert plans.outcome(found, success=True)
        assert not plans.outcome(found, success=True, tenant="other")
    written = b"".join(path.read_bytes() for path in tmp_path.glob("semcache.db*"))
    assert b"find_user" in written
    assert b"ann_lee_1" not in written
