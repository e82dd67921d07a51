"""The order of a text's words once phrases that may stand elsewhere are put back where they came from.

"For statistics, is R better?" and "Is R better for statistics?" have one order here, and so have "London's mayor" and
"the mayor of London", a passive and its active, and a question with what it is asked about before or behind it. Parses
no grammar: patterns of a few words each. Knows no meaning.
Invariant: every word of the text comes back once, save adverbs of manner, which may stand anywhere, and the "by" of a
passive that became active.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT, READINGS, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_PART = re.compile(r"[^.;:?!]*[.;:?!]*")
# What may stand before a question, up to its comma, or behind it.
_FRONT = re.compile(
    r"\W*((?:in|for|on|at|with|without|by|during|after|before|from|to|of|within|under|among|between|besides|despite"
    r"|until|since|because|unless|if|while|when|once|as|given|suppose|supposing|assuming|imagining|except|apart"
    r"|instead|counting|using|according|compared|out)\b[^,]{2,90}?),\s*(?:then )?(?=\w)(.+)"
)
_ASKED = vocabulary("who whom whose which what what's whats who's where when why how how's")
BEING = vocabulary("is are was were be been being get gets got")
_NO_OWNER = vocabulary("what's who's how's where's when's it's that's there's here's let's he's she's one's why's")
_ORDERS = vocabulary("explain describe name list give show tell find write compare calculate translate summarise")
_PARTICIPLE = re.compile(r".{2,}ed$|.{2,}en$")
PARTICIPLES = vocabulary(
    "made built bought sold taught caught brought thought fought found held kept left lost paid read sent said set shot"
    " told won worn torn born sung drawn known grown thrown shown flown led fed met cut put hit hurt run done gone"
    " bound cast bitten hung lit spun struck swept understood"
)
_HIGHEST = vocabulary("best worst most least")
_NO_DEGREE = vocabulary("interest forest test request honest modest harvest invest suggest protest contest guest west")
# These change what is said by where they stand.
_FOCUSING = vocabulary("only early nearly hardly barely mostly partly exactly scarcely merely solely family supply")


@scoped_cache(maxsize=READINGS)
def settled(text: str) -> tuple[str, ...]:
    """The words of `text` in their plain order."""
    lower = read_text(text).lower
    parts = [part.strip() for part in _PART.findall(lower) if part.strip(" .;:?!")]
    if len(parts) > 1:
        # What is asked comes before what is told; otherwise sentences keep their order.
        parts.sort(key=lambda part: not part.endswith("?"))
    found: list[str] = []
    for part in parts:
        front = _FRONT.match(part)
        said = f"{front[2].rstrip('.;:?! ')} {front[1]}" if front is not None else part
        found += _superlative(_passive(_owned(list(read_text(said).words))))
    return tuple([word for word in found if not _manner(word)])


def _manner(word: str) -> bool:
    return len(word) > 4 and word.endswith("ly") and word not in _FOCUSING


def _owned(words: list[str]) -> list[str]:
    """Rewrite "London's mayor" as "mayor london"."""
    for place, word in enumerate(words):
        if not word.endswith("'s") or word in _NO_OWNER:
            continue
        start, end = place, place + 1
        while start and words[start - 1] not in LIGHT and words[start - 1] not in _ORDERS:
            start -= 1
        while end < len(words) and words[end] not in LIGHT and not _manner(words[end]):
            end += 1
        thing = words[place + 1 : end]
        return [*words[:start], *thing, *words[start:place], word[:-2], *_owned(words[end:])]
    return words


def _passive(words: list[str]) -> list[str]:
    """Rewrite "is B eaten by A" as "is A eaten B", "which B are eaten by A" as "which B are A eaten"."""
    if "by" not in words:
        return words
    by = words.index("by")
    if by == 0:
        # "By whom was B made"
        being = _last(words, len(words))
        if being == 2 and words[1] in _ASKED:
            made = next((place for place in range(3, len(words)) if _done(words[place])), 0)
            if made:
                return [*words[:3], words[made], *words[3:made], *words[made + 1 :]]
        return words
    done = by - 1
    while done and _manner(words[done]):
        done -= 1
    being = _last(words, done)
    if being < 0 or not _done(words[done]):
        return words
    end = by + 1
    while end < len(words) and (words[end] not in LIGHT or (end == by + 1 and words[end] in ("a", "an", "the"))):
        end += 1
    agent, rest = words[by + 1 : end], words[end:]
    if all(word in LIGHT for word in agent):
        if not rest or rest[0] not in _ASKED:
            return words
        agent, rest = [*agent, rest[0]], rest[1:]
    patient = words[being + 1 : done]
    if patient and any(word not in LIGHT and not _manner(word) for word in patient):
        return [*words[: being + 1], *agent, words[done], *patient, *rest]
    if words[0] in _ASKED:
        return [*words[: being + 1], *agent, words[done], *patient, *rest]
    return [*agent, words[done], *words[: being + 1], *patient, *rest]


def _last(words: list[str], end: int) -> int:
    """Where the last form of "to be" before `end` stands, -1 without one."""
    return next((place for place in range(end - 1, -1, -1) if words[place] in BEING), -1)


def _done(word: str) -> bool:
    return word in PARTICIPLES or _PARTICIPLE.match(word) is not None


def _superlative(words: list[str]) -> list[str]:
    """Rewrite "which planet is the smallest" as "which smallest planet is"."""
    if not words or words[0] not in ("which", "what"):
        return words
    for place in range(2, len(words)):
        if words[place] in BEING:
            behind = place + 1 + (words[place + 1 : place + 2] == ["the"])
            degree = behind
            if words[behind : behind + 1] in (["most"], ["least"]):
                degree += 1
            if degree < len(words) and (degree > behind or _highest(words[degree])):
                return [words[0], *words[behind : degree + 1], *words[1:place], words[place], *words[degree + 1 :]]
            return words
    return words


def _highest(word: str) -> bool:
    return word in _HIGHEST or (len(word) > 4 and word.endswith("est") and word not in _NO_DEGREE)
