"""MkDocs' hook: takes the words behind a fence's language away, which are for the tests and unknown to its Markdown."""

from __future__ import annotations

import re
from typing import Any

_FENCE_WORDS = re.compile(r"^(```\w+)[ ]+[\w -]+$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page as MkDocs is to read it."""
    return _FENCE_WORDS.sub(r"\1", markdown)
