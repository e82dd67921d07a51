"""A key that is not trusted cannot take its tenant's answers from the other keys by reporting them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from semcache.learning import key_reports
from semcache.proxy.auth import new_key
from tests.proxy.driver import Call, ask, numbered_upstream, running


async def test_reports_beyond_those_of_a_day_are_refused_but_for_a_trusted_key(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(key_reports, "DAILY", 2)
    async with running(numbered_upstream(), tmp_path, auth__expose_scores=True) as proxy:
        salt = proxy.cache.salt
        one, mine = new_key(lambda n: b"a" * n, 0.0, "acme", "one", salt)
        two, theirs = new_key(lambda n: b"b" * n, 0.0, "acme", "two", salt, trusted=True)
        auth = proxy._process.auth
        auth.replace([mine, theirs])

        async def report(number: int, plain: str) -> Any:
            asked = two if len(auth._keys) > 1 else one
            for _ in range(2):
                shown = await Call(proxy, ask(f"What is thing number {number}?"), x_semcache_key=asked).reply()
            body = {"id": shown.header("x-semcache-id"), "correct": False}
            return await Call(proxy, body, "/semcache/feedback", x_semcache_key=plain).reply()

        assert [(await report(number, one)).status for number in range(3)] == [200, 200, 429]
        refused = await report(3, one)
        assert "trusted" in refused.json["error"]["message"]
        assert int(refused.header("retry-after") or 0) > 0
        assert [(await report(number, two)).status for number in range(4, 8)] == [200] * 4
        auth.replace([mine])
        assert (await report(8, one)).status == 200, "no other key is left"
