"""The canonical wording of a prompt: what is trivially the same is written the same.

Pure: a text and the kinds of edits go in, a text and the edits that changed it come out. Invariant: the wording of a
wording is itself, and nothing inside quotes, code, identifiers, addresses or formulas changes.
"""

from semcache.request.wording.canonical import VERSION, canonical, strictest
from semcache.request.wording.digests import digest_of, is_current
from semcache.request.wording.edits import ALL, Edit, Wording
from semcache.request.wording.mending import mended, warm
from semcache.request.wording.told_language import language_code

__all__ = [
    "ALL",
    "VERSION",
    "Edit",
    "Wording",
    "canonical",
    "digest_of",
    "is_current",
    "language_code",
    "mended",
    "strictest",
    "warm",
]
