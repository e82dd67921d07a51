"""Who is to do it, the asker or the model: "Teach me Italian" and "I will teach you Italian".

Reads statements of the asker and orders to the model, not questions. Parses no grammar.
Invariant: two texts are told apart only by a verb that is the asker's in one of them and the model's in the other.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.text import READINGS
from semcache.request.wording.verbs import is_base
from semcache.runtime.scoped_memo import scoped_cache

_START = r"(?:^|[.!?;:,]\s*|\b(?:and|but|so|now|then|ok|okay|hi|hello|please) )"
_ASKERS = re.compile(
    rf"{_START}(?:(?:i|we)(?:'ll| will| shall| can| may| must|'m going to| am going to| want to|'d like to"
    r"| would like to)?|let me) (?P<verb>[a-z]+)\b"
)
_MODELS = re.compile(
    rf"(?:{_START}(?:please |can you |could you |will you )?|\b(?:want|would like|need|'d like) you to "
    r"|\byou(?:'ll| will| shall| can| may| must|'re going to| are going to)? )(?P<verb>[a-z]+)\b"
)
_NO_DEED = frozenset(
    ("want", "like", "need", "have", "know", "help", "let", "be", "do", "get", "use", "see", "can", "will")
)


class Deeds(NamedTuple):
    """The verbs that the asker says to do, and those that the model is to do."""

    askers: frozenset[str]
    models: frozenset[str]


def exchanged(one: str, two: str) -> str:
    """A verb that is the asker's in one text and the model's in the other; "" for none."""
    ours, theirs = _read(one), _read(two)
    turned = (ours.askers & theirs.models) - theirs.askers | (theirs.askers & ours.models) - ours.askers
    return min(turned, default="")


@scoped_cache(maxsize=READINGS)
def _read(text: str) -> Deeds:
    lower = text.lower().replace("\u2019", "'")
    return Deeds(_verbs(_ASKERS, lower), _verbs(_MODELS, lower))


def _verbs(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    found = [match["verb"] for match in pattern.finditer(text)]
    return frozenset([verb for verb in found if verb not in _NO_DEED and is_base(verb)])
