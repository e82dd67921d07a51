"""Where a thing is done and where another: "bought online, returned in a store" is not "bought in a store".

Reads the order of the words for ways to deal with a shop or a bank. Invariant: an order means something only where no
"and" or "or" joins them.
"""

from __future__ import annotations

from semcache.request.text import read as read_text
from semcache.request.text import vocabulary

_CHANNELS = vocabulary("online store shop branch person phone post mail email app website counter instore")
_JOINING = vocabulary("and or vs versus than between")


def exchanged(query: str, cached: str) -> str | None:
    """The ways that changed places between two texts that name the same ones; None where none did."""
    one, two = read_text(query), read_text(cached)
    if _CHANNELS.isdisjoint(one.bag):
        return None
    ours, theirs = (tuple([word for word in text.words if word in _CHANNELS]) for text in (one, two))
    if len(ours) < 2 or ours == theirs or sorted(ours) != sorted(theirs):
        return None
    return None if not _JOINING.isdisjoint(one.bag | two.bag) else f"{' and '.join(sorted(set(ours)))} changed places"
