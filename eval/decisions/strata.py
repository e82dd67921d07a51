"""Validity of equal wordings, one kind of edit at a time, and of the detector that closes what audits speak against.

Knows the wording tier and the detector by what they are told and what they answer, nothing of texts. Invariant: a
stream counts as above its target by the error that it was made with, not by the luck of its outcomes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from eval.decisions import resuming
from eval.decisions.report import Section, Table, between, percent
from semcache.config import packs
from semcache.config.packs import Pack
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.certificate import ExcessTest
from semcache.matching.wording_tier import WordingTier, features_of
from semcache.request.wording import Edit
from semcache.simulate.simulation_result import interval
from semcache.types import Controls
from semcache.types.evidence import Label, LabelSource

BURN_IN = 200  # hits
LENGTH = 4000  # requests
AUDITS = 10_000
EDITS = (Edit.CHARACTERS, Edit.TYPO)  # with the lowest and the highest stated error
_BAD = 0.2  # error per hit of a kind of edit that is wrong
_CHANGE = LENGTH // 2
_NOISE = 0.1
_CONTROLS = Controls()
_BATCH = 25
_LEVELS = (0.01, 0.02)
_STEADY = 2000  # audits at half the target, before an error that comes late


@dataclass(frozen=True, slots=True)
class Course:
    """The true error per hit of a kind of edit, `before` and `after` the change, and how often its judge errs."""

    name: str
    before: float
    after: float
    noise: float = 0.0
    told: bool = False


def courses(target: float) -> tuple[Course, ...]:
    """The courses that are simulated, at this target."""
    return (
        Course("right", 0.0, 0.0),
        Course("at the target", target, target),
        Course("at twice the target", 2.0 * target, 2.0 * target),
        Course(f"right, then {_BAD:.0%} wrong", 0.0, _BAD),
        Course(f"{_BAD:.0%} wrong from the start", _BAD, _BAD),
        Course("right, untold noise of 10%", 0.0, 0.0, _NOISE),
        Course("right, told noise of 10%", 0.0, 0.0, _NOISE, told=True),
        Course("at the target, told noise of 10%", target, target, _NOISE, told=True),
        Course(f"right, then {_BAD:.0%} wrong, told noise of 10%", 0.0, _BAD, _NOISE, told=True),
        Course(f"{_BAD:.0%} wrong from the start, told noise of 10%", _BAD, _BAD, _NOISE, told=True),
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """Streams of one course and kind of edit: those of `count` seeds from `first`."""

    course: Course
    edit: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Kept:
    """How one stream went. `closed` is how many requests after the change it was first closed; None if it never was."""

    ever: bool
    hits: int
    wrong: float
    closed: int | None
    wrong_until: float


@dataclass(frozen=True, slots=True)
class Alarms:
    """Streams of audits with an error of `error` at a target of `level`, after `steady` audits at half the target."""

    level: float
    error: float
    steady: int
    first: int
    count: int


def section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    """Equal wordings by kind of edit and course, and the detector's false alarms and delays."""
    given = _pack()
    target, facts = given.target, dict[str, object]()
    tables = [_wordings(chosen, target, facts, told), *_detector(chosen, facts, told)]
    about = [
        command,
        f"target {percent(target, 1)}% per hit and share of audits of the pack `default`; {chosen.count} streams a "
        f"row, seeds from {chosen.seed}; in brackets 95% intervals by Wilson",
        f"every request of a stream has the wording of a kept prompt by one kind of edit, {LENGTH} requests of one "
        "tenant; errors come at the stated rate, independently; audits are drawn as the tier asks for them; a request "
        "that is refused is answered anew, and its label may open the kind again",
    ]
    title = "Validity of equal wordings, and of closing by audits"
    return Section("strata", title, about, tables, facts)


# Equal wordings


