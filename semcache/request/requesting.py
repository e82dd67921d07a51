"""Prompts that ask for something, as opposed to texts that only state something.

Knows English words. Invariant: a text always counts as asking if it is short, has a question mark, speaks of its sender
or to its reader, or ends without a mark (as texts typed in a hurry do); only longer sentences in the third person
state.
"""

from __future__ import annotations

import re

from semcache.request.text import read, vocabulary
from semcache.request.wording.verbs import is_base

_FEW = 10  # words; fewer may be the keywords of a search
_SPEAKING = vocabulary(
    """
    i i'm i've i'd i'll me my mine myself we we're we've our us you your yours please pls plz u ur how how's
    how-to what's
    """
)
_OPENING = vocabulary(
    """
    who whom whose which what when where why is are was were am do does did can could will would should shall may might
    must has have had any best difference steps tips reasons ways
    """
)
_CLOSED = re.compile(r"""[.!\u2026]["'\u2019\u201d)\]\s]*$""")
_SENTENCE = re.compile(r"[.:;!\n]+\s+")


def asks(text: str) -> bool:
    """Return True if a text may ask for something, and False for one that only states something."""
    words = read(text)
    if "?" in text or len(words.words) < _FEW or not words.bag.isdisjoint(_SPEAKING) or not _CLOSED.search(text):
        return True
    return any(_opens(read(part).words) for part in _SENTENCE.split(text))


def _opens(words: tuple[str, ...]) -> bool:
    return bool(words) and (words[0] in _OPENING or is_base(words[0]))
