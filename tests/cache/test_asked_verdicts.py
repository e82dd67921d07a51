"""What verdicts of a language model may cost is kept, however many are asked for at once, and whatever it says."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from semcache.cache.asked_verdicts import AskedVerdicts, Asking
from semcache.errors import UpstreamError
from semcache.runtime.bill import Bill, charge
from semcache.types import Usage

SHARE, PRICE = 0.02, 0.014  # US dollars a call
LOOKUP: Any = SimpleNamespace(
    request=SimpleNamespace(text="q", frame=None, model="m", asker=None, scope=SimpleNamespace(tenant="t")),
    category="default",
)
SERVED: Any = SimpleNamespace(card=SimpleNamespace(text="c"))


class Model:
    """Charges for each call, and answers after a while."""

    def __init__(self, *, silent: bool) -> None:
        self.silent = silent
        self.calls = 0

    async def p_same(self, *_: object) -> tuple[float, bool]:
        self.calls += 1
        await asyncio.sleep(0)
        charge("m", Usage(700, 2))
        if self.silent:
            raise UpstreamError("it said neither yes nor no")
        return 0.9, True

    def knows(self, _: str) -> bool:
        return True


def verdicts(model: Model, paid: list[Bill], share: float | None = SHARE) -> AskedVerdicts:
    prices: Any = SimpleNamespace(cost=lambda _, used: used.prompt_tokens * PRICE / 700)
    meter: Any = SimpleNamespace(verified=lambda *_: None)
    verifiers: Any = model
    tier: Any = None
    asked = AskedVerdicts(
        Asking(tier, verifiers, prices, meter, lambda bill, _: paid.append(bill), lambda _: None, "after", "m", share)
    )
    asked.cap.paid(10.0, ("t", None))
    return asked


@pytest.mark.parametrize("at_once", [1, 64])
@pytest.mark.parametrize("silent", [False, True], ids=["says", "says nothing"])
async def test_no_more_is_spent_than_the_share_allows(silent: bool, at_once: int) -> None:
    model, paid = Model(silent=silent), list[Bill]()
    asked = verdicts(model, paid)
    for _ in range(64 // at_once):
        await asyncio.gather(*[asked.ask(LOOKUP, SERVED, later=True, in_time=False) for _ in range(at_once)])
    standing = asked.cap.standing()
    assert 0 < standing.asked < 64
    assert (standing.asked, len(paid)) == (model.calls, model.calls)
    assert standing.asking == pytest.approx(PRICE * model.calls)
    assert PRICE * model.calls <= SHARE * 10.0 + PRICE


async def test_a_verdict_that_could_not_be_asked_for_costs_nothing() -> None:
    class Away(Model):
        async def p_same(self, *_: object) -> tuple[float, bool]:
            raise UpstreamError("refused")

    asked = verdicts(Away(silent=True), [])
    assert await asked.ask(LOOKUP, SERVED, later=True, in_time=False) is None
    assert (asked.cap.standing().asked, asked.cap.standing().asking) == (0, 0.0)


@pytest.mark.parametrize(("share", "uncapped"), [(None, 1), (1.0, 0)])
async def test_verdicts_that_the_stated_share_does_not_bound_are_counted(share: float | None, uncapped: int) -> None:
    asked = verdicts(Model(silent=False), [], share)
    for in_time in (False, True):
        assert await asked.ask(LOOKUP, SERVED, later=True, in_time=in_time) is not None
    standing = asked.standing()
    assert (standing["asked"], standing["uncapped"]) == (2, uncapped)
