"""Edits to other versions of languages, systems and devices.

Knows some releases by name. Invariant: another version differs in its first number.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import pick, within

_VERSIONED = re.compile(
    r"\b(?P<name>python|java|php|ruby|angular|django|node|react|vue|c\+\+|windows|android|ios|macos|ubuntu"
    r"|version|release|iphone|galaxy|gpt-?"
    r"|html|css|tls|http|usb|wifi|bluetooth|postgres|mysql|kernel|rails|swift|spring|drupal|excel|office"
    r"|photoshop|v)(?P<gap> ?)(?P<number>\d{1,4}(?:\.\d{1,2}){0,2})(?![\w.]\w)",
    re.IGNORECASE,
)
_UNVERSIONED = re.compile(
    r"(?<![\w-])(?P<name>python|java|django|angular|windows|android|ios|ubuntu|php|iphone)(?![\w.-]| \d|'s)",
    re.IGNORECASE,
)
_RELEASES = {
    "python": ("2", "3", "2.7", "3.8", "3.12"), "java": ("8", "11", "17"), "django": ("2", "3.2", "4", "5"),
    "angular": ("2", "8", "14", "17"), "windows": ("7", "8", "10", "11"), "android": ("9", "12", "14"),
    "ios": ("12", "15", "17"),
    "ubuntu": ("18.04", "20.04", "22.04"), "php": ("5", "7.4", "8"), "iphone": ("8", "11", "13", "15"),
}  # fmt: skip


def _version(text: str, rng: random.Random) -> str | None:
    match = pick(_VERSIONED, text, rng)
    if match is None:
        return None
    number = match["number"]
    known = [
        one for one in _RELEASES.get(match["name"].lower(), ()) if one.partition(".")[0] != number.partition(".")[0]
    ]
    if known:
        return within(text, match, "number", rng.choice(known))
    whole, dot, rest = number.partition(".")
    return within(text, match, "number", f"{int(whole) + rng.choice((1, 2, 3))}{dot}{rest}")


def versioned(text: str, rng: random.Random) -> str | None:
    """With a version behind a name that has none: what `language-version` needs to change."""
    match = pick(_UNVERSIONED, text, rng)
    if match is None or len(text) > 160 or (match["name"].islower() and match["name"] == "windows"):
        return None
    return within(text, match, "name", f"{match['name']} {rng.choice(_RELEASES[match['name'].lower()])}")


RULES = changing_rules(digits=True, language__version_other=_version)
