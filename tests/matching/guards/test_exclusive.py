""" "Can only adults vote?" asks who else may, "Can adults only vote?" asks what else they may do."""

from __future__ import annotations

import pytest

from semcache.matching.guards import exclusive
from semcache.request.text import read
from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("Can only adults vote?", "Can adults only vote?", VETO),
    ("Can only adults vote?", "Is it only adults who can vote?", NOTHING),
    ("Does only the annual plan have a trial?", "Does the annual plan only have a trial?", VETO),
    ("Does the annual plan only have a trial?", "Does the annual plan have only a trial?", NOTHING),
    ("Are only tenants allowed to use the yard?", "Are tenants allowed to use only the yard?", VETO),
    ("Why do only queens lay eggs?", "Why do queens only lay eggs?", VETO),
    ("Only guests may park here", "May only guests park here?", NOTHING),
    ("Can only the owner sign the form?", "Can the form be signed by the owner only?", NOTHING),
    ("Can only the owner sign the form?", "Can the form only be signed by the owner?", NOTHING),
    ("Is only cash accepted?", "Is cash only accepted?", NOTHING),
    ("Pay only for what you use", "Only pay for what you use", NOTHING),
    ("Can I only return one item?", "Can I return only one item?", NOTHING),
    ("Do you only deliver on weekdays?", "Are deliveries on weekdays only?", NOTHING),
]
FOCUS = [
    ("Can only adults vote?", "subject"),
    ("When can only adults vote?", "subject"),
    ("Only adults may vote", "subject"),
    ("Can adults only vote?", "rest"),
    ("What is only sold in Peru?", "rest"),
    ("Can only be opened once, right?", "rest"),
    ("Are adults the only ones who vote?", ""),
    ("Why is it that only queens lay eggs?", ""),
    ("If there is only one bidder, who wins?", ""),
    ("Only adults can only vote", ""),
    ("I have an only child", "rest"),
    ("Can adults vote?", ""),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_of_whom_only_is_said(query: str, cached: str, expected: str) -> None:
    """Both say "only", and who asked what admins may do was told who may."""
    assert verdict("quantifiers", query, cached) == expected


@pytest.mark.parametrize(("text", "expected"), FOCUS)
def test_the_focus_of_only(text: str, expected: str) -> None:
    assert exclusive.focus(read(text)) == expected
