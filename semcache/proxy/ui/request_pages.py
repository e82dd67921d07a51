"""Why: the requests that were recorded, one of them with all its reasons, and what would become of another one.

Turns decision records and explanations into pages, and four buttons into reports, withdrawals and deletions.
Invariant: a visitor sees and changes what is of its own tenant; every change can be taken back, or says that it cannot.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from semcache.cache.explaining import explain
from semcache.cache.found import chat_request
from semcache.dialects import dialects
from semcache.errors import IntegrityError
from semcache.proxy.ui.visit import PageRoute, Right, Visit, not_found
from semcache.types import Outcome, Scope, Selector, Why, parse_id, public_id

_PAGE = 50
_ANSWER = 4000  # characters of an answer that are shown


async def requests(visit: Visit) -> Response:
    """List the requests that were recorded."""
    wanted = visit.asked("q")
    if wanted and " " not in wanted and await visit.cache.operating.request(wanted, tenant=visit.visitor.tenant):
        return await request(visit, wanted)
    outcome = visit.choice("outcome", tuple(one.value for one in Outcome), "")
    why = visit.choice("why", tuple(one.value for one in Why), "")
    before = visit.number("before", 0.0, 0.0, 1e12)
    found = await visit.cache.operating.requests(
        tenant=visit.tenant, outcome=outcome or None, why=why or None, before=before or None, limit=_PAGE
    )
    category, model = visit.asked("category"), visit.asked("model")
    words = visit.asked("q").casefold().split()
    shown = [
        one
        for one in found
        if category in ("", one["category_name"])
        and model in ("", one["model"])
        and all(word in one["prompt"].casefold() for word in words)
    ]
    return visit.page(
        "requests.html",
        requests=shown,
        outcomes=[one.value for one in Outcome if one is not Outcome.EXACT],
        whys=sorted(one.value for one in Why),
        categories=sorted(visit.cache.pack.categories),
        following=found[-1]["at"] if len(found) == _PAGE else None,
        keep=visit.cache.components.decisions.keep,
    )


async def request(visit: Visit, wanted: str = "") -> Response:
    """Show why one request was served or not."""
    request_id = wanted or visit.request.path_params["id"]
    found = await visit.cache.operating.request(request_id, tenant=visit.visitor.tenant)
    if found is None:
        return visit.page("requests_none.html", status=404, wanted=request_id)
    return visit.page("request.html", **await _told(visit, found), explained=False)


async def ask(visit: Visit) -> Response:
    """Say what would become of a prompt now."""
    prompt = visit.text("prompt")
    facts: dict[str, Any] = {"found": None, "prompt": prompt, "elsewhere": ""}
    own, operating = visit.visitor.tenant, visit.cache.operating
    tenant = own if own is not None else visit.asked("tenant")
    if not tenant:
        known = await operating.tenants()
        tenant = "default" if "default" in known or not known else next(iter(known))
    models = await operating.models(tenant)
    model = visit.asked("model") or next(iter(models), "default")
    if prompt.strip():
        user = visit.asked("user") or None
        scope = Scope(tenant, user if visit.cache.pack.share == "user" else None, visit.asked("namespace"))
        asked = chat_request(prompt, model, {}, scope, visit.asked("category") or None)
        facts |= await _told(visit, await explain(visit.cache, asked))
        facts["elsewhere"] = await operating.elsewhere(tenant, model, facts["found"]["why"], everybody=own is None)
    return visit.page(
        "ask.html", **facts, explained=True, models=models, model=model, of=tenant,
        categories=sorted(visit.cache.pack.categories),
    )  # fmt: skip


async def _told(visit: Visit, found: dict[str, Any]) -> dict[str, Any]:
    """The facts of a decision for its page: neighbours, the answer that was served, and labels about them."""
    neighbours = found.get("neighbours", [])
    ids = [number for one in neighbours if (number := parse_id(one["id"])) is not None]
    served = parse_id(found["entry_id"]) if found.get("entry_id") else None
    labels, answers = await asyncio.gather(
        visit.inspection.labels_about(ids, tenant=visit.visitor.tenant),
        _answers(visit, [*ids[:3], *([served] if served is not None and served not in ids[:3] else [])]),
    )
    best = neighbours[0] if neighbours else None
    return {
        "found": found,
        "best": best,
        "others": neighbours[1:],
        "labels": [{"entry": public_id(one.entry_id), "label": one} for one in labels[:20]],
        "answers": answers,
        "standing": found.get("category") if isinstance(found.get("category"), dict) else None,
    }


async def _answers(visit: Visit, ids: list[int]) -> dict[str, dict[str, Any]]:
    """Texts of the answers of entries, by public id."""
    try:
        entries = await visit.cache.components.store.get(ids) if ids else []
    except IntegrityError:
        return {}
    known = {}
    for entry in entries:
        if entry is not None and visit.visitor.tenant in (None, entry.key.scope.tenant):
            text = dialects()[entry.endpoint].parse(entry.body).text if entry.endpoint in dialects() else ""
            known[public_id(entry.id)] = {
                "text": text[:_ANSWER],
                "semantic": bool(entry.partition),
                "prompt": entry.key.text[:_ANSWER],
                "created": entry.created,
            }
    return known


async def report(visit: Visit) -> Response:
    """Take in that an answer was wrong, for one request or for all that it was served to."""
    entry, request_id, tenant = visit.asked("entry"), visit.asked("request"), visit.visitor.tenant
    done = False
    if request_id:
        done = await visit.inspection.review(request_id, entry, correct=False, who=visit.who, tenant=tenant)
    if not done:
        done = await visit.cache.feedback(entry, correct=False, tenant=tenant, who=visit.who)
    if not done:
        raise not_found(f"entry {entry[:64]!r}")
    to = _from(visit)
    if request_id and await visit.cache.operating.request(request_id, tenant=tenant) is None:
        to = "/requests"
    message = "Reported as wrong. The answer is not served to this request again."
    return visit.back(to, message, withdraw=entry)


async def withdraw(visit: Visit) -> Response:
    """Take reports of a wrong answer back."""
    entry = visit.asked("entry")
    done = await visit.cache.operating.withdraw(parse_id(entry), who=visit.who, tenant=visit.visitor.tenant)
    if done is None:
        return visit.back(_from(visit), "There is no report about this entry to withdraw.", bad=True)
    return visit.back(_from(visit), "The report is withdrawn. The entry may be served again.")


async def forget(visit: Visit) -> Response:
    """Delete an entry, so that it can be brought back."""
    number = parse_id(visit.asked("entry"))
    if number is None:
        raise not_found("such entry")
    where = Selector(ids=(number,), tenant=visit.visitor.tenant)
    ids, undo = await visit.cache.operating.delete(where, who=visit.who)
    if not ids:
        raise not_found("such entry")
    return visit.back("/requests", "The entry was forgotten.", undo=undo or "")


async def never_by_meaning(visit: Visit) -> Response:
    """Serve an entry to its own request alone."""
    undo = await visit.inspection.serve_exactly_only(visit.asked("entry"), who=visit.who, tenant=visit.visitor.tenant)
    if undo is None:
        return visit.back(
            _from(visit), "This entry is already served to its own request only, or has been deleted.", bad=True
        )
    return visit.back(_from(visit), "From now on the entry is served to its own request only.", undo=undo)


def _from(visit: Visit) -> str:
    """The page that a button was on: of a request, or the list of entries."""
    request_id = visit.asked("request")
    return (
        f"/requests/{request_id}" if request_id and request_id.isprintable() and "/" not in request_id else "/entries"
    )


ROUTES = (
    PageRoute("/requests", requests, Right.READS),
    PageRoute("/requests/{id}", request, Right.READS),
    PageRoute("/ask", ask, Right.READS),
    PageRoute("/report", report, Right.CHANGES, post=True),
    PageRoute("/withdraw", withdraw, Right.CHANGES, post=True),
    PageRoute("/forget", forget, Right.CHANGES, post=True),
    PageRoute("/never-by-meaning", never_by_meaning, Right.CHANGES, post=True),
)
