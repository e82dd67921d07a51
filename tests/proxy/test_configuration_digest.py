"""Replicas that serve by the same have one digest, others have another, and no secret is in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from semcache.config.settings import Settings
from semcache.proxy.configuration_digest import configuration_digest
from semcache.proxy.reloading import read_files
from tests.proxy.driver import Answer, Call, Upstream, completion, running

PACK = "name: mine\ntarget: {target}\n"


def digest(
    folder: Path, *, target: float = 0.01, prices: str = "gpt-*: [1, 2]", embedder: str = "e", **env: Any
) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "pack.yaml").write_text(PACK.format(target=target))
    (folder / "prices.yaml").write_text(prices + "\n")
    given = {"policies": str(folder / "pack.yaml"), "prices": str(folder / "prices.yaml"), "data": str(folder / "data")}
    return configuration_digest(read_files(Settings.load(given, env, None)), embedder)


def test_where_files_lie_and_what_a_machine_has_of_its_own_makes_no_difference(tmp_path: Path) -> None:
    own = {"SEMCACHE_SERVER__HOST": "10.0.0.7", "SEMCACHE_SERVER__PORT": "9", "SEMCACHE_SERVER__WORKERS": "4"}
    assert digest(tmp_path / "one") == digest(tmp_path / "two", **own)
    assert re.fullmatch("[0-9a-f]{12}", digest(tmp_path / "one"))


@pytest.mark.parametrize(
    "other",
    [
        {"target": 0.02},
        {"prices": "gpt-*: [1, 3]"},
        {"prices": "gpt-4o: [9, 9]\ngpt-*: [1, 2]"},
        {"embedder": "another"},
        {"SEMCACHE_LIMITS__REQUESTS": "7"},
        {"SEMCACHE_CACHE__JUDGE": "exact"},
        {"SEMCACHE_UPSTREAM__URL": "http://elsewhere/v1"},
        {"SEMCACHE_STORE__URL": "postgresql://user:secret@elsewhere/cache"},
        {"SEMCACHE_UPSTREAM__API_KEY": "sk-any"},
    ],
    ids=["pack", "price", "another-price", "embedder", "limits", "judge", "upstream", "store", "a-key-at-all"],
)
def test_what_decides_about_answers_makes_a_difference(tmp_path: Path, other: dict[str, Any]) -> None:
    assert digest(tmp_path) != digest(tmp_path, **other)


def test_the_order_of_prices_counts_because_the_first_that_matches_does(tmp_path: Path) -> None:
    lines = ["gpt-4o: [9, 9]", "gpt-*: [1, 2]"]
    assert digest(tmp_path, prices="\n".join(lines)) != digest(tmp_path, prices="\n".join(lines[::-1]))


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("SEMCACHE_UPSTREAM__API_KEY", "sk-one", "sk-two"),
        ("SEMCACHE_STORE__URL", "postgresql://user:one@db/cache", "postgresql://user:two@db/cache"),
        ("SEMCACHE_UPSTREAM__URL", "http://user:one@gateway/v1", "http://user:two@gateway/v1"),
        ("SEMCACHE_SERVER__ADMIN_TOKEN", "a" * 30, "b" * 30),
    ],
    ids=["key", "database", "url", "token"],
)
def test_no_secret_is_in_it(tmp_path: Path, name: str, one: str, two: str) -> None:
    assert digest(tmp_path, **{name: one}) == digest(tmp_path, **{name: two})


async def test_a_reload_shows_another_digest_in_place_of_the_one_before(tmp_path: Path) -> None:
    async def shown() -> tuple[str, dict[str, str]]:
        ready = (await Call(proxy, path="/readyz", method="GET").reply()).json
        text = (await Call(proxy, path="/metrics", method="GET").reply()).body.decode()
        return ready["configuration"], dict(
            re.findall(r'^semcache_configuration_info\{digest="(\w+)"\} (\S+)$', text, re.MULTILINE)
        )

    upstream = Upstream(lambda _: Answer([completion()]))
    async with running(upstream, tmp_path, pack=PACK.format(target=0.01)) as proxy:
        before, told = await shown()
        assert told == {before: "1.0"}
        (tmp_path / "pack.yaml").write_text(PACK.format(target=0.02))
        await Call(proxy, path="/semcache/reload").reply()
        after, told = await shown()
        assert after != before
        assert told == {before: "0.0", after: "1.0"}
