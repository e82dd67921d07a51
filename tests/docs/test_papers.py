"""The paper trail leads to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_place_that_a_paper_is_said_to_live_in_exists() -> None:
    places = re.findall(r"`((?:semcache|eval|tests)/[\w/.]+)`", PAGE)
    assert len(places) > 40
    assert [one for one in places if not (ROOT / one).exists()] == []


def test_every_measurement_that_is_named_has_its_page() -> None:
    pages = set(re.findall(r"`([\w-]+\.md)`", PAGE))
    assert len(pages) > 15
    assert [one for one in pages if not (ROOT / "eval" / "results" / one).exists()] == []


def test_no_paper_that_the_code_names_by_number_is_missing() -> None:
    named = {
        number
        for path in (ROOT / "semcache").rglob("*.py")
        for number in re.findall(r"\b(\d{4}\.\d{5})\b", path.read_text(encoding="utf-8"))
        if not number.startswith("0")
    }
    assert sorted(named - set(re.findall(r"\d{4}\.\d{5}", PAGE))) == []
