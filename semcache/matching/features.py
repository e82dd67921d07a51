"""Features of a neighbour: numbers about the two prompts and the neighbourhood that tell right from wrong ones.

Pure and cheap (some ten microseconds a pair); knows no vectors, answers or policies, and nothing of how the numbers are
used. Invariant: `of` returns `len(NAMES)` finite floats, each of them bounded, for any two texts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from sys import intern
from typing import NamedTuple

from semcache.matching.guards import GUARDS
from semcache.matching.guards.order import BEING, settled
from semcache.matching.light_edits import lightly_edited
from semcache.matching.logistic import log_odds
from semcache.matching.retyped import is_retyped
from semcache.request.text import read as read_text
from semcache.request.wording.foreign import unread
from semcache.request.wording.mending import mended
from semcache.request.wording.verbs import IRREGULAR
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Candidate, Conflict

AROUND = (
    "nearness",  # -ln(1 - score), at most 7
    "margin",  # score less the best score of another answer, within ±0.3; 0.3 when there is none
    "support",  # ln(1 + further neighbours of the same answer, hardly farther away)
    "rivals",  # ln(1 + neighbours of other answers, hardly farther away)
    "vote",  # log-odds of this answer in a vote of the neighbours, the nearer the weightier; a stranger has a small say
    "company",  # ln(neighbours of the same answer)
    "spread",  # mean score of those neighbours less the candidate's score
    "crowd",  # ln(neighbours): little can be told from a lonely candidate's surroundings
)
NAMES = (
    *AROUND,
    "overlap",  # Jaccard index of the content words
    "spelling",  # Dice index of the letter trigrams
    "missing",  # ln(1 + content words of the request that nothing in the cached prompt resembles)
    "surplus",  # ln(1 + content words of the cached prompt that nothing in the request resembles)
    "misspelt",  # ln(1 + content words that only resemble one of the other prompt)
    "same_words",  # 1: the same content words, but for their spelling
    "verbatim",  # 1: the same text typed again, and near; or lightly edited, in a language that models do not read
    "reordered",  # 1: the same content words in another order, not just moved phrases; or a slip in one of them
    "length",  # |ln(words of the request / words of the cached prompt)|, at most 3
    "brevity",  # 1 / content words of the shorter prompt
    "asks_else",  # 1: another question word (who, when, why, ...)
    "figures",  # 1: a digit in either
    "asked",  # 1: the local verifier has been asked about the two
    "word",  # what it said then, as log-odds of their being the same, within ±LOUDEST
    *(f"guard:{name}" for name in GUARDS),  # 1: that guard would veto, ARGUED: arguably, DOUBT: it doubts
)
OF_GUARDS = {f"guard:{name}": NAMES.index(f"guard:{name}") for name in GUARDS}  # places, by the feature's name
NEAR = 0.05  # neighbours this much farther away than the candidate count as hardly farther
DOUBT = 0.2  # what a finding counts that is no veto
ARGUED = 0.5  # what a veto counts that is arguable, until the local verifier was asked: then it is a doubt
# What a doubt counts where the local verifier was asked about the two: measured on prompts of strangers, pairs that it
# finds the same are hardly less often the same for a doubt, but for doubts of these guards.
HEARD_DOUBT = 0.06
_UNSETTLED = frozenset(("question", "negation"))
LOUDEST = 4.6  # log-odds: as loud as the shipped verifier gets, so that what was learned of its word covers them all
AGAIN = 0.8  # score that embedders give a text typed again, whatever they make of case and marks
_STRANGER = 0.05  # the vote of the answer that nobody has given yet
_HEAD = 600  # characters; longer prompts are spelt as far as that
_SPELLABLE = 4  # letters; in shorter words a slip cannot be told from another word
_VERBAL = ("ed", "es", "ing")
_NO_FINDING = (0.0,) * len(GUARDS)
_ASKED = NAMES.index("asked")

_QUESTION = frozenset(["who", "whom", "whose", "when", "where", "why", "how", "which", "what"])
_STOP = frozenset(
    " ".join(
        (
            "a an the this that these those is are was were be been being am do does did done have has had having",
            "i me my mine we us our you your yours he him his she her it its they them their",
            "of in on at to for from by with about as into and or but if so than then there here",
            "can could will would shall should may might must please what which who whom whose when where why how",
            "just also any some very really get got know tell like want need wondering quick question help",
            "hi hello hey thanks thank please pls kindly sorry excuse good morning afternoon evening asap advance u",
        )
    ).split()
)


class _PromptFeatures(NamedTuple):
    """`inflected` are the stems that an ending of a verb was taken off. `by` and `being` may make a passive.

    Thousands are remembered: `trigrams` are distinct, in a tuple, which takes a sixth of the memory of a set, and texts
    share the strings of trigrams and stems.
    """

    content: tuple[str, ...]
    bag: frozenset[str]
    trigrams: tuple[str, ...]
    asks: str
    words: int
    digits: bool
    inflected: frozenset[str]
    by: bool
    being: bool


def around(candidates: Sequence[Candidate]) -> list[tuple[float, ...]]:
    """The features of each candidate that describe its surroundings, in the order of `AROUND`.

    `candidates` are all that were found, best first.
    """
    # Negated, they ascend, as `bisect` wants them.
    depths = [-one.score for one in candidates]
    groups: dict[int, list[float]] = {}
    for one, depth in zip(candidates, depths, strict=True):
        groups.setdefault(one.card.answer_class, []).append(depth)
    nearest = {answer: group[0] for answer, group in groups.items()}
    votes = {answer: sum([math.exp((depths[0] - depth) / NEAR) for depth in group]) for answer, group in groups.items()}
    first, second, *_ = [*sorted(nearest.values()), None, None]
    total, crowd = sum(votes.values()), math.log(len(depths) or 1)
    found: list[tuple[float, ...]] = []
    for one, depth in zip(candidates, depths, strict=True):
        answer = one.card.answer_class
        group, vote, near = groups[answer], votes[answer], depth + NEAR
        rival = second if group[0] == first else first
        support = bisect_right(group, near)
        found.append(
            (
                min(7.0, -math.log(max(1e-9, 1.0 + depth))),
                0.3 if rival is None else max(-0.3, min(0.3, rival - depth)),
                math.log(support),
                math.log1p(bisect_right(depths, near) - support),
                math.log(max(1e-3, vote) / (_STRANGER + max(0.0, total - vote))),
                math.log(len(group)),
                -sum(group) / len(group) + depth,
                crowd,
            )
        )
    return found


def of(text: str, candidate: Candidate, *, mending: bool = True) -> tuple[float, ...]:
    """The features of serving `candidate` for `text`, in the order of `NAMES`; those of guards come from its conflicts.

    A candidate without features of its surroundings counts as found alone. Without `mending`, typing errors stay.
    """
    asked, cached = (mended(one) if mending else one for one in (text, candidate.card.text))
    one, two = _read(asked), _read(cached)
    shared = one.bag & two.bag
    union = len(one.bag) + len(two.bag) - len(shared)
    missing, surplus, misspelt = _unmatched(one.bag - shared, two.bag - shared)
    same = missing == surplus == 0 and union > 0
    trigrams = len(one.trigrams) + len(two.trigrams)
    shorter = min(len(one.content), len(two.content))
    again = candidate.score >= AGAIN and _typed_again(text, candidate.card.text)
    plain = (
        *(candidate.around or around([candidate])[0]),
        len(shared) / union if union else 0.0,
        2 * len(_trigram_set(asked).intersection(two.trigrams)) / trigrams if trigrams else 0.0,
        math.log1p(missing),
        math.log1p(surplus),
        math.log1p(misspelt),
        float(same),
        float(again),
        float(same and not again and _reordered(asked, cached, one, two)),
        min(3.0, abs(math.log((one.words or 1) / (two.words or 1)))),
        1.0 / (shorter or 1),
        float(one.asks != two.asks),
        float(one.digits or two.digits),
        0.0,
        0.0,
        *_NO_FINDING,
    )
    return with_conflicts(plain, candidate.conflicts) if candidate.conflicts else plain


def _typed_again(one: str, two: str) -> bool:
    return is_retyped(one, two) or (unread(one, two) and lightly_edited(one, two))


def with_conflicts(values: tuple[float, ...], conflicts: Sequence[Conflict]) -> tuple[float, ...]:
    """These features with the findings of guards in their places."""
    asked = bool(values[_ASKED])
    found = {one.guard: _weight(one, asked=asked) for one in conflicts}
    return (*values[: -len(GUARDS)], *[found.get(name, 0.0) for name in GUARDS])


def asked(values: tuple[float, ...]) -> bool:
    """Return True if the local verifier has been asked about the two, by these features."""
    return bool(values[_ASKED])


def vetoed(values: tuple[float, ...]) -> bool:
    """Return True if these features, which may be followed by those of a word, hold a final veto of a guard."""
    return 1.0 in values[len(NAMES) - len(GUARDS) : len(NAMES)]


def with_verdict(values: tuple[float, ...], said: float) -> tuple[float, ...]:
    """These features after the local verifier gave this P(same), in [0, 1]."""
    word = max(-LOUDEST, min(LOUDEST, log_odds(said)))
    findings = zip(GUARDS, values[-len(GUARDS) :], strict=True)
    heard = [_doubt(name, asked=True) if 0.0 < finding < 1.0 else finding for name, finding in findings]
    return (*values[:_ASKED], 1.0, word, *values[_ASKED + 2 : -len(GUARDS)], *heard)


def _weight(found: Conflict, *, asked: bool) -> float:
    if found.final:
        return 1.0
    return ARGUED if found.veto and not asked else _doubt(found.guard, asked=asked)


def _doubt(guard: str, *, asked: bool) -> float:
    return HEARD_DOUBT if asked and guard not in _UNSETTLED else DOUBT


def _unmatched(one: frozenset[str], two: frozenset[str]) -> tuple[int, int, int]:
    """How many words on each side nothing on the other resembles, and how many pairs are alike."""
    if not one or not two:
        return len(one), len(two), 0
    left: dict[str, list[str]] = {}
    for word in sorted(two):
        if len(word) >= _SPELLABLE:
            left.setdefault(word[0], []).append(word)
    alike = 0
    for word in sorted(one) if left else ():
        rivals = left.get(word[0]) if len(word) >= _SPELLABLE else None
        if rivals and (like := next((other for other in rivals if _resembles(word, other)), None)) is not None:
            rivals.remove(like)
            alike += 1
    return len(one) - alike, len(two) - alike, alike


@scoped_cache(maxsize=8192)
def _resembles(one: str, two: str) -> bool:
    """Return True if two words with one initial are the same but for their spelling: most letter pairs in common."""
    first, second = set(pairwise(one)), set(pairwise(two))
    return 2 * len(first & second) >= 0.6 * (len(first) + len(second))


def _reordered(query: str, cached: str, one: _PromptFeatures, two: _PromptFeatures) -> bool:
    """Return True if two texts of the same content words may say them in another order, with roles exchanged."""
    passive = one.by != two.by and not (two if one.by else one).being
    if one.content == two.content and not passive:
        return False
    left, right = _settled(query), _settled(cached)
    return len(left) != len(right) or not all(
        a == b or _inflects(a, b, one.inflected, two.inflected) for a, b in zip(left, right, strict=True)
    )


def _inflects(one: str, two: str, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return True if two stems are of one verb: "caus" and "cause", "plann" and "plan", "carri" and "carry"."""
    if len(one) > len(two):
        one, two, ours, theirs = two, one, theirs, ours
    if len(one) == len(two):
        return one[:-1] == two[:-1] and {one[-1], two[-1]} == {"i", "y"}
    if two[:-1] != one:
        return False
    return (two[-1] in "ey" and one in ours) or (two[-1] == one[-1] and two in theirs)


