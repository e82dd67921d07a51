"""Two writings side by side, "gray or grey": who compares them does not ask about one and the same.

Invariant: an edit that makes two compared writings one is noticed, however many pairs were equal before.
"""

from __future__ import annotations

import re

COMPARING = frozenset(("vs", "versus", "or", "and", "from", "than"))
_TWIN = re.compile(
    r"(?<![\w'])([\w']+(?: [\w']+){0,3}),? (?:and|or|vs\.?|versus|from|than) (?:an? |the )?\1(?![\w'])", re.IGNORECASE
)


def made_one(before: str, after: str) -> bool:
    """Return True if an edit made two writings side by side one."""
    return before != after and len(_TWIN.findall(after)) > len(_TWIN.findall(before))
