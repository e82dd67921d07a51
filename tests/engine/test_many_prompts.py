"""A request of many prompts takes turns with others as one: it neither holds them up, nor fills the queue for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from semcache.engine.job import Job
from semcache.engine.overload import Overloaded
from tests.engine.nursery import an_engine, ids, job, work

Folder = Callable[..., Path]


def prompts(name: str, count: int, *, n: int = 1, tenant: str = "") -> list[Job]:
    return [
        replace(job(f"{name}-{at}", ids(at, 20), n=n, tenant=tenant, max_tokens=2), request=name) for at in range(count)
    ]


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("tenant", ["", "other"])
def test_one_prompt_waits_for_a_turn_of_a_request_of_many_not_for_all_of_it(
    folder: Folder, n: int, tenant: str
) -> None:
    engine = an_engine(folder(), max_running=4)
    for one in prompts("many", 100, n=n):
        engine.submit(one)
    engine.step()
    engine.submit(job("one", ids(500, 20), tenant=tenant, max_tokens=2))
    order = [name for name, said in work(engine).items() if said.finishes[0] is not None]
    assert order.index("one") < 12
    assert len(order) == 101


def test_a_request_of_many_prompts_that_fills_the_queue_leaves_it_to_another_of_many(folder: Folder) -> None:
    engine = an_engine(folder(), max_running=1, max_waiting=8)
    (first, *rest), two = prompts("a", 10), prompts("b", 8)
    engine.submit(first)
    engine.step()
    for one in [*rest[:8], *two[:7], job("one", ids(1, 20), max_tokens=2)]:
        engine.submit(one)
    for full in (rest[8], two[7], job("another", ids(9, 20), max_tokens=2)):
        with pytest.raises(Overloaded):
            engine.submit(full)
    assert len(work(engine)) == 17


def test_a_request_of_many_that_waited_long_goes_on_with_one_prompt_at_a_time(folder: Folder) -> None:
    engine = an_engine(folder(), max_running=1, quantum=10**6)
    known = job("known", ids(1, 20), max_tokens=1)
    work(engine, [known])
    for one in prompts("many", 20):
        engine.submit(one)
    for at in range(90):
        engine.submit(job(f"one{at}", (*known.ids, 6 + at), max_tokens=1))
    order = list(work(engine))
    places = [at for at, name in enumerate(order) if name.startswith("many")]
    assert places[0] <= 33
    assert places[1] - places[0] > 20
