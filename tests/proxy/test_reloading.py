"""Packs, prices, limits and keys change while requests are served; a mistake in them changes nothing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.cache.prompt_sample import ignored_in_service
from semcache.config.settings import Settings
from semcache.errors import ConfigError, StoreError
from semcache.proxy import application
from semcache.proxy.application import Proxy
from semcache.proxy.auth import new_key
from semcache.proxy.process_application import create
from semcache.proxy.reload_requests import (
    ReloadingWorker,
    ReloadReports,
    log_workers,
    owing,
    refusals,
    reported,
    request_reload,
    result_of,
)
from semcache.proxy.reloading import differences, read_files
from semcache.runtime.breaker import Breaker
from semcache.storage.stores.memory import MemoryStore
from semcache.types import ApiKey
from semcache.types.evidence import Label, LabelSource
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running
from tests.waiting import until

_PACK = """
name: {name}
defaults:
  strategy: certified
  target: {target}
  wording: off
categories:
  careful:
    cache: {cache}
    target: 0.02
"""


def _write(folder: Path, *, name: str = "test", target: float = 0.05, cache: str = "true") -> str:
    text = _PACK.format(name=name, target=target, cache=cache)
    (folder / "pack.yaml").write_text(text)
    return text


@pytest.fixture
def upstream() -> Upstream:
    return Upstream(lambda _: Answer([completion()]))


async def _reload(proxy: Proxy, **headers: str) -> Any:
    return await Call(proxy, path="/semcache/reload", **headers).reply()


async def test_the_log_says_in_words_what_was_reloaded(
    tmp_path: Path, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "semcache")
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        _write(tmp_path, name="stricter", target=0.01)
        await proxy.reload("SIGHUP")
        await proxy.reload("SIGHUP")
    first, second = [line for line in caplog.messages if line.startswith("reloaded for")]
    changed = "learned anew, because their strategy, target, guards or the like changed: default"
    assert first == f"reloaded for SIGHUP: policies; {changed}"
    assert second == "reloaded for SIGHUP: nothing has changed"


async def test_a_reload_that_another_process_asked_for_is_in_the_log_of_this_one_too(
    tmp_path: Path, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    """After `semcache reload` no log of a server said that its pack had changed."""
    caplog.set_level("INFO", "semcache")
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        _write(tmp_path, name="stricter", target=0.01)
        await request_reload(proxy.cache.components.store, "command line")
        await until(lambda: any(line.startswith("reloaded for command line, by worker ") for line in caplog.messages))
    [line] = [line for line in caplog.messages if line.startswith("reloaded for")]
    assert line.endswith(
        ": policies; learned anew, because their strategy, target, guards or the like changed: default"
    )


@pytest.mark.parametrize("lost", [False, True])
async def test_a_result_says_which_workers_have_reloaded(lost: bool) -> None:
    """`semcache reload` returned when the first worker had: the others still served by the former pack."""
    store = MemoryStore()
    await store.open()
    one, two = (ReloadReports(ReloadingWorker("host/1", 2, pid)) for pid in (11, 12))
    await one.write(store, 1, {"changed": ["policies"]})
    first = await result_of(store, 1)
    assert first is not None
    assert owing(first["workers"]) == 1
    await two.write(store, 1, {"changed": ["policies"], "error": "gone"})
    if lost:  # both read it before either wrote
        await write_over(store, first)
        await two.look(store)
    await one.look(store)
    both = await result_of(store, 1)
    assert both is not None
    assert owing(both["workers"]) == 0
    assert sorted(worker["pid"] for worker in both["workers"]) == [11, 12]
    assert (both["changed"], both["error"]) == (["policies"], "gone")
    await two.write(store, 2, {"changed": []})
    await one.look(store)  # its report is of an earlier one
    assert owing((await result_of(store, 2) or {})["workers"]) == 1


async def write_over(store: MemoryStore, result: dict[str, Any]) -> None:
    await store.learn("reloaded", 1, msgspec.json.encode(result))


@pytest.mark.parametrize(
    ("other", "wait", "status"),
    [({"changed": ["policies"]}, "30", 200), ({"error": "pack.yaml: gone"}, "30", 409), (None, "0", 202)],
    ids=["reloads", "refuses", "lags"],
)
async def test_a_reply_and_the_log_say_what_became_of_the_other_workers(
    other: dict[str, Any] | None,
    wait: str,
    status: int,
    tmp_path: Path,
    upstream: Upstream,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was 200 as soon as the worker that was asked had reloaded, while others served by the former pack."""
    caplog.set_level("INFO", "semcache")
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        proxy._reports = ReloadReports(ReloadingWorker("host/1", 2, 11))
        _write(tmp_path, name="stricter", target=0.01)
        asked = asyncio.create_task(Call(proxy, path="/semcache/reload", query=f"wait={wait}").reply())
        store = proxy.cache.components.store
        await until(lambda: proxy.cache.pack.name == "stricter" and proxy._asked == 1)
        if other is not None:
            while await result_of(store, 1) is None:
                await asyncio.sleep(0.01)
            await ReloadReports(ReloadingWorker("host/1", 2, 12)).write(store, 1, other)
        reply = await asked
        result = await reported(store, 1, 0.0)
        assert result is not None
        log_workers(result)
    assert reply.status == status
    if status == 409:
        assert reply.json["error"]["code"] == "partly_reloaded"
        assert "worker 12 of host/1: pack.yaml: gone" in reply.json["error"]["message"]
        assert "not reloaded by every worker: worker 12 of host/1: pack.yaml: gone" in caplog.messages
    else:
        assert (reply.json["changed"], reply.json["late"]) == (["policies"], int(other is None))
        said = "all 2 workers have reloaded" if other else "1 of 2 workers have not reloaded yet"
        assert said in caplog.messages


