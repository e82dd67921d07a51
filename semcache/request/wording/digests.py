"""Digests of canonical wordings, each behind the mark of the rules that made it, so that stores can keep them.

Pure but for asking for the versions of what the rules were written with. Invariant: of one salt and one mark, digests
are equal iff canonical wordings are; a digest of other rules is never taken for one of these.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version

from semcache.request.wording.canonical import VERSION, canonical

_MARK, _DIGEST = 4, 16  # bytes


def digest_of(text: str, salt: bytes) -> bytes:
    """The digest of a text's canonical wording by all kinds of edits; `salt`, at most 64 bytes, keys it."""
    wording = canonical(text).text.encode("utf-8", "surrogatepass")
    return mark_of_rules() + blake2b(wording, digest_size=_DIGEST, key=salt).digest()


def is_current(digest: bytes) -> bool:
    """Return True for a digest that was made by the rules of this program."""
    return len(digest) == _MARK + _DIGEST and digest.startswith(mark_of_rules())


@lru_cache(maxsize=1)
def mark_of_rules() -> bytes:
    """The mark of the rules: their version, and those of Unicode and of the dictionary that they look words up in."""
    made_with = f"{VERSION} {unicodedata.unidata_version} {version('symspellpy')}"
    return blake2b(made_with.encode(), digest_size=_MARK).digest()
