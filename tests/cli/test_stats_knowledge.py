"""What `semcache stats` reads from a store: the same as the server that learned it knows."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.cache.opening_from_settings import open_from
from semcache.cache.response_cache import ResponseCache
from semcache.cli.open_store import store_of
from semcache.cli.stored_statistics import learned_strategies
from semcache.config.packs import load
from semcache.config.settings import Settings
from semcache.matching.strategies.certified.priors import PATH
from semcache.types import Candidate, Card
from tests.learning.test_changed_promises import audit, spoiled

PACK = "name: test\ntarget: 0.05\ncategories:\n  default: {strategy: certified}\n"


def settings_of(folder: Path, **options: Any) -> Settings:
    (folder / "pack.yaml").write_text(PACK)
    chosen = {"data": str(folder / "data"), "policies": str(folder / "pack.yaml"), "embedder": "hashing"}
    return Settings.load({**chosen, **options}, {}, None)


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[ResponseCache]:
    cache = ResponseCache(await open_from(settings, clock=time.time))
    async with cache:
        yield cache


async def known(settings: Settings) -> Any:
    async with store_of(settings) as store:
        return await learned_strategies(store, load(settings.policies), settings)


@pytest.mark.parametrize("damaged", [True, False])
@pytest.mark.parametrize("judge", [{}, {"judge.false_no": 0.02, "judge.false_yes": 0.01}])
async def test_statistics_of_a_store_are_those_of_its_server(
    tmp_path: Path, judge: dict[str, float], damaged: bool
) -> None:
    # Without the judge's noise, and learned from labels of any judge, errors and certificates were others.
    settings = settings_of(tmp_path, **{"cache.judge": "normalised", **judge})
    async with served(settings) as cache:
        await cache.components.learner.log.append([audit(n, correct=n % 60 != 0) for n in range(240)])
        state, standing = cache.components.strategy.state(), cache.components.strategy.standing("default")
        assert standing.audits == 240
    if damaged:
        await spoiled(tmp_path, "threshold", lambda kept: kept.update({"certified": []}))
    found = await known(settings)
    assert found.standing("default") == standing
    assert msgspec.json.encode(found.state()) == msgspec.json.encode(state)


async def test_statistics_of_a_store_know_the_prior_of_its_embedder(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    prior = json.loads(PATH.read_text(encoding="utf-8"))
    profile = prior["profiles"]["any"]
    prior["profiles"]["any"] = prior["profiles"]["questions"]
    prior["profiles"]["questions"] = profile
    (model / "prior.json").write_text(json.dumps(prior))
    async with served(settings_of(tmp_path)):
        pass
    shipped = await known(settings_of(tmp_path))
    own = await known(settings_of(tmp_path, embedder=f"onnx:{model}"))
    label = audit(1)
    candidate = Candidate(Card(1, label.exact, b"p", "default", "?", 0.0, 1e12, 1), 0.98, features=label.features)
    assert own.contributions(candidate, "default") != shipped.contributions(candidate, "default")
