"""Every page of the operators' page, by the modules that make them."""

from __future__ import annotations

from collections.abc import Iterator

from semcache.proxy.ui import (
    access_pages,
    certificate_pages,
    entry_pages,
    explorer_page,
    live_page,
    overview_page,
    plan_pages,
    request_pages,
    review_page,
    settings_page,
    undo_page,
)
from semcache.proxy.ui.visit import PageRoute


def routes() -> Iterator[PageRoute]:
    """The routes of every page and change."""
    for module in (
        overview_page,
        request_pages,
        entry_pages,
        review_page,
        live_page,
        certificate_pages,
        explorer_page,
        plan_pages,
        access_pages,
        undo_page,
        settings_page,
    ):
        yield from module.ROUTES
