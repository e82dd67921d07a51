"""Make the prior that ships with the certified strategy: `python -m eval.priors [--out FILE]`.

Candidates as they stand before a cache that has been filling with questions of one kind, and before nearly empty ones,
are labelled by the data's own classes; `semcache.train.prior` learns from them. Only the half of the data that
`eval.decisions.data.split` calls "prior" is read, so that every figure of the evaluation comes from other questions.
Knows the data sets; what is written holds weights and quantiles, no question. Invariant: equal data give an equal file.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eval.decisions.data import SETS, Question, pairs, questions, split
from eval.embedded import embedded
from semcache import features, guards
from semcache.thresholds.certified.belief import Belief, Prior
from semcache.thresholds.certified.calibration import Calibration
from semcache.thresholds.certified.priors import PATH
from semcache.train.prior import fit
from semcache.train.repeats import other, repeat
from semcache.types import Candidate, Card

# What the profiles of a prior are learned from. Unlabelled duplicates of a Quora question would count as wrong in a
# stream, so these questions are learned from as labelled pairs alone.
PROFILES = {
    "any": ("qqp", "clinc150", "banking77", "hint3", "covidq"),
    "service": ("clinc150", "banking77", "hint3"),
    "questions": ("qqp", "covidq"),
}
STREAM, SPARSE, REPEATS = 5000, 3000, 1500
RARELY = 160  # one in so many of the repeats has a word replaced
NEIGHBOURS = 8
FLOOR = 0.5
SEED = 7
QUANTILES = 200
_SLIP = 0.95
_SAME_WORDS = features.NAMES.index("same_words")
_CONTENT = re.compile(r"[^\W\d_]{4,}")

Row = tuple[int, tuple[float, ...], bool]  # request, features, whether the candidate is right


def main() -> None:
    """Write the prior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PATH)
    out = parser.parse_args().out
    with ProcessPoolExecutor(2) as pool:
        groups = dict(row for rows in pool.map(_groups, SETS) for row in rows)
    out.write_text(
        json.dumps({"seed": SEED, "profiles": learn(groups)}, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    print(f"{out}: {out.stat().st_size:,} bytes")


def learn(groups: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, Any]]:
    """The prior of each profile."""
    made = {}
    for profile, sets in PROFILES.items():
        chosen = {name: rows for name, rows in groups.items() if name.partition(":")[0] in sets}
        data = fit({name: ([row[1] for row in rows], [row[2] for row in rows]) for name, rows in chosen.items()})
        data["risks"] = _risks(Prior.read(data), chosen)
        made[profile] = data
        print(profile, data["calibration"], data["labels"])
    return made


def _groups(name: str) -> list[tuple[str, list[Row]]]:
    chosen = sorted(questions(name, "prior"), key=lambda one: one.text)
    random.Random(SEED).shuffle(chosen)
    groups = [(f"{name}:stream", list(_stream(chosen[:STREAM])))] if name != "qqp" else []
    groups.append((f"{name}:repeats", list(_repeats(chosen[:REPEATS]))))
    return [*groups, (f"{name}:sparse", list(_labelled() if name == "qqp" else _sparse(chosen[:STREAM])))]


def _stream(chosen: Sequence[Question]) -> Iterator[Row]:
    """One question after the other before a cache that holds all earlier ones."""
    vectors = embedded([one.text for one in chosen])
    for place in range(1, len(chosen)):
        scores = vectors[:place] @ vectors[place]
        nearest = np.argsort(-scores, kind="stable")[:NEIGHBOURS]
        yield from _rows(place, chosen[place], [(chosen[other], float(scores[other])) for other in nearest])


def _sparse(chosen: Sequence[Question]) -> Iterator[Row]:
    """Questions before caches that hold a few random others."""
    rng = random.Random(SEED)
    vectors = embedded([one.text for one in chosen])
    for place in range(min(SPARSE, len(chosen))):
        count = rng.choice((20, 100, 500, 1000))
        pool = [other for other in rng.sample(range(len(chosen)), min(count, len(chosen))) if other != place]
        scores = vectors[pool] @ vectors[place]
        nearest = np.argsort(-scores, kind="stable")[: rng.choice((1, 1, 2, 4, 8))]
        yield from _rows(place, chosen[place], [(chosen[pool[at]], float(scores[at])) for at in nearest])


def _repeats(chosen: Sequence[Question]) -> Iterator[Row]:
    """Questions before a cache that holds one other: mostly another writing of the same, at times the nearest one of
    another answer, rarely one that differs in a word."""
    rng = random.Random(SEED)
    counts = Counter(word for one in chosen for word in {*_CONTENT.findall(one.text.lower())})
    vocabulary = [word for word, count in counts.items() if 3 <= count <= len(chosen) // 20]
    again = [_again(place, one.text, rng, vocabulary) for place, one in enumerate(chosen)]
    vectors, others = embedded([one.text for one in chosen]), embedded([text or "" for text in again])
    scores = others @ vectors.T
    for place, (one, text) in enumerate(zip(chosen, again, strict=True)):
        if text is None or text == one.text:
            continue
        found = one
        if place % 20 == 0:
            nearest = np.argsort(-scores[place], kind="stable")[1:40]
            found = next((chosen[at] for at in nearest if chosen[at].answer != one.answer), one)
        query = replace(one, text=text, answer="" if place % RARELY == 1 else one.answer)
        score = float(vectors[chosen.index(found)] @ others[place])
        yield from _rows(place, query, [(found, score)])


def _again(place: int, text: str, rng: random.Random, vocabulary: Sequence[str]) -> str | None:
    return other(text, rng, vocabulary) if place % RARELY == 1 else repeat(text, rng)


def _labelled() -> Iterator[Row]:
    """Labelled pairs, each alone."""
    chosen = [pair for pair in pairs("qqp") if split(pair.group) == "prior"]
    random.Random(SEED).shuffle(chosen)
    chosen = chosen[:STREAM]
    cached, asked = embedded([pair.cached for pair in chosen]), embedded([pair.asked for pair in chosen])
    for place, pair in enumerate(chosen):
        known = Question(pair.cached, "1", "", "")
        query = Question(pair.asked, "1" if pair.same else "2", "", "")
        yield from _rows(place, query, [(known, float(cached[place] @ asked[place]))])


def _rows(request: int, query: Question, found: Sequence[tuple[Question, float]]) -> Iterator[Row]:
    """The candidates that would be judged for a request: the nearest that no guard vetoes of each answer.

    The same words at a score of 0.95 or more that are labelled different (one in ten of Quora's) are slips, left out.
    """
    classes = {answer: number for number, answer in enumerate(dict.fromkeys(known.answer for known, _ in found), 1)}
    neighbours = [
        Candidate(Card(number, b"", b"", "", known.text, 0.0, 1.0, classes[known.answer]), score)
        for number, (known, score) in enumerate(found, 1)
    ]
    judged: set[int] = set()
    surroundings = features.around(neighbours)
    for candidate, around, (known, score) in zip(neighbours, surroundings, found, strict=True):
        if score < FLOOR or candidate.card.answer in judged:
            continue
        conflicts = guards.conflicts(query.text, known.text, guards.GUARDS)
        if any(conflict.veto for conflict in conflicts):
            continue
        judged.add(candidate.card.answer)
        values = features.of(query.text, replace(candidate, conflicts=conflicts, around=around))
        right = known.answer == query.answer
        if right or not values[_SAME_WORDS] or score < _SLIP:
            yield request, values, right


def _risks(prior: Prior, groups: Mapping[str, Sequence[Row]]) -> list[float]:
    """Quantiles of the lowest 1 - P(correct) of a request, every group having the same say."""
    belief, calibration = Belief(prior), Calibration(prior.calibration)
    lowest: list[float] = []
    for rows in groups.values():
        by_request: dict[int, float] = {}
        for request, values, _ in rows:
            risk = 1.0 - calibration.corrected(belief.log_odds(values, 0), 0.0)
            by_request[request] = min(risk, by_request.get(request, 1.0))
        lowest += [float(value) for value in np.quantile(list(by_request.values()), np.linspace(0, 1, QUANTILES))]
    return [round(float(value), 6) for value in np.quantile(lowest, (np.arange(QUANTILES) + 0.5) / QUANTILES)]


if __name__ == "__main__":
    main()
