"""What an operator has left out of system prompts need not be equal; everything else has to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.config import packs
from semcache.config.system_parts import NAMED
from semcache.dialects import dialects
from semcache.errors import ConfigError
from semcache.request import conversation
from semcache.request.ignored import without
from semcache.types import Endpoint, Request, Why

ALL = [*NAMED]


def chat(system: Any, role: str = "system", text: str = "What is a mortgage?") -> Request:
    body = {"model": "m", "messages": [{"role": role, "content": system}, {"role": "user", "content": text}]}
    return dialects()[Endpoint.CHAT].read(json.dumps(body).encode())


def same(one: Request, two: Request, entries: list[str]) -> bool:
    keys = [conversation.cache_key(without(request, entries), b"x" * 32) for request in (one, two)]
    return keys[0].exact == keys[1].exact and keys[0].signature == keys[1].signature


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Current date: 2026-11-29", "Current date: 2026-12-01"),
        ("Today is Sunday, November 29, 2026. Be brief.", "Today is Tuesday, December 1, 2026. Be brief."),
        ("Today's date is 29 November 2026.", "Today's date is 1 December 2026."),
        ("Current time: 2026-11-29T10:32:05Z", "Current time: 2026-12-01T23:01:59Z"),
        ("The current time is 10:32 AM UTC.", "The current time is 9:05 PM UTC."),
        ("**Date:** 29/11/2026\nTime: 10:32", "**Date:** 01/12/2026\nTime: 11:00"),
        ("currentDateTime: 11/29/2026, 10:32:05 PM", "currentDateTime: 12/01/2026, 1:02:03 AM"),
        ("Session ID: 8f1c-99aa-1234", "Session ID: 77aa-10bc-9999"),
    ],
)
def test_prompts_that_differ_in_what_is_ignored_share_answers(one: str, two: str) -> None:
    assert same(chat(one), chat(two), ALL)
    assert not same(chat(one), chat(two), [])


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Current date: 2026-11-29. Be brief.", "Current date: 2026-11-29. Be polite."),
        ("Opening hours: 9:00-17:00", "Opening hours: 10:00-17:00"),
        ("The act of March 3, 2021 applies.", "The act of March 3, 2022 applies."),
        ("You support version 10.2.31.", "You support version 10.2.32."),
        ("The current version is 10.2.31.", "The current version is 10.2.32."),
        ("Policy as of 2024-01-01.", "Policy as of 2025-01-01."),
        ("Document id: 8f1c-99aa-1234", "Document id: 77aa-10bc-9999"),
        ("Current date: 2026-11-29", "Current date:"),
    ],
)
def test_everything_else_has_to_be_equal(one: str, two: str) -> None:
    assert not same(chat(one), chat(two), ALL)


def test_a_date_that_the_user_writes_stays() -> None:
    one, two = (chat("Be brief.", text=f"Today is {day}. What is a mortgage?") for day in ("2026-11-29", "2026-12-01"))
    assert not same(one, two, ALL)


def test_every_dialect_has_it_left_out() -> None:
    def request(endpoint: Endpoint, day: str, **more: Any) -> Request:
        turns = [{"role": "user", "content": "What is a mortgage?"}]
        body: dict[str, Any] = {"model": "m", "max_tokens": 9, "store": False, **more}
        body["input" if endpoint is Endpoint.RESPONSES else "messages"] = turns
        said = json.dumps(body).replace("DAY", day)
        return dialects()[endpoint].read(said.encode())

    for endpoint, more in (
        (Endpoint.MESSAGES, {"system": "Today is DAY."}),
        (Endpoint.MESSAGES, {"system": [{"type": "text", "text": "Today is DAY."}]}),
        (Endpoint.RESPONSES, {"instructions": "Today is DAY."}),
    ):
        one, two = (request(endpoint, day, **more) for day in ("2026-11-29", "2026-12-01"))
        assert same(one, two, ["date"]), endpoint
        assert not same(one, two, ["time"]), endpoint
    assert same(chat("Today is 2026-11-29", "developer"), chat("Today is 2026-12-01", "developer"), ["date"])
    parts = [[{"type": "text", "text": f"Today is {day}"}] for day in ("2026-11-29", "2026-12-01")]
    assert same(chat(parts[0]), chat(parts[1]), ["date"])


def test_an_expression_keeps_its_group() -> None:
    entries = ["(?P<kept>User name: )\\S+"]
    assert same(chat("User name: Ann"), chat("User name: Bob"), entries)
    assert not same(chat("User name: Ann"), chat("Ann"), entries)


def test_what_is_forwarded_is_what_came() -> None:
    request = chat("Current date: 2026-11-29")
    assert without(request, ALL).raw == request.raw


@pytest.mark.parametrize(
    ("entry", "told"),
    [("dates", "did you mean 'date'"), ("(", "no regular expression"), ("x*", "matches an empty text")],
)
def test_a_wrong_part_is_refused_with_its_line(tmp_path: Path, entry: str, told: str) -> None:
    path = tmp_path / "pack.yaml"
    path.write_text(f"name: mine\nignore_in_system: [date, {entry!r}]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"pack\.yaml:2: ignore_in_system") as caught:
        packs.load(str(path))
    assert told in str(caught.value)


async def test_a_cache_serves_what_it_kept_yesterday(tmp_path: Path) -> None:
    path = tmp_path / "pack.yaml"
    path.write_text("name: mine\nignore_in_system: [date]\n", encoding="utf-8")

    def said(day: str, asked: str) -> list[dict[str, str]]:
        return [{"role": "system", "content": f"Today is {day}."}, {"role": "user", "content": asked}]

    async with await AsyncSemanticCache.open("memory://", policies=str(path), embedder="hashing", seed=7) as cache:
        found = await cache.lookup(said("2026-11-29", "How do I reset my password?"))
        await cache.record(found, "Press Reset.")
        again = await cache.lookup(said("2026-11-30", "How do I reset my password?"))
        reworded = await cache.lookup(said("2026-12-01", "how can I reset my password"))
    assert (again.why, again.answer) == (Why.EXACT, "Press Reset.")
    assert (reworded.why, reworded.answer) == (Why.WORDING, "Press Reset.")
