"""A further question: one prompt asks what the other asks, word for word but for its wording, and something beside it.

An answer to the shorter one leaves the rest unanswered, and the embedder hardly sees it. Small talk at either end is no
question. Pure. Invariant: symmetric, and nothing is found where neither text has two question marks.
"""

from __future__ import annotations

import re

from semcache.request.wording import ALL, Edit, canonical
from semcache.request.wording.chatter import without_chatter
from semcache.runtime.scoped_memo import scoped_cache

_END = re.compile(r"(?<=[?!.])\s+")
_KINDS = ALL - {Edit.TYPO}  # a guard does not load the dictionary
_LONGEST = 2000  # characters: of longer texts, sentences are not compared


def compare(query: str, cached: str) -> bool:
    """Return True if one of two texts asks a further question."""
    if max(query.count("?"), cached.count("?")) < 2 or max(len(query), len(cached)) > _LONGEST:
        return False
    less, more = sorted((_sentences(query), _sentences(cached)), key=len)
    further = more.keys() - less.keys()
    return bool(less) and less.keys() < more.keys() and any(more[wording].endswith("?") for wording in further)


@scoped_cache(maxsize=1024)
def _sentences(text: str) -> dict[str, str]:
    """The sentences of a text by their canonical wording."""
    return {canonical(said, _KINDS).text: said for said in _END.split(without_chatter(text).strip()) if said}
