"""Who does a thing and to whom it is done, and a word in a language and what it means there.

"Who teaches, the mentor or the mentee?" and "Who is taught, ..." hold the same words, and so do "What is chair in
French?" and "What does chair mean in French?". Parses no grammar.
Invariant: two texts are told apart only by one verb that both have, or by one language that both name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards.form import TONGUES
from semcache.request.wording.verbs import IRREGULAR

_ASKED = r"\b(?:who|which|what)\b"
_MAY = r"(?:can|may|must|should|will|could|might)"
_DONE = re.compile(rf"{_ASKED} (?:is|are|was|were|gets?|{_MAY} be) (?:\w+ly )?(?P<verb>[a-z]{{3,}})\b")
_DOES = re.compile(rf"{_ASKED} (?:{_MAY} )?(?P<verb>[a-z]{{3,}})\b")
_IN = re.compile(rf"\bin (?P<tongue>{'|'.join(sorted(TONGUES))})\b")
_MEANS = re.compile(r"\b(?:means?|meaning)\b")
_SAID = re.compile(r"\bwhat(?:'s| is)\b")


class Voice(NamedTuple):
    """The participle of what somebody `suffers` or the verb of what he `does`, and the language that is named.

    `means` tells if it asks what a word of the language means, `says` if it asks what a thing is called there.
    """

    suffers: str
    does: str
    tongue: str
    means: bool
    says: bool


def read(text: str) -> Voice:
    """The voice of a question."""
    lower = text.lower().replace("\u2019", "'")
    done, does, tongue = _DONE.search(lower), _DOES.search(lower), _IN.search(lower)
    means = _MEANS.search(lower) is not None
    return Voice(
        suffers=done["verb"] if done is not None and " by " not in lower else "",
        does=does["verb"] if does is not None and done is None else "",
        tongue=tongue["tongue"] if tongue is not None else "",
        means=means,
        says=not means and _SAID.search(lower) is not None,
    )


def exchanged(one: Voice, two: Voice) -> str:
    """Return the verb or the language by which two texts are told apart; "" for none."""
    return _turned(one, two) or _turned(two, one) or _meant(one, two)


def _turned(done: Voice, does: Voice) -> str:
    participle, verb = done.suffers, does.does
    if not (participle and verb) or participle == verb:
        return ""
    base = IRREGULAR.get(participle)
    bases = {base} if base else {participle[:-1], participle[:-2]} if participle.endswith("ed") else set[str]()
    return verb if bases & {verb, verb.removesuffix("s"), verb.removesuffix("es")} else ""


def _meant(one: Voice, two: Voice) -> str:
    apart = (one.means and two.says) or (one.says and two.means)
    return one.tongue if apart and one.tongue == two.tongue else ""
