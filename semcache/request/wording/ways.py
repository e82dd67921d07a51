"""Ways that are asked for in other words than "how": a wish, a call for help, "the steps to", "the process of".

Invariant: what the asker suffers ("help with bleeding", "trouble breathing"), what the reader is to do ("help me read
this"), what happens by itself ("the process of burning fuel") and a place ("the way to Rome") is no way to do a thing.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.verbs import base_of, is_base

_WISH = re.compile(
    r"(?:i|we) (?:just |really |also )?(?:want|need|would like|am trying|have|wish|am looking|wanted|am "
    r"planning|intend|hope|would love"
    r"|tried) to ((?!know\b|ask\b|find out\b|understand\b)[^.?!;]+?)(?:[.;!,]| \u2013)? (?:but |so |and "
    r")?(?:i (?:do|am) not"
    r" (?:know|sure) how(?: to(?: do (?:it|that|this|so))?)?|how (?:do|can|could|would|might) (?:i|we)(?: "
    r"(?:go about )?(?:do(?:ing)?|achieve"
    r"|accomplish)(?:ing)? (?:that|this|it|so)| go about (?:it|that|this)| proceed)?|how(?: to(?: do (?:that"
    r"|this|it|so))?)?|how is (?:that"
    r"|this|it) done)\??$",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"(?:(?:i|we) (?:just |really )?(?:need|want|could use|would like) (?:some |your |a (?:bit|little) of )?"
    r"(?:help|assistance|a hand)(?: with| in)?"
    r"|(?:can|could|would|will) (?:you|any(?:one|body)|some(?:one|body)) (?:please )?(?:help|assist) (?:me|us)(?: out)?"
    r"(?: with| in)?"
    r"|(?:please )?help (?:(?:me|us)(?: out)?(?: with| in)?|with)|need(?: some)? help(?: with| in)?) (?:to )?([a-z]+)\b"
    r"(?= \S)(?! (?:machine|tools?|problem|issue|is|are|th(?:is|ese|ose|at)|it)\b)"
    r"(?! (?:(?:my|the|a|an|our|some) )?(?:\w+ )?(?:code|function|script|query|program|sentence"
    r"|paragraph|essay|text|grammar"
    r"|email|letter|message|resume|poem|bug|list)\b)",
    re.IGNORECASE,
)
# What people do with their own hands and accounts, and nobody can do for them by writing.
THEIR_OWN = vocabulary("""
    access activate add apply authenticate back block boot build buy cancel change charge clean close configure connect
    cook cut deactivate delete deploy deposit disable disconnect download dispute enable enroll exchange fill fix freeze
    grow hang hack improve increase install join jump keep kill learn link lock log login lose
    lower make mount move mute
    obtain open order pair pay plant plug print purchase quit raise recover redeem register reinstall remove renew rent
    repair replace report request reserve reset restart restore retrieve return reverse roll rollover save schedule sell
    send set setup share ship sign start stop submit subscribe swap switch sync synchronize top track transfer transport
    troubleshoot turn unblock unclog undo uninstall unlink unlock unmute unsubscribe unsync update upgrade upload use
    utilize verify wire withdraw
    """)
_MADE = vocabulary("code poem list story plan letter email decision sense point case")
# Several ways to do these are a list of things; one way is told in steps.
_LISTED = vocabulary("""
    say use arrange prove express describe die wear tie cook prepare serve eat solve measure
    classify represent draw style
    decorate count choose combine contract catch spell write
    """)
_OWN = re.compile(r" (?:\w+ )?(?:an?|the|my|your|our|his|her|their|this|that|new|more|one)\b", re.IGNORECASE)


def way_wanted(text: str) -> str | None:
    """The question in what says first what is wanted and then asks for it: "I want to X, how do I do that"."""
    if match := _WISH.match(text):
        return "how do i " + match[1]
    if (match := _HELP.match(text)) and (verb := _to_do(match[1].lower(), match)) is not None:
        return f"how do i {verb}{text[match.end() :]}"
    return None


def _to_do(word: str, match: re.Match[str]) -> str | None:
    """The verb of a task in its base form; None for what is not the asker's to do, and for another word."""
    said = match[0].lower()
    own = " me " in said and " with " not in said
    base = base_of(word) if word.endswith("ing") else word if own else None
    if base not in THEIR_OWN or (base == "make" and not _MADE.isdisjoint(match.string.lower().split())):
        return None
    return base


def is_asked_for(match: re.Match[str]) -> bool:
    """Return True where a frame of ways has a verb behind it, and asks for a way rather than for a list of them."""
    said = match[0].lower()
    if "how " in said:
        return True
    verb = match.string[match.end() :].split(" ", 1)[0].lower().strip(".,?!")
    if " ways " in f" {said}" or " methods " in said:
        return is_base(verb) and verb not in _LISTED
    return (is_base(verb) or not verb.isascii() or not verb.isalpha()) and (verb != "go" or "what " not in said)


def is_told_of(match: re.Match[str]) -> bool:
    """Return True where a process is asked about that happens, or is done by others: "the process of mining coal"."""
    said, rest = match[0].lower(), match.string[match.end() :]
    if "go about" in said or "through" in said:
        return False
    return not rest.strip(" ?.!") or (" of " in said and "steps" not in said and _OWN.match(rest) is None)