async def test_one_that_refuses_first_hides_nothing_of_what_another_has_changed() -> None:
    store = MemoryStore()
    await store.open()
    one, two = (ReloadReports(ReloadingWorker("host/1", 2, pid)) for pid in (11, 12))
    await one.write(store, 1, {"error": "gone"})
    await two.write(store, 1, {"changed": ["policies"]})
    result = await reported(store, 1, 0.0)
    assert result is not None
    assert (result["changed"], result["error"], result["late"]) == (["policies"], "gone", 0)
    assert refusals(result["workers"]) == ["worker 11 of host/1: gone"]


async def test_what_a_pack_leaves_out_of_system_prompts_is_known_beside_the_proxy(
    tmp_path: Path, upstream: Upstream
) -> None:
    text = _write(tmp_path)
    async with running(upstream, tmp_path, pack=text) as proxy:
        store = proxy.generation.components.store
        assert await ignored_in_service(store) == ()
        (tmp_path / "pack.yaml").write_text(f"{text}ignore_in_system: [date]\n")
        await proxy.reload("SIGHUP")
        assert await ignored_in_service(store) == ("date",)


async def test_a_pack_is_swapped_and_what_is_stored_stays(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        await Call(proxy, ask("kept?"), x_semcache_category="careful").reply()
        assert (await Call(proxy, ask("kept?"), x_semcache_category="careful").reply()).cache["hit"]
        _write(tmp_path, name="stricter", cache="false")
        reply = await _reload(proxy)
        told = {"policies": "stricter", "changed": ["policies"], "relearned": [], "needs_restart": [], "late": 0}
        assert told.items() <= reply.json.items()
        assert [one["of"] for one in reply.json["workers"]] == [1]
        off = await Call(proxy, ask("kept?"), x_semcache_category="careful").reply()
        assert off.cache["detail"] == "category-disabled"
        assert (await Call(proxy, path="/readyz", method="GET").reply()).json["policies"] == "stricter"
        _write(tmp_path)
        await _reload(proxy)
        assert (await Call(proxy, ask("kept?"), x_semcache_category="careful").reply()).cache["hit"]
        actions = (await Call(proxy, path="/semcache/actions", method="GET").reply()).json["actions"]
        assert [one["action"] for one in actions] == ["reload", "reload"]
        assert actions[0]["changed"] == ["policies"]
        await until(lambda: not proxy._retiring)


async def test_a_mistake_changes_nothing_and_is_said(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        await Call(proxy, ask("hello")).reply()
        before = proxy.generation
        (tmp_path / "pack.yaml").write_text("name: test\ndefaults:\n  strategie: static\n")
        reply = await _reload(proxy)
        assert (reply.status, reply.json["error"]["code"]) == (400, "invalid_configuration")
        assert "pack.yaml:3" in reply.json["error"]["message"]
        assert "strategy" in reply.json["error"]["message"]
        assert proxy.generation is before
        assert (await Call(proxy, ask("hello")).reply()).cache["hit"]
        [action] = (await Call(proxy, path="/semcache/actions", method="GET").reply()).json["actions"]
        assert action["action"] == "reload failed"
        assert "pack.yaml:3" in action["error"]
        with pytest.raises(ConfigError):
            await proxy.reload("test")


async def test_a_request_on_its_way_ends_as_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Event()
    upstream = Upstream(lambda _: Answer([completion("late")]), gate=gate)
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        late = Call(proxy, ask("slow one"))
        await until(lambda: bool(upstream.calls))
        old, close, answered = proxy.generation, proxy.generation.close, []

        async def closing() -> None:
            answered.append(gate.is_set())
            await close()

        monkeypatch.setattr(old, "close", closing)
        _write(tmp_path, name="other")
        assert (await _reload(proxy)).status == 200
        assert proxy.generation is not old
        for _ in range(100):
            await asyncio.sleep(0)
        assert proxy._retiring, "the earlier generation waits for its request"
        gate.set()
        reply = await late.reply()
        assert (reply.status, reply.cache.get("stored")) == (200, True)
        await until(lambda: not proxy._retiring)
        assert answered == [True], "it was closed under its request"
        # What the earlier generation stored is found by this one.
        await proxy.cache.catch_up()
        assert (await Call(proxy, ask("slow one")).reply()).cache["hit"]


async def test_a_server_that_stops_closes_a_generation_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    closed: list[bool] = []
    async with running(
        Upstream(lambda _: Answer([completion("late")]), gate=gate), tmp_path, pack=_write(tmp_path)
    ) as proxy:
        late = Call(proxy, ask("slow one"))
        await until(lambda: bool(proxy.generation._inside))
        close = proxy.generation.close

        async def closing() -> None:
            await close()
            closed.append(True)

        monkeypatch.setattr(proxy.generation, "close", closing)
        _write(tmp_path, name="other")
        await _reload(proxy)
        assert proxy._retiring
    gate.set()
    assert closed == [True]
    del late


async def test_a_worker_whose_store_fails_while_it_reloads_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        reload, failed = proxy._reload, []

        async def failing() -> Any:
            if not failed:
                failed.append(True)
                raise StoreError("the disk is full")
            return await reload()

        monkeypatch.setattr(proxy, "_reload", failing)
        _write(tmp_path, name="other")
        await request_reload(proxy.cache.components.store, "another worker")
        await until(lambda: proxy.cache.pack.name == "other")
        assert failed


async def test_a_key_that_is_revoked_while_a_reload_reads_the_keys_stays_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        store = proxy.cache.components.store
        plain, key = new_key(lambda n: b"k" * n, 1.0, "acme", "", store.salt)
        await store.add_key(key)
        proxy._process.auth.replace(await store.keys())
        read, gate, readings = store.keys, asyncio.Event(), []

        async def slow() -> list[ApiKey]:
            found = await read()
            readings.append(found)
            if len(readings) == 1:
                await gate.wait()
            return found

        monkeypatch.setattr(store, "keys", slow)
        reloading = asyncio.create_task(proxy.reload("test"))
        await until(lambda: bool(readings))
        await store.revoke_key(key.id, now=2.0)
        # Time in which others who look for keys could be done with that.
        await asyncio.sleep(2.5)
        gate.set()
        await reloading
        await until(lambda: len(readings) > 2)
        assert (await Call(proxy, ask("hi"), x_semcache_key=plain).reply()).status == 401


async def test_a_changed_promise_is_learned_anew_as_at_a_start(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        store = proxy.cache.components.store
        labels = [
            Label(1.0, category, "t", 1, 1, b"e", 0.95, (0.95,), 0.99, True, LabelSource.AUDIT, True)
            for category in ("careful", "default")
            for _ in range(30)
        ]
        await store.label(labels)
        await proxy.cache.catch_up()
        _write(tmp_path, target=0.2)
        assert (await _reload(proxy)).json["relearned"] == ["default"]
        log = proxy.cache.components.learner.log
        assert log.seq == 60, "the labels are observed again under the new promise"
        assert log.pack.target_of("default") == 0.2


async def test_prices_and_limits_are_read_anew_and_other_settings_want_a_restart(
    tmp_path: Path, upstream: Upstream
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("m: [1, 1]\n")
    _write(tmp_path)
    given: dict[str, Any] = {
        "data": tmp_path / "data",
        "store.url": "memory://",
        "policies": str(tmp_path / "pack.yaml"),
        "embedder": "hashing",
        "prices": str(prices),
    }
    proxy = Proxy(Settings.load(given, {}, None), backend=upstream, again=lambda: Settings.load(given, {}, None))
    await proxy.start()
    try:
        await Call(proxy, ask("one")).reply()
        assert (await Call(proxy, path="/semcache/stats", method="GET").reply()).json["outcomes"]["total"][
            "spent_usd"
        ] == 12e-6
        prices.write_text("m: [1000, 1000]\n")
        given |= {"limits.requests": 1, "server.max_body": "1 MiB"}
        result = (await _reload(proxy)).json
        assert result["changed"] == ["prices", "limits"]
        assert result["needs_restart"] == ["server.max_body"]
        await Call(proxy, ask("two")).reply()
        stats = (await Call(proxy, path="/semcache/stats", method="GET").reply()).json
        assert stats["outcomes"]["total"]["spent_usd"] == pytest.approx(12e-6 + 12e-3)
        assert (await Call(proxy, ask("three")).reply()).status == 429
        prices.write_text("m: [-1]\n")
        assert (await _reload(proxy)).status == 400
        prices.unlink()
        assert (await _reload(proxy)).status == 400
        assert (await Call(proxy, ask("one")).reply()).cache["hit"]
    finally:
        await proxy.stop()


async def test_only_an_administrator_reloads(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        store = proxy.cache.components.store
        plain, key = new_key(lambda n: b"k" * n, 1.0, "acme", "", store.salt, trusted=True)
        admin, root = new_key(lambda n: b"a" * n, 1.0, "ops", "", store.salt, admin=True)
        await store.add_key(key)
        await store.add_key(root)
        # A key that nobody has polled for yet is one of the things that are read anew.
        assert (await _reload(proxy)).status == 200
        assert (await _reload(proxy)).status == 401
        assert (await _reload(proxy, x_semcache_key=plain)).status == 403
        assert (await _reload(proxy, x_semcache_key=admin)).status == 200


def test_a_secret_that_is_rotated_takes_a_restart_and_is_not_shown() -> None:
    old, new = (
        read_files(Settings.load({"policies": "default", "upstream.api_key": f"sk-{name}"}, {}, None))
        for name in ("one", "two")
    )
    assert differences(old, new)["needs_restart"] == ["upstream.api_key"]
    assert "sk-" not in str(differences(old, new))


async def test_a_reload_that_nobody_foresaw_to_fail_is_answered_and_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        tried = []

        async def failing() -> dict[str, Any]:
            tried.append(1)
            raise PermissionError(13, "not yours", "model.onnx")

        monkeypatch.setattr(proxy, "_reload", failing)
        store = proxy.cache.components.store
        number = await request_reload(store, "another worker")
        await until(lambda: proxy._asked == number)
        result = None
        while result is None:
            await asyncio.sleep(0.01)
            result = await result_of(store, number)
        assert "not yours" in result["error"]
        assert tried == [1]


async def test_an_outage_of_the_store_is_said_once_and_its_end_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(application, "_REFRESH", 0.01)
    monkeypatch.setattr(application, "_LONGEST_REFRESH", 0.01)
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        store, away = proxy.cache.components.store, [0]
        real = store.keys
        proxy.cache.components.faults._breakers["store"] = Breaker(longest=0.01)

        async def keys() -> list[ApiKey]:
            away[0] += 1
            if away[0] < 5:
                raise StoreError("the server is away")
            return await real()

        monkeypatch.setattr(store, "keys", keys)
        await until(lambda: away[0] >= 6)
        said = [record for record in caplog.records if record.levelname == "WARNING" and "store" in record.getMessage()]
        assert [record.getMessage().partition(";")[0] for record in said] == [
            "the store failed",
            "the store works again",
        ]
        assert not any(record.exc_info for record in said)


async def test_ready_is_said_again_when_the_store_is_back_though_no_request_came(
    tmp_path: Path, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        breaker = proxy.cache.components.faults._breakers["store"] = Breaker(shortest=3600)
        breaker.failed(time.monotonic(), StoreError("the server is away"))
        assert (await Call(proxy, path="/readyz", method="GET").reply()).json["status"] == "ok"


async def test_ready_is_not_said_while_answers_are_refused_and_is_a_while_after_the_last(
    tmp_path: Path, upstream: Upstream
) -> None:
    async with running(upstream, tmp_path, pack=_write(tmp_path)) as proxy:
        for refused, status in ((0.0, "degraded"), (60.0, "ok")):
            breaker = proxy.cache.components.faults._writing["store"] = Breaker()
            breaker.failed(time.monotonic() - refused, StoreError("the disk is full"))
            assert (await Call(proxy, path="/readyz", method="GET").reply()).json["status"] == status


def test_a_settings_file_that_is_gone_changes_nothing_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEMCACHE_CONFIG", raising=False)
    (tmp_path / "semcache.yaml").write_text(f"limits: {{requests: 7}}\ndata: {tmp_path / 'data'}\n")
    proxy = create()
    assert proxy._given_again is not None
    assert proxy._given_again().limits.requests == 7
    (tmp_path / "semcache.yaml").unlink()
    with pytest.raises(ConfigError, match=r"semcache\.yaml was read at the start and is gone"):
        proxy._given_again()
