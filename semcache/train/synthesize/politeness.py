"""Wrappers of a prompt that carry no meaning: greetings, thanks, fillers, lead-ins.

Invariant: a wrapper names no subject, audience, place, time or form, so that no answer depends on it.
"""

from __future__ import annotations

import random
import re

from semcache.request.text import vocabulary
from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import capital, small, split_end, words

_GREETINGS = (
    "hi", "hello", "hey", "hi there", "hello there", "good morning", "good afternoon", "good evening", "hey there",
    "excuse me", "sorry to bother you", "greetings", "hi team", "hello everyone", "dear support",
)  # fmt: skip
_LEADS = (
    "quick question:", "question:", "just a quick question:", "I have a question:", "one question:", "I was wondering:",
    "here's what I need:", "I need some help:", "can you help me with"
                                                " this?", "could you answer this?", "help needed:",
    "maybe you can help:", "this is probably a silly question,"
                           " but", "just curious:", "I'm stuck on this:", "tell me,",
    "let me ask you this:", "not sure who to"
                            " ask:", "my question is this:", "a question for you:", "so,", "ok so", "well,",
    "I hope you can help me out.", "something I've been wondering about:", "I couldn't find this anywhere:", "hmm,",
    "sorry if this has been asked before:", "here is my question:", "I'd appreciate an answer to this:",
)  # fmt: skip
_THANKS = (
    "thanks", "thank you", "thanks in advance", "many thanks", "thanks a lot", "cheers", "thank you very much",
    "any help is appreciated", "I'd appreciate your"
                               " help", "thanks for your help", "please help", "please let me know",
    "hope you can help", "let me know, thanks", "appreciate it", "thx", "can you help?", "help please", "please advise",
)  # fmt: skip
_FILLERS = vocabulary("please just actually basically kindly simply")
_OPENER = re.compile(
    r"^(?:hi|hello|hey|hi there|hello there|good (?:morning|afternoon|evening)|excuse me|ok|okay|so|well"
    r"|please)[,!.:]? +(?=\w)",
    re.IGNORECASE,
)
_CLOSER = re.compile(r"[,.!]? *(?:please|thanks|thank you|thanks in advance|cheers)[.! ]*$", re.IGNORECASE)


_NEEDED = re.compile(r"please (?:help|let|advise|tell|explain|note)|just (?:like|as|in)", re.IGNORECASE)


def _tidy(text: str) -> bool:
    return text[:1].isupper() or text.rstrip()[-1:] in ("?", ".", "!")


def _greeting(text: str, rng: random.Random) -> str | None:
    if _OPENER.match(text):
        return None
    hello = rng.choice(_GREETINGS)
    if _tidy(text):
        mark = rng.choice((", ", "! ", ". ", " - "))
        return capital(hello) + mark + (text if mark[0] in "!." else small(text))
    return f"{hello} {text}"


def _lead(text: str, rng: random.Random) -> str:
    lead = rng.choice(_LEADS)
    if not _tidy(text):
        return f"{lead.rstrip(':,.').lower()} {text}"
    return f"{capital(lead)} {text if lead[-1] in '.?' else small(text)}"


def _thanks(text: str, rng: random.Random) -> str | None:
    if _CLOSER.search(text):
        return None
    said = rng.choice(_THANKS)
    core, end = split_end(text)
    if not _tidy(text):
        return f"{core} {split_end(said)[0].lower()}"
    mark = end.strip()[:1] or rng.choice((".", ""))
    return f"{core}{mark} {capital(said)}{'' if said.endswith('?') else rng.choice(('.', '!', ''))}"


def _both(text: str, rng: random.Random) -> str | None:
    wrapped = _thanks(text, rng)
    return None if wrapped is None else rng.choice((_greeting, _lead))(wrapped, rng)


def _unwrapped(text: str, _: random.Random) -> str | None:
    """Without a greeting in front, or thanks at the end."""
    bare = _OPENER.sub("", text)
    if bare == text:
        bare = _CLOSER.sub("?" if "?" in text else "", text)
    if bare == text or len(bare.split()) < 2:
        return None
    return capital(bare) if text[:1].isupper() else bare


def _unfilled(text: str, rng: random.Random) -> str | None:
    """Without one filler word."""
    found = [word for word in words(text).all if word.lower in _FILLERS and not _NEEDED.match(text, word.start)]
    if not found:
        return None
    word = rng.choice(found)
    before, after = text[: word.start].rstrip(" ,"), text[word.end :].lstrip(" ,")
    bare = f"{before} {after}".strip() if after[:1] not in "?.!" else before + after
    return capital(bare) if text[:1].isupper() else bare


RULES = keeping_rules(
    greeting_before=_greeting,
    wrapper_before=_lead,
    politeness_after=_thanks,
    wrapper_around=_both,
    wrapper_removed=_unwrapped,
    filler_removed=_unfilled,
)
