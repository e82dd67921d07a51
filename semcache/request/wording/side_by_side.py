"""Two writings side by side, "gray or grey": who compares them does not ask about one and the same.

Invariant: an edit that makes two compared writings one is noticed, however many pairs were equal before.
"""

from __future__ import annotations

import re

COMPARING = frozenset(("vs", "versus", "or", "and", "from", "than"))
_TWIN = re.compile(
    r"(?<![\w'])([\w']+(?: [\w']+){0,3}),? (?:and|or|vs\.?|versus|from|than) (?:an? |the )?\1(?![\w'])", re.IGNORECASE
)


_LAST_WORD = re.compile(r"[\w']+\Z")
_JOINING = COMPARING | {"vs."}
_REACH = 5  # words behind one that compares: up to four that are compared, and an article


def made_one(before: str, after: str) -> bool:
    """Return True if an edit made two writings side by side one."""
    return before != after and (twins := _twins(after)) > 0 and twins > _twins(before)


def _twins(text: str) -> int:
    """How many pairs side by side are equal. In most texts no word comes again behind one that compares."""
    if text.isascii():
        words = text.lower().split(" ")
        joining = [at for at, word in enumerate(words) if word in _JOINING and at]
        if not any(_comes_again(words[at - 1], words[at + 1 : at + 1 + _REACH]) for at in joining):
            return 0
    return len(_TWIN.findall(text))


def _comes_again(word: str, behind: list[str]) -> bool:
    last = _LAST_WORD.search(word.removesuffix(","))
    return last is not None and any(one.startswith(last[0]) for one in behind)
