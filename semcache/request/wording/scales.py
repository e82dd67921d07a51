"""Thousands, millions and more behind a number, as digits: "48k", "$3 mln", "2.5 million".

Invariant: a number with a "k" that is a name ("4k", "401k") stays, and so does one with more decimals than zeros.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded
from semcache.request.wording.spelled_numbers import SCALES

_NUMBER = r"\d+(?:\.\d+)?"
_THOUSANDS = re.compile(rf"(?<![\w.,/:-])([$\u20ac\u00a3]?)({_NUMBER})(k|K)(?![\w/:.-]\S|\w)")
_SCALED = re.compile(
    rf"(?<![\w.,/:-])([$\u20ac\u00a3]?)({_NUMBER}) (thousand|million|billion|trillion)(?![\w-])", re.IGNORECASE
)
_RACE = re.compile(r"(\d(?<![\w.,/:$-]\d)\d?) ?[kK](?= (?:run|race|walk|jog|marathon|trail)s?\b)")
_SIGNED_SCALE = re.compile(
    r"([$\u20ac\u00a3])(\d+(?:\.\d+)?) ?(mln|mil|mn|m|bn|b|tn|million|billion|thousand|trillion)(?![\w-])",
    re.IGNORECASE,
)
_LETTERED = {
    "m": 1_000_000, "mn": 1_000_000, "mil": 1_000_000, "mln": 1_000_000, "million": 1_000_000, "b": 1_000_000_000,
    "bn": 1_000_000_000, "billion": 1_000_000_000, "tn": 10**12, "trillion": 10**12, "thousand": 1000,
}  # fmt: skip
# Numbers with a "k" that are names: resolutions, races, a pension plan.
_NAMES = vocabulary("1k 2k 4k 5k 8k 10k 16k 401k 8-k 10-k")
_NOT_COUNTED = vocabulary("""
    is was are were has resolution screen screens monitor monitors display displays tvs cameras races runs videos games
    movies photos textures pixels images projectors vs this does less plus as its
    """)


def lettered(text: str) -> str:
    """The text with amounts of money in full: "$3 mln"."""
    return _SIGNED_SCALE.sub(_lettered, text)


def thousands(text: str) -> str:
    """The text with a "k" behind a number as thousands, or kilometres of a race."""
    return _THOUSANDS.sub(_thousands, _RACE.sub(r"\1 km", text))


def scaled(text: str) -> str:
    """The text with the name of a scale behind a number as zeros."""
    return _SCALED.sub(_scaled, text)


def _thousands(match: re.Match[str]) -> str:
    sign, number, letter = match.groups()
    if not sign and (letter == "K" or (f"{number}k" in _NAMES and not _counts(match))):
        return match[0]
    value = _times(number, 1000)
    return match[0] if value is None else sign + value


def _lettered(match: re.Match[str]) -> str:
    value = _times(match[2], _LETTERED[folded(match[3])])
    return match[0] if value is None else match[1] + value


def _scaled(match: re.Match[str]) -> str:
    value = _times(match[2], SCALES[folded(match[3])])
    return match[0] if value is None else match[1] + value


def _counts(match: re.Match[str]) -> bool:
    """Return True if a number like "2k" counts things, or is what a share is taken of, and so no name."""
    if match[2] == "401":
        return False
    if match.string[: match.start()].endswith(("% of ", "percent of ")):
        return True
    following = match.string[match.end() :].lstrip(" ").split(" ", 1)[0].strip(".,?!").lower()
    return following == "people" or (following.endswith("s") and len(following) > 3 and following not in _NOT_COUNTED)


def _times(number: str, scale: int) -> str | None:
    whole, _, part = number.partition(".")
    zeros = len(str(scale)) - 1
    if len(part) > zeros:
        return None
    return str(int(whole + part + "0" * (zeros - len(part))))
