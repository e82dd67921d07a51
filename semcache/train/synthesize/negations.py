"""Edits that put in or take out a negation.

Knows English auxiliaries and where a "not" may stand. Invariant: one negation is put in or taken out, so that no two
cancel; the tags of questions ("isn't it") and set phrases ("not only", "not sure") are left alone.
"""

from __future__ import annotations

import random
import re

from semcache.request.text import vocabulary
from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import capital, put, single, small, spans

# Behind these a "not" is part of a phrase that has no opposite without it.
_SET = (
    r"(?! (?:only|just|sure|yet|know|knowing|understand|think|too|be able|that|necessarily|so|much|a lot|have to|need"
    r"|one))"
)
_REMOVABLE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?<=\w )(?P<aux>can)not\b{_SET}|(?<=\w )(?P<aux2>can) not\b{_SET}", re.IGNORECASE), "can"),
    (re.compile(rf"(?<=\w )can['’]t\b{_SET}(?! (?:you|we|they|he|she|it)\b)", re.IGNORECASE), "can"),
    (re.compile(rf"(?<=\b(?:am|is) )not\b{_SET} ", re.IGNORECASE), ""),
    (re.compile(rf"(?<=\b(?:are|was|has|had) )not\b{_SET} ", re.IGNORECASE), ""),
    (re.compile(rf"(?<=\b(?:were|have|will) )not\b{_SET} ", re.IGNORECASE), ""),
    (re.compile(rf"(?<=\b(?:could|would|might) )not\b{_SET} ", re.IGNORECASE), ""),
    (re.compile(rf"(?<=\bshould )not\b{_SET} ", re.IGNORECASE), ""),
    (
        re.compile(
            r"\bdo(?:n['’]t| not) (?!you\b|we\b|they\b|i\b|know\b|understand\b|think\b|have to\b|need\b|mind\b"
            r"|see\b|worry\b|forget\b)",
            re.IGNORECASE,
        ),
        "",
    ),
    (
        re.compile(
            rf"(?<=\w )(?P<keep>is|are|was|were|has|have|had|could|should|would)n['’]t\b{_SET}(?! (?:you|we|they"
            rf"|he|she|it|i|there|this|that|the|my)\b)",
            re.IGNORECASE,
        ),
        "keep",
    ),
    (re.compile(r"\bunable to\b", re.IGNORECASE), "able to"),
    (re.compile(r"\bnever\b(?! mind)", re.IGNORECASE), "always"),
    (re.compile(r"\bwon['’]t (?!you\b|it\b|they\b|he\b|she\b|we\b)", re.IGNORECASE), "will "),
    (
        re.compile(r"(?<=\w )didn['’]t (?=(?:want|get|make|receive|authorize|request|ask|order)\b)", re.IGNORECASE),
        "did ",
    ),
)


_NEGATION = re.compile(r"not\b|n['’]t\b|never|unable", re.IGNORECASE)


def _affirmed(text: str, rng: random.Random) -> str | None:
    """With one negation taken out."""
    if not _NEGATION.search(text):
        return None
    found = [(match, new) for pattern, new in _REMOVABLE for match in spans(pattern, text)]
    if not found or re.search(r"\b(?:or|if|whether or|why) not\b", text, re.IGNORECASE):
        return None
    match, new = rng.choice(found)
    return put(text, match.start(), match.end(), match["keep"] if new == "keep" else new)


