"""Who does a thing and to whom it is done, and a word in a language and what it means there.

"Who teaches, the mentor or the mentee?" and "Who is taught, ..." hold the same words, and so do "What is chair in
French?" and "What does chair mean in French?". Parses no grammar.
Invariant: two texts are told apart only by one verb that both have, or by one language that both name.
"""

from __future__ import annotations

import re

from semcache.matching.guards.form import TONGUES
from semcache.request.wording.verbs import IRREGULAR

_ASKED = r"\b(?:who|which|what)\b"
_MAY = r"(?:can|may|must|should|will|could|might)"
_DONE = re.compile(rf"{_ASKED} (?:is|are|was|were|gets?|{_MAY} be) (?:\w+ly )?(?P<verb>[a-z]{{3,}})\b")
_DOES = re.compile(rf"{_ASKED} (?:{_MAY} )?(?P<verb>[a-z]{{3,}})\b")
_IN = re.compile(rf"\bin (?P<tongue>{'|'.join(sorted(TONGUES))})\b")
_MEANS = re.compile(r"\b(?:means?|meaning)\b")
_SAID = re.compile(r"\bwhat(?:'s| is)\b")


def exchanged(one: str, two: str) -> str:
    """Return the verb or the language by which two texts are told apart; "" for none."""
    one, two = one.lower().replace("\u2019", "'"), two.lower().replace("\u2019", "'")
    return _turned(one, two) or _turned(two, one) or _meant(one, two) or _meant(two, one)


def _turned(done: str, does: str) -> str:
    suffered, acted = _DONE.search(done), _DOES.search(does)
    if suffered is None or acted is None or " by " in done or _DONE.search(does) is not None:
        return ""
    participle, verb = suffered["verb"], acted["verb"]
    if participle == verb:
        return ""
    base = IRREGULAR.get(participle)
    bases = {base} if base else {participle[:-1], participle[:-2]} if participle.endswith("ed") else set[str]()
    return verb if bases & {verb, verb.removesuffix("s"), verb.removesuffix("es")} else ""


def _meant(means: str, said: str) -> str:
    ours, theirs = _IN.search(means), _IN.search(said)
    if ours is None or theirs is None or ours["tongue"] != theirs["tongue"]:
        return ""
    apart = _MEANS.search(means) is not None and _MEANS.search(said) is None and _SAID.search(said) is not None
    return ours["tongue"] if apart else ""
