"""Make the prior that ships with the certified strategy: `python -m eval.priors [--out FILE]`.

Candidates as they stand before a cache that has been filling with questions of one kind, and before nearly empty ones,
are labelled by the data's own classes; `semcache.train.prior` learns from them. What is read may be shipped from: the
groups that were written for the verifier, less those held out, and two sets under Creative Commons Attribution, of
which only the half that `eval.decisions.data.split` calls "prior", so that every figure comes from other questions.
What the verifier's word is worth is learned from groups of hands of which it has read nothing: those that were merely
held out are of hands that it knows, and many of them were made to mislead it. One of those hands wrote no groups, but
natural questions, which were judged. Where no verifier is asked, those hands teach too, for among groups that were
merely rewritten likeness alone looks better than it is; and texts are read as they are typed: slips that stand tell how
far likeness can be trusted where it sees less than all, and mended ones nothing. What that is worth with strangers is
printed: of the pairs of each such hand, each alone in a cache without labels, and of its questions before a cache that
nobody reads for, what would be served by a prior that was learned from the other hands, and how much of that is wrong.
Knows the data sets; what is written holds weights and quantiles, no question. Invariant: equal data give an equal file.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from eval.decisions import judged
from eval.decisions.data import Question, questions
from eval.embedded import embedded
from eval.random_effects import between
from semcache.config import packs
from semcache.matching import features, guards, neighbourhood
from semcache.matching.label_noise import FAITHFUL
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import CalibratedBelief
from semcache.matching.strategies.certified.calibration import VARIANCES, basis
from semcache.matching.strategies.certified.category_beliefs import CategoryBeliefs
from semcache.matching.strategies.certified.priors import PATH
from semcache.models.cross_encoder import CrossEncoder
from semcache.train.pairs import Pair
from semcache.train.prior import fit
from semcache.train.recipe import authored, natural
from semcache.train.recipe.verifier_recipe import AGAINST_IT, MISLEADING
from semcache.train.repeats import other, repeat
from semcache.types import Candidate, Card, Conflict

# Topics of written groups that are no traffic, but what a verifier is trained to tell apart.
CONTRIVED = (
    *("sly", "edits", "roles", "close", "who_whom", "directions", "conditions"),
    *("desk_reworded", "idiom_colloquial", "knowledge_reworded", "long_restructured", "spoken_tasks"),
    *("synonyms_reworded", "tech_reworded", "long_prompts_2", "plain_askers"),
    *("far_attributes", "far_directions", "far_entities"),
    *("assistant_terse", "casual_chat", "company_public", "desk_documents", "desk_situations", "device_trouble"),
    *("explain_compare", "figures_in_words", "free_paraphrases", "idiom_everyday", "life_far", "long_reordered"),
    *("makers", "names_otherwise", "rules_exceptions", "school_science", "shop_money", "sly_reworded"),
    *("asked_of_a_story", "changed_places", "choices_and_plans", "exercises", "experts_ask_at_length"),
    *("briefs_with_particulars", "customers_at_length", "functions_and_errors", "notes_and_dictation", "one_liners"),
    *("over_a_text", "said_quite_otherwise", "tables_and_records"),
    *("little_joints", "operators_and_literals", "people_and_places", "requests_reshaped"),
    *("short_and_quite_otherwise", "story_figures_asked", "two_options_compared"),
    *AGAINST_IT,
)
# The topics in which somebody is asked to do something; in the others, somebody asks.
SERVED = (
    *("support", "requests", "workplace", "business", "tasks", "code", "long", "asking_loosely"),
    *("company", "helpdesk", "products", "services", "technical"),
    *("counter", "doing", "customers", "office", "apps", "programming", "chores", "synonyms"),
)
# The hands of which the verifier has read nothing, by the traffic that they wrote.
HANDS = {
    "served": ("unread_served", "unread_desk", "unread_service", "unread_assistant", "unread_builders"),
    "asked": ("unread_asked", "unread_curious", "unread_forum", "unread_learned", "unread_brief"),
    "mixed": (
        *("unread_reworded", "unread_mixed", "unread_long", "unread_people"),
        *("unread_idiom", "unread_typed", "unread_free", "unread_tasks", "unread_requests"),
        *("unread_fragments", "unread_one_topic"),  # written after the prior that ships was fitted
    ),
    "natural": ("unread_natural",),  # questions that were written one by one, and judged
    "misleading": MISLEADING,  # no traffic: nothing is learned of it, but it is checked
}
RISKS = (0.01, 0.03)  # 1 - P(correct) up to which a pair that is checked counts as served
SETS = ("clinc150", "banking77", "served", "asked")
PROFILES = {
    "any": (*SETS, "mixed", "natural"),
    "service": ("clinc150", "banking77", "served", "mixed"),
    "questions": ("asked", "mixed", "natural"),
}
STREAM, SPARSE, REPEATS = 5000, 3000, 1500
RARELY = 160  # one in so many of the repeats has a word replaced
NEIGHBOURS = 8
FLOOR = 0.5
SEED = 7
QUANTILES = 200
_SLIP = 0.95
_ALONE = "-alone"  # the groups of a hand about which no verifier is asked
_ASKED = features.NAMES.index("asked")
_NEARNESS = features.NAMES.index("nearness")
_SAME_WORDS = features.NAMES.index("same_words")
_HAND = re.compile(r"(?<=unread)_[a-z]+")
_CONTENT = re.compile(r"[^\W\d_]{4,}")

Row = tuple[int, tuple[float, ...], bool]  # request, features, whether the candidate is right


def main() -> None:
    """Write the prior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PATH)
    out = parser.parse_args().out
    jobs = [(name, None) for name in SETS] + [(name, hand) for name, hands in HANDS.items() for hand in hands]
    with ProcessPoolExecutor(2) as pool:
        groups = dict(row for rows in pool.map(_groups, *zip(*jobs, strict=True)) for row in rows)
    profiles = learn(groups)
    out.write_text(json.dumps({"seed": SEED, "profiles": profiles}, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{out}: {out.stat().st_size:,} bytes")
    _check(groups)
    _differ(groups, BeliefPrior.read(profiles["any"]))


def learn(groups: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, Any]]:
    """The prior of each profile."""
    made = {}
    for profile, sets in PROFILES.items():
        chosen = {name: rows for name, rows in groups.items() if name.partition(":")[0] in sets}
        data = fit({name: _columns(rows) for name, rows in chosen.items()})
        prior = BeliefPrior.read(data)
        data["risks"] = _risks(prior, chosen, asked=False)
        data["told"]["risks"] = _risks(prior.with_verifier or prior, chosen, asked=True)
        made[profile] = data
        print(profile, data["calibration"], data["labels"], data["told"]["calibration"], data["told"]["labels"])
    return made


def _groups(name: str, hand: str | None) -> list[tuple[str, list[Row]]]:
    """The groups of a set, or those of one hand, which the verifier is asked about and not."""
    if hand is not None:
        texts, pairs = _of_hand(name, hand)
        return [
            (f"{name}:{hand}", list(_stream(_shuffled(texts), told=True))),
            (f"{name}:{hand}-pairs", list(_labelled(pairs, told=True))),
            (f"{name}:{hand}{_ALONE}", list(_stream(_shuffled(texts)))),
        ]
    own = name in HANDS
    written = _written(name == "served")
    chosen = _shuffled(_texts(written) if own else questions(name, "prior"))
    groups = {"stream": _stream(chosen), "repeats": _repeats(chosen[:REPEATS]), "sparse": _sparse(chosen)}
    if own:
        groups["pairs"] = _labelled(found.pair for found in authored.paired(written))
    return [(f"{name}:{kind}", list(rows)) for kind, rows in groups.items()]


def _of_hand(name: str, hand: str) -> tuple[list[Question], list[Pair]]:
    """The questions and the labelled pairs of a hand."""
    if name == "natural":
        return _natural()
    unread = [group for group in authored.groups() if group.topic == hand]
    return list(_texts(unread)), [found.pair for found in authored.paired(unread)]


def _natural() -> tuple[list[Question], list[Pair]]:
    """The natural questions that are held out, with the answers that the verdicts give them, and the pairs of which the
    verdict is yes or no."""
    chosen = [one for one in natural.questions() if one.held]
    place = {one.text: number for number, one in enumerate(chosen)}
    verdicts = [one for one in natural.verdicts() if one.one in place]
    p_yes = {(min(pair), max(pair)): one.p_yes for one in verdicts for pair in [(place[one.one], place[one.two])]}
    firsts = judged.joined(len(chosen), p_yes)
    texts = [Question(one.text, chosen[first].text, one.topic, "") for one, first in zip(chosen, firsts, strict=True)]
    return texts, [Pair(one.one, one.two, one.p_yes > 0.5) for one in verdicts if one.p_yes != 0.5]


def _shuffled(texts: Iterable[Question]) -> list[Question]:
    chosen = sorted(texts, key=lambda one: one.text)
    random.Random(SEED).shuffle(chosen)
    return chosen[:STREAM]


def _stream(chosen: Sequence[Question], told: bool = False) -> Iterator[Row]:
    """One question after the other before a cache that holds all earlier ones."""
    vectors = embedded([one.text for one in chosen], mending=told)
    for place in range(1, len(chosen)):
        scores = vectors[:place] @ vectors[place]
        nearest = np.argsort(-scores, kind="stable")[:NEIGHBOURS]
        yield from _rows(place, chosen[place], [(chosen[other], float(scores[other])) for other in nearest], told)


def _sparse(chosen: Sequence[Question]) -> Iterator[Row]:
    """Questions before caches that hold a few random others."""
    rng = random.Random(SEED)
    vectors = embedded([one.text for one in chosen], mending=False)
    for place in range(min(SPARSE, len(chosen))):
        count = rng.choice((20, 100, 500, 1000))
        pool = [other for other in rng.sample(range(len(chosen)), min(count, len(chosen))) if other != place]
        scores = vectors[pool] @ vectors[place]
        nearest = np.argsort(-scores, kind="stable")[: rng.choice((1, 1, 2, 4, 8))]
        yield from _rows(place, chosen[place], [(chosen[pool[at]], float(scores[at])) for at in nearest])


def _repeats(chosen: Sequence[Question]) -> Iterator[Row]:
    """Questions before caches of any size: mostly another writing of one that is there, at times of one whose place the
    nearest of another answer has taken, rarely one that differs in a word."""
    rng = random.Random(SEED)
    counts = Counter(word for one in chosen for word in {*_CONTENT.findall(one.text.lower())})
    vocabulary = sorted(word for word, count in counts.items() if 3 <= count <= len(chosen) // 20)
    again = [_again(place, one.text, rng, vocabulary) for place, one in enumerate(chosen)]
    vectors, others = (
        embedded(texts, mending=False) for texts in ([one.text for one in chosen], [text or "" for text in again])
    )
    scores = others @ vectors.T
    for place, (one, text) in enumerate(zip(chosen, again, strict=True)):
        if text is None or text == one.text:
            continue
        pool = {place}
        if place % 20 == 0:
            nearest = np.argsort(-scores[place], kind="stable")[1:40]
            pool = {next((at for at in nearest.tolist() if chosen[at].answer != one.answer), place)}
        pool |= set(rng.sample(range(len(chosen)), rng.choice((0, 0, 5, 50, 500))))
        if place % 20 == 0:
            pool.discard(place)
        query = replace(one, text=text, answer="" if place % RARELY == 1 else one.answer)
        best = sorted(pool, key=lambda at: (-scores[place][at], at))[:NEIGHBOURS]
        yield from _rows(place, query, [(chosen[at], float(scores[place][at])) for at in best])


def _again(place: int, text: str, rng: random.Random, vocabulary: Sequence[str]) -> str | None:
    return other(text, rng, vocabulary) if place % RARELY == 1 else repeat(text, rng)


def _written(served: bool) -> list[authored.AuthoredGroup]:
    """The groups that the verifier was trained on."""
    return [
        group
        for group in authored.groups()
        if group.topic not in CONTRIVED and (group.topic in SERVED) == served and not group.held
    ]


def _texts(groups: Sequence[authored.AuthoredGroup]) -> Iterator[Question]:
    """The texts of written groups. Of those that differ one each, for among themselves they may be the same."""
    rng = random.Random(SEED)
    for group in groups:
        for text in (group.prompt, *group.same):
            yield Question(text, group.prompt, group.prompt, "")
        kind, text = rng.choice(group.different)
        yield Question(text, f"{kind}: {text}", group.prompt, "")


def _labelled(pairs: Iterable[Pair], told: bool = False) -> Iterator[Row]:
    """Labelled pairs, each alone."""
    chosen = list(pairs)
    random.Random(SEED).shuffle(chosen)
    chosen = chosen[:STREAM]
    cached = embedded([pair.one for pair in chosen], mending=told)
    asked = embedded([pair.two for pair in chosen], mending=told)
    for place, pair in enumerate(chosen):
        known = Question(pair.one, "1", "", "")
        query = Question(pair.two, "1" if pair.same else "2", "", "")
        yield from _rows(place, query, [(known, float(cached[place] @ asked[place]))], told)


def _check(groups: Mapping[str, Sequence[Row]]) -> None:
    """Print what would be served of each hand by a prior of the other hands, and how much of that is wrong.

    First of its pairs, which the verifier reads, and then of its questions, where nobody reads them.
    """
    pack = packs.load("default")
    policy = pack.of("default")
    for ending in ("-pairs", _ALONE):
        sums = [[0, 0] for _ in RISKS]
        for hand in (hand for hands in HANDS.values() for hand in hands):
            others = {
                name: _columns(rows)
                for name, rows in groups.items()
                if f":{hand}" not in name
                and name.partition(":")[0] in PROFILES["any"]
                and (ending == _ALONE or (":unread_" in name and not name.endswith(_ALONE)))
            }
            prior = BeliefPrior.read(fit(others))
            beliefs = CategoryBeliefs(policy, prior, FAITHFUL)
            rows = next(rows for name, rows in groups.items() if name.endswith(f":{hand}{ending}"))
            likeliest: dict[int, tuple[float, bool]] = {}
            for place, (request, values, right) in enumerate(rows):
                found = (beliefs.probability(values, 0), right)
                key = request if ending == _ALONE else place
                likeliest[key] = max(likeliest.get(key, found), found)
            line = [
                f"{hand}{ending}: {sum(right for _, right in likeliest.values())} of {len(likeliest)} may be served"
            ]
            for risk, total in zip(RISKS, sums, strict=True):
                served = [right for p, right in likeliest.values() if 1.0 - p <= risk]
                total[0], total[1] = total[0] + len(served), total[1] + served.count(False)
                line.append(f"at a risk of {risk:.0%} {len(served)} are, {served.count(False)} wrong")
            print("; ".join(line))
        print("; ".join(f"at {risk:.0%} {wrong} of {of} wrong" for risk, (of, wrong) in zip(RISKS, sums, strict=True)))


def _differ(groups: Mapping[str, Sequence[Row]], prior: BeliefPrior) -> None:
    """Print how far the calibration of the verifier's word differs between hands, as `kinds_of_traffic` states it.

    Of each request the likeliest candidate counts, for that is what labels are about.
    """
    told = prior.with_verifier or prior
    belief, tables = Belief(told), []
    for name, rows in groups.items():
        if (
            ":unread_" not in name
            or name.endswith(("-pairs", _ALONE))
            or name.partition(":")[0] in ("natural", "misleading")
        ):
            continue
        best: dict[int, tuple[float, float, bool]] = {}
        for request, values, right in rows:
            found = (belief.log_odds(values, 0), values[_NEARNESS], right)
            best[request] = max(best.get(request, found), found)
        terms = np.array([basis(odds, near) for odds, near, _ in best.values()])
        tables.append((terms, np.array([float(right) for *_, right in best.values()])))
    mean, covariance = between(tables, np.array(told.calibration), np.array(VARIANCES))
    print(f"{len(tables)} hands: mean coefficients {np.round(mean, 3)}, variances {np.round(np.diag(covariance), 3)}")


def _columns(rows: Sequence[Row]) -> tuple[list[tuple[float, ...]], list[bool]]:
    return [values for _, values, _ in rows], [right for *_, right in rows]


@cache
def _verifier() -> CrossEncoder:
    return CrossEncoder()


def _rows(request: int, query: Question, found: Sequence[tuple[Question, float]], told: bool = False) -> Iterator[Row]:
    """The candidates that would be judged for a request: the nearest that no guard vetoes of each answer.

    The verifier is asked about all of them if `told`, and about nearer ones where the veto is arguable.

    The same words at a score of 0.95 or more that are labelled different (one in ten of Quora's) are slips, left out.
    """
    classes = {answer: number for number, answer in enumerate(dict.fromkeys(known.answer for known, _ in found), 1)}
    neighbours = [
        Candidate(Card(number, b"", b"", "", known.text, 0.0, 1.0, classes[known.answer]), score)
        for number, (known, score) in enumerate(found, 1)
    ]
    judged: set[int] = set()
    surveyed = neighbourhood.surveyed(query.text, neighbours, _objections)
    for candidate, (known, score) in zip(surveyed.candidates, found, strict=True):
        if score < FLOOR or candidate.card.answer in judged:
            continue
        conflicts = surveyed.objections(candidate)
        vetoed = any(conflict.veto for conflict in conflicts)
        if any(conflict.final for conflict in conflicts) or (vetoed and not told):
            continue
        if not vetoed:
            judged.add(candidate.card.answer)
        values = features.of(query.text, replace(candidate, conflicts=conflicts), mending=told)
        if told:
            values = features.with_verdict(values, float(_verifier().probabilities([(query.text, known.text)])[0]))
        right = known.answer == query.answer
        if right or not values[_SAME_WORDS] or score < _SLIP:
            yield request, values, right


def _objections(one: str, two: str) -> tuple[Conflict, ...]:
    return guards.conflicts(one, two, guards.GUARDS)


def _risks(prior: BeliefPrior, groups: Mapping[str, Sequence[Row]], *, asked: bool) -> list[float]:
    """Quantiles of the lowest 1 - P(correct) of a request where the verifier is asked, or is not.

    All hands of a set together have the say of one group.
    """
    belief = CalibratedBelief(prior, FAITHFUL)
    kinds: dict[str, list[float]] = {}
    for name, rows in groups.items():
        by_request: dict[int, float] = {}
        for request, values, _ in rows:
            if bool(values[_ASKED]) is asked:
                risk = 1.0 - belief.probability(values, 0)
                by_request[request] = min(risk, by_request.get(request, 1.0))
        if by_request:
            kinds.setdefault(_HAND.sub("", name), []).extend(by_request.values())
    lowest = [float(one) for risks in kinds.values() for one in np.quantile(risks, np.linspace(0, 1, QUANTILES))]
    return [round(float(value), 6) for value in np.quantile(lowest, (np.arange(QUANTILES) + 0.5) / QUANTILES)]


if __name__ == "__main__":
    main()