def _content(words: Iterable[str]) -> tuple[str, ...]:
    return tuple([intern(_stem(word)) for word in words if word not in _STOP and word.partition("'")[0] not in _STOP])


@scoped_cache(maxsize=4096)
def _settled(text: str) -> tuple[str, ...]:
    return _content(settled(text))


@scoped_cache(maxsize=64)
def _trigram_set(text: str) -> frozenset[str]:
    """The trigrams of a request, which are compared with those of all its neighbours."""
    return frozenset(_read(text).trigrams)


@scoped_cache(maxsize=8192)
def _read(text: str) -> _PromptFeatures:
    seen = read_text(text)
    words = seen.words
    content = _content(words)
    squeezed = f" {' '.join(words)} "[:_HEAD]
    return _PromptFeatures(
        content,
        frozenset(content),
        tuple({intern(squeezed[i : i + 3]) for i in range(len(squeezed) - 2)}),
        next((asking for word in words if (asking := word.partition("'")[0]) in _QUESTION), ""),
        len(words),
        seen.digits,
        frozenset([intern(_stem(word)) for word in words if word.endswith(_VERBAL)]),
        "by" in seen.bag,
        not seen.bag.isdisjoint(BEING),
    )


def _stem(word: str) -> str:
    """A word without the endings that rarely change what is asked; the base of an irregular verb."""
    word = IRREGULAR.get(word, word)
    for ending in ("'s", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
