"""Parts of an amount: "how much interest will I have earned" and "how much will I have".

Reads the thing that "how much" counts, where that is a part of a larger amount, such as tax of a price or sugar of a
food. Parses no grammar. Invariant: where the whole may be the part, as in "how much will I earn", nothing is compared.
"""

from __future__ import annotations

from itertools import pairwise

from semcache.request.text import read as read_text
from semcache.request.text import vocabulary

_PARTS = vocabulary(
    """
    interest tax taxes vat gst duty profit discount tip gratuity commission deposit principal overtime bonus
    refund markup surcharge
    protein sugar fat salt sodium caffeine fibre fiber carbs cholesterol iron calcium alcohol
    """
)
_ONE = {"taxes": "tax", "gst": "vat", "fiber": "fibre", "gratuity": "tip"}
_KINDS = vocabulary("total compound simple income sales import net gross added saturated extra more of the in an")
# The whole is what these leave, or may be the part itself.
_OWN = vocabulary(
    "take takes keep keeps refund refunded earn earns earned earning make made gain save saved saving owe owed"
    " lose lost add added charge charges charged deduct deducted withhold withheld tip get give put back off"
)
_AUXILIARIES = vocabulary("is are was were will would do does did can could should have has")
_BETWEEN = _KINDS | _AUXILIARIES | vocabulary("be the my our this that")
_IN = vocabulary("in as for")
_WHOLE = "the whole"


def compare(query: str, cached: str) -> str | None:
    """The finding where one text asks for a part of an amount and the other for the whole or another part."""
    asked, kept = read_text(query), read_text(cached)
    if "much" not in asked.bag or "much" not in kept.bag:
        return None
    one, two = _counted(asked.words), _counted(kept.words)
    return f"{one} / {two}" if one and two and one != two else None


def _counted(words: tuple[str, ...]) -> str:
    """The part that is asked for, `_WHOLE` for an amount without a part; "" where there is none, or it is open."""
    place = next((at for at, word in enumerate(words[:-1]) if word == "how" and words[at + 1] == "much"), None)
    if place is None:
        return ""
    behind = words[place + 2 :]
    for word in behind[:4]:
        if word in _PARTS:
            return _ONE.get(word, word)
        if word not in _BETWEEN and not word.isdigit():
            break
    if not behind or behind[0] not in _AUXILIARIES:
        return ""  # "how much flour do I need" counts another thing, for which there are other guards
    told = any(word in _IN and after in _PARTS for word, after in pairwise(behind))
    return "" if told or not _OWN.isdisjoint(behind) else _WHOLE
