"""The bill of a piece of work: tokens of models that it asks on the way, collected by whoever started it.

Knows models and tokens, no prices. Invariant: without a collector a charge is nothing; tasks that the work
starts charge the same bill.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias

from semcache.types import Usage

Bill: TypeAlias = list[tuple[str, Usage]]


class BilledFor(NamedTuple):
    """The tenant and the category of the request that models were asked about, and whether a served hit was judged."""

    tenant: str
    category: str
    served: bool = False


_open: ContextVar[Bill | None] = ContextVar("semcache_bill", default=None)


@contextmanager
def billed() -> Iterator[Bill]:
    """Collect what is charged in this context."""
    bill: Bill = []
    token = _open.set(bill)
    try:
        yield bill
    finally:
        _open.reset(token)


def charge(model: str, usage: Usage) -> None:
    """Note that a model was asked."""
    bill = _open.get()
    if bill is not None:
        bill.append((model, usage))
