"""Errors that a tool tells in words or by a status are shared with nobody; data that only speak of errors are."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.tools import History, ToolReason, ToolResults, ToolRules

RULES = ToolRules.read({"read_*": {"effect": "reads", "ttl": "1h"}})


def kept(result: Any) -> bool:
    results = ToolResults(RULES, salt=b"s" * 32)
    why = results.record(results.lookup("read_page", {"page": 1}, History.begin(), tenant="acme"), result)
    assert why in (ToolReason.RECORDED, ToolReason.FAILED)
    return why is ToolReason.RECORDED


@pytest.mark.parametrize(
    "result",
    [
        "Rate limit exceeded", "Request timed out", "HTTP 503 Service Unavailable", "Not found",
        "<html><title>502 Bad Gateway</title></html>", "Traceback (most recent call last):\n  File x",
        "Error executing tool read_page: boom", {"errors": [{"message": "no such field"}]}, {"status": 500},
        {"statusCode": 429, "message": "slow down"}, {"code": "429", "msg": "later"}, {"detail": "Not authenticated"},
        {"message": "Internal Server Error"}, {"result": "Error: boom"},
        [{"type": "text", "text": "Error executing tool read_page: boom"}],
        {"content": [{"type": "text", "text": "Error executing tool read_page: boom"}]},
    ],
    ids=str,
)  # fmt: skip
def test_an_error_is_told_in_many_ways(result: Any) -> None:
    assert not kept(result)


@pytest.mark.parametrize(
    "result",
    [
        "", [], {}, None, "Error rates fell in May", "The gate was refused a permit, says the council.", {"errors": 0},
        {"errors": 12, "lines": 900}, {"title": "Customer: request timed out", "state": "open"}, {"status": 200},
        {"code": "BER"}, {"errors": []}, "x" * 900 + " rate limit exceeded",
        {"content": [{"type": "text", "text": "The ticket is open."}]},
    ],
    ids=lambda one: str(one)[:40],
)  # fmt: skip
def test_data_are_kept(result: Any) -> None:
    assert kept(result)
