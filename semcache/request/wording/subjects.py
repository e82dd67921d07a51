"""Whose way is asked for: "how do you", "how do people" and "how can someone" as "how do I".

Invariant: what others are, think or suffer, and what they do to the asker, is not what the asker does.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.verbs import BASES

# Verbs by which "how do you" asks after the one who is asked, not after the way.
_OF_YOU = vocabulary("""
    feel think know work like ship deliver charge handle process store protect use accept hire recruit select support
    treat plan collect share test train do want sleep come see live be decide choose compare go get define manage
    learn earn generate rank ensure recommend digest breathe hear
    """)
# What is done to these without a word before them is asked of a company or an assistant: "how do you answer questions".
_OFFICE = (
    r"(?:texts?|answers?|questions?|responses?|decisions?|mistakes?|e?mails?|requests?|orders?|shipping|fraud|bias|interest"
    r"|tax(?:es)?|fees|rates?|prices?|results|words|images?|things|identity|quality|weekends|success|feedback|complaints"
    r"|refunds|returns|payments?|privacy|security|people|so (?:much|fast|well|many)|over time|calm|coffee|tea"
    r"|conversations?|knowledge|information|sources?|facts|memory|memories|sound|infections?)\b"
)
_YOURS = re.compile(
    r"how (?:do|can|would|could) (?:you|we) (?=([a-z]+)\b \S)"
    rf"(?!\w+ (?:\w+ )?{_OFFICE}(?! (?:for|in|of|on|to|from|with|using|on) ))"
    r"(?!.*\b(?:my|our|me|us|their|money|users|customers|data|notifications|prices)\b)",
    re.IGNORECASE,
)
_HANDS = re.compile(
    r"how (?:do|can|would|could) people (?=(?:make|bake|cook|build|clean|fix|repair|draw|knit"
    r"|install|brew|peel|tie|iron|sew)"
    rf" (?!money\b|{_OFFICE})\S)",
    re.IGNORECASE,
)
# What befalls others, or what they think and are, is not asked as a way to do it.
_OF_OTHERS = vocabulary("""
    be die kill commit hurt harm catch age fall suffer behave react end feel think know see live come want choose decide
    sleep hear get lose contract develop survive earn cope learn evolve inherit acquire go pass break spread form digest
    fight produce
    """)
_OTHERS = re.compile(
    r"how (?:do|does|would|can|could|might) (?:someone|somebody|a person|anyone) (?=([a-z]+)\b)"
    r"(?!become (?:an? )?(?:addict|alcohol|blind|deaf|homeless|bankrupt|zombie|king|queen|sick|ill|infected|immune)\w*)"
    r"(?!.*\b(?:my|our|me|us|i|mine|their|them|they)\b)",
    re.IGNORECASE,
)


def way_of_anybody(text: str) -> str | None:
    """The question for a way to do something in the frame that asks for the asker's; None for another text."""
    if (match := _YOURS.match(text)) and match[1].lower() in BASES - _OF_YOU:
        return "how do i " + text[match.end() :]
    if match := _HANDS.match(text):
        return "how do i " + text[match.end() :]
    if (match := _OTHERS.match(text)) and match[1].lower() in BASES - _OF_OTHERS:
        return "how do i " + text[match.end() :]
    return None
