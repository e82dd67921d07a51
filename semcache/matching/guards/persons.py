"""Who is to do it: the asker or the model ("Teach me Italian", "I will teach you Italian"), or a guest who is let.

Reads short statements of the asker and orders to the model, not questions, and whom a text lets do what the other does
as one. Parses no grammar. Invariant: two texts are told apart only by a verb that is the asker's in one of them and the
model's in the other, or by one who acts in one and is let in the other.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.text import read as read_text
from semcache.request.text import vocabulary
from semcache.request.wording.cues import holds
from semcache.request.wording.verbs import is_base

_LONGEST = 14  # words; a longer text says more than who is to do what
_START = r"(?:^\W*|[.!?;:,]\s*|\b(?:and|but|so|now|then|ok|okay|hi|hello|please) )"
_ORDER = rf"(?:{_START}(?:(?:can|could|will|would) you )?|\byou (?:to|will|shall|must) |\byou'll )"
# What the asker says to do, with signs of which such a text holds one, and how the model is told to do the same.
_TURNED = tuple(
    (signs, re.compile(rf"{asker}(?P<verb>[a-z]+)\b"), re.compile(rf"{model}(?P<verb>[a-z]+)\b"))
    for signs, asker, model in (
        (
            ("'ll ", " will ", " shall ", " going to ", "let me "),
            rf"{_START}(?:(?:i|we)(?:'ll| will| shall|'m going to| am going to)|let me) ",
            _ORDER,
        ),
        (
            (" like to ", " want to ", " need to "),
            r"\b(?:i|we)(?:'d like| would like| want| need) to ",
            r"\byou to ",
        ),
        (("i ", "we "), r"^\W*(?:i|we) ", r"^\W*you "),
    )
)


_AS = re.compile(r"\bas (?:an? |the )?(?P<who>[a-z]{3,}?)s?\b(?! (?:as|soon|long|much|many|well)\b)")
_LETTING = vocabulary("let allow enable invite")
_LET = re.compile(
    rf"\b(?:{'|'.join(sorted(_LETTING))}) (?:an? |the |my |our |other |external )*(?P<who>[a-z]{{3,}}?)s?\b"
)
_NONE: frozenset[str] = frozenset()


class Deeds(NamedTuple):
    """The verbs of what the asker says to do, for each way of saying so, and the `text` in lower case.

    The text is read again for what the model is to do, if another text tells of the asker.
    """

    text: str
    askers: tuple[frozenset[str], ...]


_NOTHING = Deeds("", (_NONE,) * len(_TURNED))


def read(text: str) -> Deeds:
    """Who says what he will do; nobody in a long text."""
    lower = text.lower().replace("\u2019", "'")
    if lower.count(" ") >= _LONGEST:
        return _NOTHING
    return Deeds(lower, tuple([_verbs(asker, lower) if holds(lower, signs) else _NONE for signs, asker, _ in _TURNED]))


def exchanged(one: Deeds, two: Deeds) -> str:
    """Return a verb that is the asker's in one text and the model's in the other; "" for none."""
    for askers, others, (_, _, model) in zip(one.askers, two.askers, _TURNED, strict=True):
        if not askers and not others:
            continue
        models, orders = _verbs(model, one.text), _verbs(model, two.text)
        if turned := ((askers & orders) - others) | ((others & models) - askers):
            return min(turned)
    return ""


def let_or_as(query: str, cached: str) -> str | None:
    """The finding where one text lets a guest do what the other does as a guest; None where none does."""
    one, two = read_text(query), read_text(cached)
    for first, second in ((one, two), (two, one)):
        if "as" not in first.bag or _LETTING.isdisjoint(second.bag):
            continue
        acting = {match["who"] for match in _AS.finditer(first.lower)}
        letting = {match["who"] for match in _LET.finditer(second.lower)}
        if found := acting & letting:
            return f"as {min(found)} / let {min(found)}"
    return None


def _verbs(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset([match["verb"] for match in pattern.finditer(text) if is_base(match["verb"])])