def _wordings(
    chosen: argparse.Namespace, target: float, facts: dict[str, object], told: Callable[[int, int], None]
) -> Table:
    batches = [
        Batch(course, edit.name, first, min(_BATCH, chosen.seed + chosen.count - first))
        for course in courses(target)
        for edit in EDITS
        for first in range(chosen.seed, chosen.seed + chosen.count, _BATCH)
    ]
    done = resuming.computed(run, batches, processes=chosen.jobs, minutes=chosen.minutes, told=told)
    found: dict[tuple[str, str], list[Kept]] = {}
    for batch, part in zip(batches, done, strict=True):
        found.setdefault((batch.course.name, batch.edit), []).extend(part)
    rows = []
    for (name, edit), some in found.items():
        rows.append([name, edit.lower(), *_cells(some, target)])
        facts[f"{name}/{edit.lower()}"] = [
            sum(one.ever for one in some),
            len(some),
            sum(one.hits for one in some),
            round(sum(one.wrong for one in some), 3),
            sum(one.closed is not None for one in some),
        ]
    heads = ["course", "edit", "ever above %", "hits %", "expected error %", "realised / target", "closed %"]
    heads += ["requests until then, p50", "p95", "wrong until then"]
    note = (
        f"Above: at any time after {BURN_IN} hits the expected error of all hits so far exceeds the target; a kind "
        "that is closed before has none, and its wrong answers are in the last column. Closed: at any time, for good "
        "or not. Requests until then, and wrong answers until then (a mean), count from the change at request "
        f"{_CHANGE}, or from the start where nothing changes. Told: the tier knows how often the judge errs. "
        "`characters` and `typo` have the lowest and the highest stated error of the kinds of edits that are served."
    )
    return Table("Equal wordings", heads, rows, note)


def _cells(some: Sequence[Kept], target: float) -> list[str]:
    count, hits = len(some), sum(one.hits for one in some)
    error = sum(one.wrong for one in some) / max(1, hits)
    closed = [one.closed for one in some if one.closed is not None]
    times = [f"{np.quantile(closed, q):.0f}" for q in (0.5, 0.95)] if closed else ["", ""]
    wrong = f"{np.mean([one.wrong_until for one in some if one.closed is not None]):.1f}" if closed else ""
    return [
        between(interval(sum(one.ever for one in some), count), 1),
        percent(hits / (count * LENGTH), 1),
        percent(error),
        f"{error / target:.2f}",
        between(interval(len(closed), count), 1),
        *times,
        wrong,
    ]


def run(batch: Batch) -> list[Kept]:
    """How each stream of a batch went."""
    return [kept(batch.course, Edit[batch.edit], seed) for seed in range(batch.first, batch.first + batch.count)]


def kept(course: Course, edit: Edit, seed: int) -> Kept:
    """One stream through a fresh tier."""
    given = _pack()
    noise = LabelNoise(course.noise, course.noise) if course.told else FAITHFUL
    tier, target = WordingTier(given, noise=noise), given.target
    rng = np.random.default_rng([seed, int(edit)])
    change = _CHANGE if course.before != course.after else 0
    error = np.where(np.arange(LENGTH) < change, course.before, course.after)
    right = (rng.random(LENGTH) >= error).tolist()
    lies = (rng.random(LENGTH) < course.noise).tolist()
    served, closed = np.zeros(LENGTH, bool), None
    for at, draw in enumerate(rng.random(LENGTH).tolist()):
        verdict = tier.judge("default", edit, _CONTROLS)
        audited = verdict.serve and draw < verdict.audit
        served[at] = verdict.serve
        if verdict.serve:
            tier.note("default", edit.name.lower(), audited=audited)
        elif closed is None and at >= change:
            closed = at - change
        if audited or not verdict.serve:
            heard = right[at] != lies[at]
            tier.observe(_label(edit, at, verdict.p_correct, heard, verdict.audit if audited else None))
    wrong, hits = np.where(served, error, 0.0), np.cumsum(served)
    running = np.cumsum(wrong) / np.maximum(1, hits)
    ever = bool((running[hits >= BURN_IN] > target * (1.0 + 1e-9)).any())
    until = 0.0 if closed is None else float(wrong[change : change + closed].sum())
    return Kept(ever, int(hits[-1]), float(wrong.sum()), closed, until)


