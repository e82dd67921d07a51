"""Entries: found by words, by meaning, by tenant, category, model or tag; and forgotten, one or many, with a dry run.

Invariant: what a bulk change would touch is counted before it is done, and what it did can be undone.
"""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from semcache.errors import CacheUnavailable, InvalidArgument
from semcache.proxy.ui.visit import PageRoute, Right, Visit
from semcache.types import Selector, parse_id, public_id

_PAGE = 50
_SHOWN = 20  # entries that a dry run names


async def entries(visit: Visit) -> Response:
    """Show the entries that match."""
    words, how = visit.asked("q"), visit.choice("how", ("words", "meaning"), "words")
    where = _selector(visit)
    refusal = ""
    search = visit.inspection.entries
    if how == "meaning" and words:
        try:
            found = await search.by_meaning(where, words, limit=_PAGE)
        except CacheUnavailable as error:
            refusal = f"Searching by meaning is not available now: {error}"
            found = await search.by_words(where, words, limit=_PAGE)
    else:
        created = visit.number("before", 0.0, 0.0, 1e12)
        before = (created, parse_id(visit.asked("under")) or 0) if created else None
        found = await search.by_words(where, words, limit=_PAGE, before=before)
    return visit.page(
        "entries.html",
        found=found,
        following=None if found.following is None else (found.following[0], public_id(found.following[1])),
        how=how,
        refusal=refusal,
        narrowed=bool(words) or where != _selector_of_all(visit),
        categories=sorted(visit.cache.pack.categories),
        total=len(visit.cache.registry) if visit.visitor.caller.admin else None,
    )


async def forget_many(visit: Visit) -> Response:
    """Forget the entries that were ticked, or all that match; first say which."""
    # The page's script takes ticks away and disables a button; a browser may run none.
    chosen = visit.asked("chosen")
    ticked = () if chosen == "all" else visit.form.get("ids", ())
    ids = tuple(number for text in ticked if (number := parse_id(text)) is not None)
    if chosen == "ticked" and not ids:
        raise InvalidArgument("No entry is selected: nothing was deleted.")
    words = visit.asked("q")
    if ids:
        where = Selector(ids=ids, tenant=visit.visitor.tenant)
    else:
        where = _selector(visit)
        if words:
            where = Selector(ids=await visit.inspection.entries.ids_of_words(where, words), tenant=visit.visitor.tenant)
        elif where == _selector_of_all(visit) and not visit.visitor.caller.admin:
            where = Selector(tenant=visit.visitor.tenant)
    if where.ids == ():
        raise InvalidArgument("No entry matches: nothing was deleted.")
    meant = await visit.cache.invalidate(where, dry_run=True)
    if visit.asked("sure") != "yes":
        sample = await visit.cache.select(replace(where, ids=tuple(meant[:_SHOWN])), limit=_SHOWN) if meant else []
        return visit.page("forget.html", meant=len(meant), sample=sample, ids=ticked, words=words)
    if str(len(meant)) != visit.asked("meant"):
        raise InvalidArgument("The matching entries have changed: go back and check again. Nothing was deleted.")
    done, undo = await visit.cache.operating.delete(where, who=visit.who)
    said = "entry is" if len(done) == 1 else "entries are"
    return visit.back("/entries", f"{len(done)} {said} forgotten.", undo=undo or "")


def _selector(visit: Visit) -> Selector:
    """The entries that the fields of the page mean."""
    where = Selector(
        tenant=visit.tenant,
        category=visit.asked("category") or None,
        model=visit.asked("model") or None,
        tag=visit.asked("tag") or None,
        namespace=visit.asked("namespace") or None,
        source=visit.asked("source") or None,
    )
    return replace(where, everything=True) if where.is_empty() else where


def _selector_of_all(visit: Visit) -> Selector:
    own = visit.visitor.tenant
    return Selector(everything=True) if own is None else Selector(tenant=own)


ROUTES = (
    PageRoute("/entries", entries, Right.READS),
    PageRoute("/entries/forget", forget_many, Right.CHANGES, post=True),
)
