"""The sequence of plan rows in a transaction: what replaces them, and the marks that are left of those of a tenant.

Knows the table `plans`. Invariant: every change of a row gives it a number above all that were given before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from semcache.storage.stores.tables import plans

MARK_LIFE = 86400.0  # seconds for which others can see that a template is gone
_BUNDLE = 500


def erase_plans(connection: sa.Connection, tenant: str, now: float) -> None:
    """Leave of the rows of a tenant, as stored, no more than marks that they are gone, which name nobody.

    For use in a transaction that may add to the change feed.
    """
    found = connection.execute(sa.select(plans.c.id).where(plans.c.tenant == tenant)).scalars().all()
    empty = {"tenant": "", "seal_key": None, "embedder_id": "", "vectors": b"", "body": b""}
    gone = [{"id": number, "expires": now + MARK_LIFE, **empty} for number in found]
    for start in range(0, len(gone), _BUNDLE):
        replace_plans(connection, gone[start : start + _BUNDLE])


def replace_plans(connection: sa.Connection, values: Sequence[dict[str, Any]]) -> None:
    """Put rows in the place of those with the same ids, each with the next number; for use where the feed is locked."""
    # The lock of the change feed makes sequence numbers visible in their order.
    last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(plans.c.seq), 0))).scalar_one()
    connection.execute(sa.delete(plans).where(plans.c.id.in_([one["id"] for one in values])))
    connection.execute(sa.insert(plans), [one | {"seq": last + place} for place, one in enumerate(values, 1)])
