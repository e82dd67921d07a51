"""The OpenAPI document, with the routes that are served outside FastAPI added to it.

Knows paths and our headers; the bodies are those of the vendors' own documents. Invariant: every path that the proxy
answers by itself is in the document.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from semcache.dialects import dialects
from semcache.dialects.embeddings import PATH as EMBEDDINGS

_CONTROLS = {
    "cache-control": "no-cache, no-store, max-age=SECONDS, only-if-cached",
    "x-semcache-category": "the category of the policy pack",
    "x-semcache-namespace": "requests of different namespaces never share an answer",
    "x-semcache-ttl": "keep the answer for so many seconds at most",
    "x-semcache-min-score": "serve no neighbour whose score is lower",
    "x-semcache-max-error": "serve nothing that is wrong with a higher probability",
    "x-semcache-verdicts": "when a language model is asked about what is in doubt: off, after, first or hedged",
    "x-semcache-tags": "names to invalidate the answer by, separated by commas",
}


def describe(app: FastAPI) -> None:
    """Add the routes that are served outside FastAPI to the document of `app`."""
    make = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = make()
            for path in (*(dialect.path for dialect in dialects().values()), EMBEDDINGS):
                made["paths"][path] = {"post": _operation(path)}
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _operation(path: str) -> dict[str, Any]:
    anything = {"application/json": {"schema": {"type": "object"}}}
    status = {"description": "RFC 9211: what the cache did", "schema": {"type": "string"}}
    return {
        "tags": ["cached"],
        "summary": f"The upstream's {path}, answered from the cache where that is right",
        "operationId": "cached_" + path.removeprefix("/v1/").replace("/", "_"),
        "parameters": [
            {"name": name, "in": "header", "required": False, "description": meaning, "schema": {"type": "string"}}
            for name, meaning in _CONTROLS.items()
        ],
        "requestBody": {"required": True, "content": anything},
        "responses": {
            "200": {"description": "the answer, or a stream of it", "headers": {"Cache-Status": status}},
            "4XX": {"description": "a refusal in the dialect of the endpoint"},
            "5XX": {"description": "the upstream's own failure; 504 for only-if-cached"},
        },
    }
