"""Streams of questions as they might reach a cold cache: which questions come, how often, and in which order.

Knows no cache. Invariant: a stream is given by its name, length, half and seed; a permutation changes the order alone.

`natural` has distinct questions once each: there is nothing to repeat. `natural-judged` is the same with the answers
that a language model's verdicts give the questions (`judged`), as far as there are verdicts: the first 1,500 questions
of one seed. In every other stream few questions are asked often (Zipf, exponent 1), over classes and again over the
wordings of a class, and questions without a class come once each. `mix` is all of them at once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

from eval.decisions.data import Half, Question, pairs, questions
from eval.decisions.judged import judged
from semcache.simulate import Arrival

STREAMS = ("natural", "natural-judged", "zipf", "clinc150", "banking77", "hint3", "covidq", "mix")
_START = 1_700_000_000.0
_EVERY = 10.0  # seconds between arrivals
_ONCE = 0.3  # share of questions asked once in `zipf`
_JUDGED = 1500  # questions of `natural` whose pairs were judged
_REPEATS = 3  # arrivals per distinct question at most, where classes are drawn by Zipf
_PARTS = (("zipf", 0.4), ("clinc150", 0.15), ("banking77", 0.15), ("hint3", 0.15), ("covidq", 0.15))


def build(name: str, length: int, half: Half | None = "report", seed: int = 7) -> list[Question]:
    """The questions of a stream, at most `length` of them, in no meaningful order; None takes both halves.

    Raises ValueError for an unknown stream.
    """
    if name == "natural-judged":
        return judged(build("natural", min(length, _JUDGED), half, seed))
    rng = random.Random(f"{name}:{seed}")
    if name == "mix":
        return [one for part, share in _PARTS for one in build(part, round(length * share), half, seed)]
    if name == "natural":
        return _natural(half, length, rng)
    if name == "zipf":
        return _zipf(questions("qqp", half), length, rng, popular=max(10, length // 10), once=_ONCE)
    if name not in STREAMS:
        raise ValueError(f"no stream {name!r}: choose among {', '.join(STREAMS)}")
    pool = questions(name, half)
    length = min(length, _REPEATS * len(pool))
    return _zipf(pool, length, rng, once=sum(one.alone for one in pool) / len(pool))


def permuted(stream: Sequence[Question], seed: int) -> list[Arrival]:
    """The arrivals of a stream in the order that `seed` gives, ten seconds apart."""
    order = list(stream)
    random.Random(f"order:{seed}").shuffle(order)
    return [
        Arrival(_START + place * _EVERY, one.text, one.answer, category=one.category) for place, one in enumerate(order)
    ]


def _natural(half: Half | None, length: int, rng: random.Random) -> list[Question]:
    """The two questions of pairs drawn at random, duplicates or not, as the pairs of the set are."""
    known = {one.text: one for one in questions("qqp", half)}
    drawn = [pair for pair in pairs("qqp") if pair.cached in known]
    rng.shuffle(drawn)
    texts = dict.fromkeys([text for pair in drawn for text in (pair.cached, pair.asked)])
    return [known[text] for text in list(texts)[:length]]


def _zipf(
    pool: Sequence[Question], length: int, rng: random.Random, *, once: float, popular: int | None = None
) -> list[Question]:
    classes: dict[str, list[Question]] = {}
    for one in pool:
        classes.setdefault(one.answer, []).append(one)
    single = [members[0] for members in classes.values() if len(members) == 1 and (popular or members[0].alone)]
    repeated = [members for members in classes.values() if len(members) > 1 or not (popular or members[0].alone)]
    rng.shuffle(single)
    rng.shuffle(repeated)
    repeated = repeated[:popular]
    for members in repeated:
        rng.shuffle(members)
    alone = single[: round(once * length)]
    chosen = rng.choices(repeated, cum_weights=_by_rank(len(repeated)), k=length - len(alone))
    return alone + [rng.choices(members, cum_weights=_by_rank(len(members)))[0] for members in chosen]


def _by_rank(n: int) -> list[float]:
    return list(accumulate(1.0 / rank for rank in range(1, n + 1)))
