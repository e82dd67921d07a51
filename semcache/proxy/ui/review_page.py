"""The review queue: neighbours of recent requests that are most in doubt, judged with two keys.

Invariant: what was judged does not come back, and a judgement is of the visitor's own tenant.
"""

from __future__ import annotations

from starlette.responses import Response

from semcache.proxy.ui.visit import PageRoute, Right, Visit
from semcache.types import parse_id

_QUEUE = 30


async def review(visit: Visit) -> Response:
    """Show the first doubt, and how many wait."""
    doubts = await visit.inspection.doubts(tenant=visit.tenant, limit=_QUEUE)
    skipped = set(visit.asked("skip").split(",")) if visit.asked("skip") else set()
    waiting = [one for one in doubts if one.record.request_id not in skipped]
    first = next(iter(waiting), None)
    cached = None
    if first is not None:
        number = parse_id(first.neighbour["id"])
        cached = await visit.cache.get(number) if number is not None else None
    text = cached.key.text if cached is not None else ""
    return visit.page(
        "review.html", doubt=first, cached=text, answer=_answer(cached), waiting=len(waiting), skipped=sorted(skipped)
    )


async def judge(visit: Visit) -> Response:
    """Learn from a judgement, and show the next doubt."""
    correct = visit.asked("correct") == "yes"
    done = await visit.inspection.review(
        visit.asked("request"), visit.asked("entry"), correct=correct, who=visit.who, tenant=visit.visitor.tenant
    )
    skip = visit.asked("skip")
    if not done:
        return visit.back(
            "/review", "This pair no longer exists: its entry or its record was deleted.", bad=True, skip=skip
        )
    said = "right" if correct else "wrong: it will not be served to that request"
    return visit.back("/review", f"Learned: the answer is {said}.", skip=skip)


def _answer(entry: object) -> str:
    from semcache.dialects import dialects
    from semcache.types import Entry

    if not isinstance(entry, Entry) or entry.endpoint not in dialects():
        return ""
    return dialects()[entry.endpoint].parse(entry.body).text[:2000]


ROUTES = (PageRoute("/review", review, Right.READS), PageRoute("/review", judge, Right.CHANGES, post=True))
