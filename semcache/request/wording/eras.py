"""Numbers in names: world wars, rulers, chapters, decades.

Invariant: a letter that is also a word ("part I play") is no number, and "the First" is no part of a name.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded

_LETTERS = (
    "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii",
    "xviii", "xix", "xx",
)  # fmt: skip
_ORDINALS = (
    "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
    "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_ROMANS = {roman: str(number) for number, roman in enumerate(_LETTERS, 1)}
_ROMAN = re.compile(
    r"\b(world war|chapter|part|volume|act|scene|article|type|stage|phase|grade|section|season|super bowl)"
    r" (i|ii|iii|iv|vi|vii|viii|ix|xi|xii|xiii|xiv|xv|xvi|xvii|xviii|xix|xx)(?![\w'-])",
    re.IGNORECASE,
)
_WAR = re.compile(
    r"(?<![\w-])(?:ww ?-?(i|ii|1|2)|(?:the )?(first|second|1st|2nd) world war|world war (one|two))(?![\w-])",
    re.IGNORECASE,
)
_RULERS = (
    r"louis|henry|george|edward|elizabeth|charles|william|james|richard|philip|ferdinand|napoleon|nicholas|alexander"
    r"|catherine|peter|ivan|frederick|wilhelm|leopold|otto|pius|paul|benedict|gregory|innocent|urban|leo|julius"
    r"|ramses|ramesses|ptolemy|darius|felipe|carlos|albert|christian|gustav|haakon|mary|margaret|mehmed|selim|pedro"
    r"|umberto|victor emmanuel|robert|constantine|theodosius|amenhotep|thutmose|rama|baldwin|boniface|clement"
    r"|maximilian"
)
_RULER = re.compile(
    rf"\b({_RULERS}) the ({'|'.join(_ORDINALS)})(?![\w-])(?! (?:wife|husband|son|daughter|child|brother|sister|king"
    r"|queen|pope|emperor|ruler|man|woman|person|president|one|of|to|born|in line|time|eldest|oldest|most|best)\b)",
    re.IGNORECASE,
)
_ROMAN_CUE = re.compile(
    r"(?:war|chapter|part|volume|act|scene|article|type|stage|phase|grade|section|season|bowl) [ivx]"
)
_RULER_CUE = re.compile(rf" the (?:{'|'.join(_ORDINALS)})")
_DECADE = re.compile(
    r"(?<![\w-])(eighteen|nineteen)[ -](twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies(?![\w-])", re.IGNORECASE
)
_NUMBERED = vocabulary("ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx i war")
_HEADS = vocabulary("war chapter part volume act scene article type stage phase grade section season bowl")
_DECADES = frozenset(("eighteen", "nineteen"))
_WARS = frozenset(("war", "wwi", "wwii", "ww1", "ww2", "ww"))

CUES = _DECADES | _WARS | frozenset(_ORDINALS) | _HEADS


def unnamed(text: str, bag: frozenset[str]) -> str:
    """The text with one writing of each number that is part of a name; `bag` holds its words in lower case."""
    if not bag.isdisjoint(_DECADES) or "nineteen-" in text:
        text = _DECADE.sub(_decade, text)
    if not bag.isdisjoint(_HEADS) and not bag.isdisjoint(_NUMBERED) and _ROMAN_CUE.search(folded(text)):
        text = _ROMAN.sub(_arabic, text)
    if not bag.isdisjoint(_WARS):
        text = _WAR.sub(lambda match: f"world war {_war(match)}", text)
    if " the " in text and not bag.isdisjoint(_ORDINALS) and _RULER_CUE.search(folded(text)):
        text = _RULER.sub(_ruler, text)
    return text


def _decade(match: re.Match[str]) -> str:
    tens = {"twent": 2, "thirt": 3, "fort": 4, "fift": 5, "sixt": 6, "sevent": 7, "eight": 8, "ninet": 9}
    return f"{18 if match[1].lower() == 'eighteen' else 19}{tens[folded(match[2])]}0s"


def _arabic(match: re.Match[str]) -> str:
    if match[2].lower() == "i" and match[1].lower() != "world war":
        return match[0]
    return f"{match[1]} {_ROMANS[folded(match[2])]}"


def _war(match: re.Match[str]) -> str:
    return "1" if (match[1] or match[2] or match[3]).lower() in ("i", "1", "first", "1st", "one") else "2"


def _ruler(match: re.Match[str]) -> str:
    return f"{match[1]} {_LETTERS[_ORDINALS.index(match[2].lower()) + 1]}"
