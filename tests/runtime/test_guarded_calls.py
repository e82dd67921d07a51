"""GuardedCalls of a part are survived and counted; defects are never taken for faults."""

from __future__ import annotations

import asyncio
import logging

import pytest

from semcache.errors import CacheUnavailable, IntegrityError, KeptLater, StoreError
from semcache.runtime.breaker import Breaker
from semcache.runtime.guarded_calls import SURVIVED, GuardedCalls, surviving
from semcache.runtime.telemetry import Meter

FAULTS = [StoreError("locked"), TimeoutError(), ConnectionResetError("gone"), OSError(28, "disk full")]
DEFECTS = [ValueError("shape"), RuntimeError("reentered"), TypeError("no int"), KeyError("tenant"), AssertionError()]


def count(meter: Meter, part: str) -> float:
    return meter.registry.get_sample_value("semcache_faults_total", {"component": part}) or 0.0


async def failing(error: Exception) -> None:
    raise error


async def working() -> str:
    return "done"


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
async def test_a_fault_is_unavailability_and_the_part_is_left_alone(fault: Exception) -> None:
    meter = Meter()
    faults = GuardedCalls(meter)
    faults._breakers["store"] = Breaker(shortest=3600)
    with pytest.raises(CacheUnavailable) as raised:
        await faults.guard("store", failing(fault))
    assert raised.value is fault or raised.value.__cause__ is fault
    with pytest.raises(CacheUnavailable, match="left alone"):
        await faults.guard("store", working())
    assert await faults.guard("index", working()) == "done"
    assert set(faults.named()) == {"store"}
    assert count(meter, "store") == 1


@pytest.mark.parametrize("defect", DEFECTS, ids=repr)
async def test_a_defect_is_raised_as_it_is_and_the_part_is_named(defect: Exception) -> None:
    meter = Meter()
    faults = GuardedCalls(meter)
    with pytest.raises(type(defect)) as raised:
        await faults.guard("store", failing(defect))
    assert raised.value is defect
    assert not isinstance(defect, SURVIVED)
    assert type(defect).__name__ in faults.named()["store"]
    assert count(meter, "store") == 1


async def test_a_call_that_takes_too_long_is_a_fault() -> None:
    with pytest.raises(CacheUnavailable, match="TimeoutError"):
        await GuardedCalls(Meter(), patience=0.01).guard("store", asyncio.sleep(60))


async def test_what_is_only_late_goes_on_and_nothing_is_left_alone_for_it() -> None:
    faults, go_on, ended = GuardedCalls(Meter(), patience=0.01), asyncio.Event(), []

    async def slow(number: int) -> None:
        await go_on.wait()
        ended.append(number)

    for number in range(3):
        with pytest.raises(CacheUnavailable, match="late"):
            await faults.unhurried("store", slow(number))
    assert await faults.guard("store", working()) == "done"
    assert faults.named() == {}
    go_on.set()
    await faults.settle()
    assert ended == [0, 1, 2]


async def test_the_log_is_told_once_that_a_part_is_slow(caplog: pytest.LogCaptureFixture) -> None:
    """A store that was late at every other answer was told of each time."""
    faults = GuardedCalls(Meter(), patience=0.01)
    for _ in range(3):
        with pytest.raises(KeptLater, match="late"):
            await faults.unhurried("store", asyncio.sleep(0.05))
        await faults.settle()
        faults._late["store"].succeeded()
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["the store is slow"]


async def test_what_is_unhurried_goes_on_beside_calls_that_were_late_and_not_after_a_failure() -> None:
    faults = GuardedCalls(Meter(), patience=0.01)
    faults._breakers["store"], faults._writing["store"] = Breaker(shortest=3600), Breaker(shortest=3600)
    with pytest.raises(CacheUnavailable):
        await faults.guard("store", asyncio.sleep(60))
    with pytest.raises(CacheUnavailable, match="late"):
        await faults.unhurried("store", asyncio.sleep(0.02))
    await faults.settle()
    assert await faults.guard("store", working()) == "done"  # its success was heard of
    with pytest.raises(CacheUnavailable, match="full"):
        await faults.unhurried("store", failing(StoreError("disk full")))
    with pytest.raises(CacheUnavailable, match="left alone"):
        await faults.unhurried("store", working())


async def test_a_store_that_cannot_be_written_is_read_and_is_not_said_to_work_again_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults = GuardedCalls(Meter())
    faults._writing["store"] = Breaker(shortest=0.0)
    for _ in range(5):
        with pytest.raises(CacheUnavailable, match="full"):
            await faults.unhurried("store", failing(StoreError("disk full")))
        assert await faults.guard("store", working()) == "done"
        faults.answered("store")
        assert "disk full" in faults.named()["store"]
    assert await faults.unhurried("store", working()) == "done"
    assert faults.named() == {}
    said = [record.getMessage().partition(":")[0] for record in caplog.records]
    assert said == ["the store keeps nothing new for a while", "the store keeps what is new again"]


async def test_a_store_that_cannot_be_read_is_not_written_either() -> None:
    faults = GuardedCalls(Meter())
    faults._breakers["store"] = Breaker(shortest=3600)
    with pytest.raises(CacheUnavailable, match="gone"):
        await faults.guard("store", failing(StoreError("gone")))
    with pytest.raises(CacheUnavailable, match="left alone"):
        await faults.unhurried("store", working())


async def test_a_part_that_is_left_alone_is_said_once_and_no_defect_quotes_a_prompt(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults = GuardedCalls(Meter())
    for error in (StoreError("disk full"), ValueError("my secret prompt")):
        part = "store" if isinstance(error, StoreError) else "embedder"
        together = [faults.guard(part, failing(error)) for _ in range(3)]
        await asyncio.gather(*together, return_exceptions=True)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "store" in said[0]
    assert "disk full" in said[0]
    assert "embedder" in said[1]
    assert "secret" not in said[1]


async def test_one_damaged_entry_says_nothing_about_the_next() -> None:
    faults = GuardedCalls(Meter())
    with pytest.raises(IntegrityError):
        await faults.guard("store", failing(IntegrityError("entry 1 is damaged")))
    assert await faults.guard("store", working()) == "done"


@pytest.mark.parametrize("error", [*FAULTS, *DEFECTS], ids=repr)
def test_work_in_the_background_goes_on_and_says_what_was_a_defect(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    meter = Meter()
    with caplog.at_level(logging.ERROR), surviving("following", meter.faults.labels("store")):
        raise error
    logged = [record for record in caplog.records if record.exc_info and record.exc_info[1] is error]
    assert [record.getMessage() for record in logged] == ([] if error in FAULTS else ["following failed by a defect"])
    assert count(meter, "store") == 1


def test_whoever_is_cancelled_ends() -> None:
    with pytest.raises(asyncio.CancelledError), surviving("following"):
        raise asyncio.CancelledError


def test_a_plan_that_could_not_be_looked_up_is_a_fault() -> None:
    meter = Meter()
    for why in ("cold", "fault"):
        meter.plan_looked_up(why)
    assert count(meter, "plans") == 1.0
