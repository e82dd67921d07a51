"""The databases of these suites."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures_pg import postgres_url  # noqa: F401


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'semcache.db'}"
    return str(request.getfixturevalue("postgres_url"))
