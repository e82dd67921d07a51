"""A request is read once for what it is asked twice: each reading costs processor time before the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.matching.guards import completed
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.request import eligibility
from semcache.request.secrets import has_secret
from semcache.types import Controls, Endpoint, Request, Why

KEY = "sk-" + "proj-Zq8Wn4Rt6Yb2Mx9Kc3Vd7Lf5"


def _request(identity: dict[str, Any]) -> Request:
    return Request(Endpoint.CHAT, "m", identity, "How are you?", b"{}")


def _counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """The calls of a function of `eligibility` from here on."""
    calls: list[Any] = []
    function = getattr(eligibility, name)

    def counting(*args: Any) -> Any:
        calls.append(args)
        return function(*args)

    monkeypatch.setattr(eligibility, name, counting)
    return calls


async def test_a_category_of_no_rule_is_asked_once_if_a_request_is_eligible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("name: plain\ndefaults: {live: true}\ncategories:\n  default: {}\n")
    async with await AsyncSemanticCache.open("memory://", policies=str(pack), embedder=HashingEmbedder(64)) as cache:
        await cache.record(await cache.lookup("How do I grow basil on a balcony?"), "In a pot.")
        calls = _counted(monkeypatch, "ineligible")
        found = await cache.lookup("How can someone raise tomatoes indoors?")
    assert found.category == "default"
    assert len(calls) == 1


def test_what_stands_beside_the_last_message_is_searched_for_secrets_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = {"messages": [{"role": "system", "content": "Answer in one sentence."}]}
    request = _request(identity)
    calls = _counted(monkeypatch, "has_secret")
    assert eligibility.unkept(request) is None
    assert len(calls) == 1
    assert has_secret(KEY)
    tagged = replace(request, controls=Controls(tags=("autumn", KEY)))
    assert eligibility.unkept(tagged) is Why.SECRET
    assert eligibility.unkept(replace(request, model=KEY)) is Why.SECRET
    assert eligibility.unkept(replace(request, identity={"messages": [KEY]})) is Why.SECRET


def test_no_secret_begins_in_one_place_and_ends_in_another() -> None:
    identity = {"messages": [{"role": "system", "content": "The password is"}]}
    request = replace(_request(identity), model="tr0ub4dor&3x")
    assert eligibility.unkept(request) is None


def test_the_ends_that_a_text_tells_of_are_read_once() -> None:
    completed._states.cache_clear()
    for other in ("my aunt is selling her barn", "my aunt painted her barn", "my aunt sold her barn"):
        completed.compare("my aunt sold her barn", other)
    assert completed._states.cache_info().misses == 3
    assert completed.compare("my aunt sold her barn", "my aunt is selling her barn") is not None
    assert completed.compare("my aunt is selling her barn", "my aunt sold her barn") is not None
