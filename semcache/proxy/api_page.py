"""The page of the API at `/docs`: the OpenAPI document as plain HTML.

Knows the document alone. FastAPI's own page has the browser run scripts of a content network, which there have every
right of whoever opens it. Invariant: the page loads nothing, runs nothing, and escapes what the document says.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from semcache.proxy.page_headers import page_headers

HEADERS = page_headers("default-src 'none'; form-action 'none'")


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document."""
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    operations = [
        _operation(path, method, told)
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f'<h1>{title}</h1><p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>'
        f"{''.join(operations)}</body></html>"
    )


def _operation(path: str, method: str, told: Mapping[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
        f"<td>{'required' if one.get('required') else ''}</td><td>{escape(one.get('description', ''))}</td></tr>"
        for one in told.get("parameters", ())
    ]
    replies = [
        f"<li><code>{escape(status)}</code> {escape(one.get('description', ''))}</li>"
        for status, one in told.get("responses", {}).items()
    ]
    return (
        f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2><p>{escape(told.get('summary', ''))}</p>"
        f"<table>{''.join(rows)}</table><ul>{''.join(replies)}</ul>"
    )
