"""Plurals of another sense: "glasses" are more than a glass, "damages" are no damage.

Knows these nouns, and the words beside them that decide which sense is meant. Invariant: a plural that only counts what
the singular names is told from nothing.
"""

from __future__ import annotations

from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording.verbs import BASES

# Plurals with a sense that the singular has not.
SENSES = {
    "glasses": "glass", "woods": "wood", "customs": "custom", "goods": "good", "spectacles": "spectacle",
    "peoples": "people", "manners": "manner", "clothes": "cloth", "arms": "arm", "securities": "security",
    "shorts": "short", "savings": "saving", "news": "new", "blinds": "blind", "grounds": "ground",
    "premises": "premise", "spirits": "spirit", "airs": "air", "rights": "right", "morals": "moral",
    "draughts": "draught", "means": "mean", "damages": "damage",
}  # fmt: skip
_APART = vocabulary("spectacles manners clothes news means damages")  # "a spectacle" is not one of these
_VERBS_TOO, _BEFORE_NOUNS = vocabulary("means damages"), vocabulary("a an are is of in legal what")
_COMPOUNDS = (("account",), ("accounts",), ("and",))  # "savings account", "goods and services"
_ONE = vocabulary("a an one each every per another")
_ACTING = vocabulary("to i you we they")
_OWNED = vocabulary("my your his her its our their the")


def other_sense(form: str, other: str, one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return True if one of two forms is a plural with a sense that the other has not.

    `form` is one of the words `one`, and `other` of the words `two`.
    """
    if form in SENSES and SENSES[form] == other:
        plural, many, single = form, one, two
    elif other in SENSES and SENSES[other] == form:
        plural, many, single = other, two, one
    else:
        return False
    singular = SENSES[plural]
    where, place = many.index(plural), single.index(singular)
    if many[where + 1 : where + 2] in _COMPOUNDS:
        return False
    before, ahead = single[place - 1] if place else "", many[where - 1] if where else ""
    verbal = plural in _VERBS_TOO and not {before, ahead} <= _BEFORE_NOUNS
    if verbal or (plural == "arms" and not _OWNED.isdisjoint((before, ahead))):
        return False
    if before in _ONE:
        return plural in _APART
    verb = single[place - 2] if place > 1 else ""  # "to dye cloth", "do I dye cloth"
    # "Wine glass" and "wine glasses": what a noun stands before is counted.
    return (
        not before or before != ahead or before in LIGHT or before in BASES or verb in _ACTING or before.endswith("ing")
    )