_NEGATIVE = re.compile(r"\b(?:not|never|no|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_MAY_NEGATE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\bif (?P<s>i|you|we|they) (?!am\b|was\b|can\b|could\b|have\b|had\b|want\b|don|do\b|did\b|didn"
                r"|were\b|will\b|would\b|cannot\b|should\b|are\b|'|never\b|find\b|\w+(?:ed|ly)\b|lost\b|got\b"
                r"|never\b|put\b)(?=\w)", re.IGNORECASE), "{0} do not "),
    (re.compile(r"\b(?P<a>(?:should|would|could) (?:i|we|you|one|it|they)) (?!not\b|please\b|like\b|also\b"
                r"|have\b)(?=\w)", re.IGNORECASE), "{0} not "),
    (re.compile(r"\b(?P<a>(?:which|that|they|it|this|there|card|account|payment|transfer|elements?|numbers?"
                r"|order) (?:is|are|was|were)) (?!not\b|n't|the\b|my\b|a\b|an\b|it\b|there\b|you\b|your\b|some\b"
                r"|i\b|this\b|no\b|going\b|used to\b|called\b|known\b|all\b|up\b)(?=\w+(?:ed|ing|en|able|ible|ful"
                r"|al|ic|ive|ous|safe|valid|open|free|available|empty|true|unique)\b)", re.IGNORECASE), "{0} not "),
    (re.compile(r"\b(?P<a>(?:i|you|we|they|who|people|users|customers|animals|that|which|foods) (?:can|should"
                r"|will|would|could|must)) (?!not\b|n't|be able\b|i\b|you\b|we\b|they\b|one\b|have\b|the\b"
                r"|it\b)(?=\w)", re.IGNORECASE), "{0} not "),
    (re.compile(r"(?<!\bdo )(?<!\bdid )(?<!\bwill )(?<!\bwould )(?<!\bshould )\bi (?P<v>want|need"
                r"|have) to (?!know\b|find\b|see\b|do\b|be\b|make sure\b|understand\b|learn\b"
                r"|ask\b)(?=\w)", re.IGNORECASE), "I don't {v} to "),
    (re.compile(r"\bi(?:'m| am) (?!not\b|no\b|trying\b|looking\b|having\b|wondering\b|a\b|the\b|in\b|at\b|on\b"
                r"|just\b|so\b|still\b|sure\b|going to\b|curious\b|confused\b)(?=\w+(?:ing|ed|able"
                r"|ible)\b)", re.IGNORECASE), "I am not "),
    (re.compile(r"\b(?P<a>i (?:received|got|ordered|made|authorised|authorized|requested|used|recognise"
                r"|recognize)) (?=(?:my|the|a|an|this|it)\b)", re.IGNORECASE), "I never {v0} "),
)  # fmt: skip
_ORDERS = re.compile(
    r"^(?:please )?(?P<verb>cancel|delete|remove|add|send|use|include|buy|order|book|turn|switch"
    r"|set|play|open|close|pay|transfer"
    r"|enable|disable|change|update|save|share|schedule|start|stop|lock|freeze|block|allow|show|mention|translate"
    r"|round|sort|print|call|remind)\b (?!me how)",
    re.IGNORECASE,
)
_WAY = re.compile(
    r"^(?P<lead>how (?:do|can|could|would) (?:i|we) |how to |(?:what is"
    r"|what's) the way to )(?P<verb>[a-z]+) (?P<rest>.+)$",
    re.IGNORECASE,
)
# Verbs that double their last letter before -ing.
_DOUBLING = vocabulary(
    """
    get set put cut run stop plan begin swim ship shop log swap split let drop trim win refer transfer submit permit
    plot map zip strip chop
    """
)
_NO_VERB = vocabulary(
    """
    i you we be know see find avoid not stop many much long often far old best fix tell top up
    """
)


def gerund(verb: str) -> str:
    """The -ing form of an English verb."""
    if verb in _DOUBLING:
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    return verb[:-1] + "ing" if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")) else verb + "ing"


def _negated(text: str, rng: random.Random) -> str | None:
    """With one negation put in."""
    if _NEGATIVE.search(text):
        return None
    found = []
    for pattern, new in _MAY_NEGATE:
        for match in spans(pattern, text):
            told = new.format(match[0].rstrip(), v=match.groupdict().get("v", ""), v0=match[0].split()[-1])
            found.append(text[: match.start()] + (told if match.start() else capital(told)) + text[match.end() :])
    return rng.choice(found) if found else None


def _order(text: str, rng: random.Random) -> str | None:
    """Turn "Cancel it" into "Don't cancel it"."""
    match = _ORDERS.match(text)
    if match is None or not single(text) or "?" in text:
        return None
    word = rng.choice(("don't", "do not", "never"))
    return text[: match.start("verb")] + _cased(word, match["verb"]) + " " + small(text[match.start("verb") :])


def _cased(word: str, old: str) -> str:
    """With a capital where the old word has one."""
    return capital(word) if old[:1].isupper() else word


def _avoid(text: str, rng: random.Random) -> str | None:
    """Turn "How do I X" into "How do I avoid X-ing"."""
    match = _WAY.match(text)
    if match is None or match["verb"].lower() in _NO_VERB or not single(text):
        return None
    verb = gerund(match["verb"].lower())
    if match["lead"].lower() == "how to " and rng.random() < 0.3:
        return f"{match['lead']}not {match['verb']} {match['rest']}"
    return f"{match['lead']}{rng.choice(('avoid', 'stop', 'prevent', 'keep from'))} {verb} {match['rest']}"


RULES = changing_rules(
    negation_removed=_affirmed,
    negation_inserted=_negated,
    negation_order=_order,
    negation_avoid=_avoid,
)
