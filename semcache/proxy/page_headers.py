"""The headers of a page that shows prompts and answers: no other site may frame it, open it or learn its address."""

from __future__ import annotations


def page_headers(policy: str) -> dict[str, str]:
    """Return the headers of a page with this content security policy."""
    return {
        "content-security-policy": f"{policy}; base-uri 'none'; frame-ancestors 'none'",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
