"""Whose way is asked for: "how do you", "how do people" and "how can someone" as "how do I".

Invariant: what others are, think or suffer, and what they do to the asker, is not what the asker does.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.verbs import BASES

# Verbs by which "how do we" asks after all people, or after a company's own way.
_OF_US = vocabulary("""
    feel think know work like ship deliver charge handle process store protect use accept hire recruit select support
    treat plan collect share test train do want sleep come see live be decide choose compare go get define manage
    learn earn generate rank ensure recommend digest breathe hear
    """)
# What people do with their own hands, so that nobody is asked how "you" do it or how another does.
_BY_HAND = vocabulary("""
    apologize bake boil braise brew caramelize chop clone commit compile conjugate cook convert crochet cube
    defrost descale differentiate divide draw dry embroider factor fillet fix fold fry glue grate grill hem
    install integrate iron jumpstart juggle knead knit marinate mash melt merge mince mop mow
    multiply paint peel pickle plaster poach pronounce prune rebase refactor reheat reinstall rename repot
    reset restart revert rinse roast rotate sand saute scramble sew sharpen simmer simplify slice solve spell
    steam stir subtract thaw tie toast unclog undo uninstall unzip weave whisk whistle wrap
    """)
# Of one determined thing these are asked as the way; of many things a company or an assistant is asked for its own:
# "how do you calculate the area of a circle", "how do you calculate delivery times".
_OF_ONE = _BY_HAND | vocabulary("""
    add align apply attach become build calculate cancel change check clean clear close connect copy create cut delete
    disable download edit enable file fill find format grow hang import insert join jump-start light link load lower
    make measure mount move open pack patch pickle plant play plot print proofread raise remove replace return reverse
    round save scan set shape sort split start stop store style swap sync take tell time train trim tune turn unblock
    unlock update upgrade wash wear win write zip renew register request report
    """)
_ONE_THING = r"(?=[\w-]+ (?:up |down |off |on |out |in )?(?:an?|the|this|that|one|two|three|\d+|if|x)\b)"
# Behind these it is a certain place, program or material, and no company's or assistant's own way.
_CERTAIN = r"(?=.* (?:in|on|from|with|without|out of|at|using|into) (?!mind\b|time\b|advance\b|general\b|practice\b)\w)"
# What is done to these without a word before them is asked of a company or an assistant: "how do you answer questions".
_OFFICE = (
    r"(?:texts?|answers?|questions?|responses?|decisions?|mistakes?|e?mails?|requests?|orders?|shipping|fraud|bias|interest"
    r"|tax(?:es)?|fees|rates?|prices?|results|words|images?|things|identity|quality|weekends|success|feedback|complaints"
    r"|refunds|returns|payments?|privacy|security|people|so (?:much|fast|well|many)|over time|calm|coffee|tea"
    r"|conversations?|knowledge|information|sources?|facts|memory|memories|sound|infections?)\b"
)
# Whatever verb stands before them, a company is asked for its own way with these.
_THEIRS = (
    r"(?:my|our|me|us|their|money|users?|customers?|data|notifications?|prices?|delivery|deliveries|shipping|fees?|drivers?"
    r"|sellers?|buyers?|disputes?|fraud\w*|premiums?|refunds?|scores?|ratings?|rankings?|listings?|hallucinations?"
    r"|commissions?|chargebacks?|subscriptions?|vendors?|suppliers?|guests?|patients?|employees?|applicants?)"
)
_YOURS = re.compile(
    r"how (?:do|can|would|could) (?P<who>you|we) (?=([a-z-]+)\b \S)"
    rf"(?!\w+ (?:\w+ )?{_OFFICE}(?! (?:for|in|of|on|to|from|with|using|on) ))"
    rf"(?!.*\b{_THEIRS}\b)",
    re.IGNORECASE,
)
_DETERMINED = re.compile(rf"{_ONE_THING}|{_CERTAIN}", re.IGNORECASE)
_HANDS = re.compile(
    r"how (?:do|can|would|could) people (?=(?:make|bake|cook|build|clean|fix|repair|draw|knit"
    r"|install|brew|peel|tie|iron|sew)"
    rf" (?!money\b|{_OFFICE})\S)",
    re.IGNORECASE,
)
# What befalls others, and what they do to others or against a law, is not asked as a way to do it.
_OTHERS = re.compile(
    r"how (?:do|does|would|can|could|might) (?:someone|somebody|a person|anyone) (?=([a-z-]+)\b)"
    r"(?!become (?:(?:an? )?(?:addict|alcohol|blind|deaf|homeless|bankrupt|zombie|king|queen|sick|ill|infected|immune"
    r"|crimin|drug|gang|hostage|narciss|psycho|serial|slave|terror|thief|vampire|victim)\w*|(?!an? )"
    r"|.*\b(?:cult|gang|mafia)\b))"
    r"(?!.*\b(?:my|our|me|us|i|mine|their|them|they)\b)",
    re.IGNORECASE,
)
_OF_ANYBODY = _BY_HAND | vocabulary("apply become cancel delete enroll file open register renew request return update")


def way_of_anybody(text: str) -> str | None:
    """The question for a way to do something in the frame that asks for the asker's; None for another text."""
    if (match := _YOURS.match(text)) and _is_any_way(match, match[2].lower()):
        return "how do i " + text[match.end() :]
    if match := _HANDS.match(text):
        return "how do i " + text[match.end() :]
    if (match := _OTHERS.match(text)) and match[1].lower() in _OF_ANYBODY:
        return "how do i " + text[match.end() :]
    return None


def _is_any_way(match: re.Match[str], verb: str) -> bool:
    """Return True where this is done by anybody in one way, and not by a company or an assistant in its own."""
    if match["who"].lower() == "we":
        return verb in BASES - _OF_US
    return verb in _BY_HAND or (verb in _OF_ONE and _DETERMINED.match(match.string, match.end()) is not None)
