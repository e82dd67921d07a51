"""A part of a program or language, named with it: "the last git commit" is "the last commit in git".

Invariant: only a noun phrase at the end of a sentence changes; a file, an application or a course in a language, which
need not be of it ("read a Python file"), is none of its parts.
"""

from __future__ import annotations

import re

from semcache.request.wording.cues import folded

_CODE = "function class method variable string array loop object module script decorator enum interface regex"
_PARTS = {
    owner: frozenset(part.replace("-", " ") for part in parts.split())
    for owner, parts in {
        "git": "commit branch tag stash repository remote submodule hook merge-conflict",
        "docker": "container image volume network",
        "kubernetes": "pod cluster node namespace service deployment secret",
        "excel": "spreadsheet worksheet workbook formula macro chart pivot-table",
        "sql": "query table view index column join",
        "python": f"{_CODE} list dictionary tuple set generator virtual-environment list-comprehension",
        "javascript": f"{_CODE} promise map callback closure",
        "typescript": f"{_CODE} type generic",
        "java": f"{_CODE} hashmap arraylist stream record",
        "bash": f"{_CODE} alias",
        "powershell": f"{_CODE} cmdlet",
        "rust": "struct trait enum macro crate vector",
        "react": "component hook context",
        "css": "selector class grid animation",
    }.items()
}
_ANY_PART = "|".join(sorted({part for parts in _PARTS.values() for part in parts}, key=lambda one: (-len(one), one)))
_OWNERS = "|".join(_PARTS)
_DETERMINED = r"a|an|the|my|this|that|each|every|another|one|your|all|any"
_NAMED = re.compile(
    rf"\b({_DETERMINED}) ((?:(?!(?:{_OWNERS})\b)[a-z]+ ){{0,2}}?)({_OWNERS}) ({_ANY_PART})(s?)(\??)$",
    re.IGNORECASE,
)
_ENDS = tuple({end for parts in _PARTS.values() for part in parts for end in (part, part + "s")})
_LONGEST = max(map(len, _ENDS)) + 2
_VOWEL = re.compile(r"[aeio]|u(?!se|ni)", re.IGNORECASE)


def apart(text: str) -> str:
    """The text with a part of a program or language at its end named before what it is a part of.

    >>> apart("how do i undo the last git commit")
    'how do i undo the last commit in git'
    """
    if not folded(text[-_LONGEST:]).rstrip("?\n").endswith(_ENDS):
        return text
    match = _NAMED.search(text)
    if match is None or match[4].lower() not in _PARTS[folded(match[3])]:
        return text
    which, like, owner, part, plural, end = match.groups()
    if which.lower() in ("a", "an"):
        which = "an" if _VOWEL.match(like or part) else "a"
    return f"{text[: match.start()]}{which} {like}{part}{plural} in {owner}{end}"
