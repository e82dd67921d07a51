"""A cache per test, with the embedder that needs no model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semcache import SemanticCache

PACK = """
name: adapters
defaults: {strategy: static, threshold: 0.8, guards: [numbers, negation], wording: off}
"""


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SemanticCache]:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK)
    with SemanticCache.open(str(tmp_path / "data"), policies=str(pack), embedder="hashing", seed=1) as opened:
        yield opened