def _label(edit: Edit, at: int, p_correct: float, correct: bool, chance: float | None) -> Label:
    """The label of an audited hit, or of a miss where `chance` is None."""
    return Label(
        at=float(at),
        category="default",
        tenant="default",
        entry_id=1,
        answer=1,
        exact=b"",
        score=1.0,
        features=features_of(edit),
        p_correct=p_correct,
        correct=correct,
        source=LabelSource.MISS if chance is None else LabelSource.AUDIT,
        served=chance is not None,
        chance=1.0 if chance is None else chance,
        seq=at + 1,
    )


# The detector


def _detector(chosen: argparse.Namespace, facts: dict[str, object], told: Callable[[int, int], None]) -> list[Table]:
    enough = 1.0 / (1.0 - _pack().confidence)
    rows: dict[bool, list[list[str]]] = {False: [], True: []}
    kinds = [(level, times, 0) for level in _LEVELS for times in (1.0, 0.5)]
    kinds += [(level, times, steady) for level in _LEVELS for times in (2.0, 5.0) for steady in (0, _STEADY)]
    for level, times, steady in kinds:
        jobs = [
            Alarms(level, times * level, steady, first, min(_BATCH, chosen.seed + chosen.count - first))
            for first in range(chosen.seed, chosen.seed + chosen.count, _BATCH)
        ]
        parts = resuming.computed(alarmed, jobs, processes=chosen.jobs, minutes=chosen.minutes, told=told)
        found = [one for part in parts for one in part]
        early = sum(one is not None and one < 0 for one in found)
        when = [one for one in found if one is not None and one >= 0]
        facts[f"detector/{level}/{times}/{steady}"] = [len(when), len(found), early]
        share = between(interval(len(when), len(found)), 1)
        row = [percent(level, 1), f"{times:g}", str(len(found)), share]
        if times > 1.0:
            after = f"{steady} audits at half the target" if steady else "from the start"
            quantiles = [f"{np.quantile(when, q):.0f}" for q in (0.5, 0.95)] if when else ["", ""]
            row = [row[0], row[1], after, *row[2:], *quantiles, str(early)]
        rows[times > 1.0].append(row)
    alarm = Table(
        f"False alarms within {AUDITS} audits",
        ["target %", "error / target", "streams", "alarm %"],
        rows[False],
        f"The detector alone (`ExcessTest`), which narrows or closes what it finds: wealth {enough:.0f} at confidence "
        f"{_pack().confidence:g}. By Ville's inequality an error of at most the target raises it in at most "
        f"{percent(1.0 / enough, 0)}% of streams, however long they are.",
    )
    delay = Table(
        f"Detection within {AUDITS} audits",
        ["target %", "error / target", "after", "streams", "found %", "audits until then, p50", "p95", "false before"],
        rows[True],
        "Audits are counted from the first with this error; alarms before it are not found ones.",
    )
    return [alarm, delay]


def alarmed(job: Alarms) -> list[int | None]:
    """After how many audits from the change each stream raised an alarm, negative before it, None if it never did."""
    enough, found = 1.0 / (1.0 - _pack().confidence), list[int | None]()
    for seed in range(job.first, job.first + job.count):
        rng = np.random.default_rng([seed, round(1e6 * job.error), job.steady])
        error = np.where(np.arange(job.steady + AUDITS) < job.steady, job.level / 2.0, job.error)
        test, when = ExcessTest(), None
        for at, wrong in enumerate((rng.random(len(error)) < error).tolist()):
            test.take(job.level, wrong=wrong)
            if test.wealth() >= enough:
                when = at + 1 - job.steady if at >= job.steady else at - job.steady
                break
        found.append(when)
    return found


@cache
def _pack() -> Pack:
    return packs.load("default")
