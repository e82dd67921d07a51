"""The section of the streams: bounds, contenders and the ablation ladder, as tables.

Knows what was measured and how a table looks. Invariant: every rate stands beside its interval over permutations.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from eval.decisions import plots
from eval.decisions.contenders import contenders
from eval.decisions.figures import Line, lines, spread
from eval.decisions.hindsight import SHOWN, THRESHOLDS
from eval.decisions.report import Section, Table, between, percent
from eval.decisions.running import Measured, Plan

_NOISY = "natural"  # of which `natural-judged` has the same questions, and a language model's verdicts for labels
_HEADS = (
    "",
    "target",
    "hits",
    "saved net of audits",
    "wrong, of hits by meaning",
    "wrong, of requests",
    "above target",
    "beyond chance",
    "realised / target",
)
_READING = """All figures but ratios are percentages: means over permutations, with 95% intervals in brackets. "Saved
net of audits" counts requests for which the backend was not asked. "Above target" is the share of permutations whose
error, by the contract in brackets, ended above it, and "beyond chance" of those with so many wrong answers as an error
of the target brings in fewer than one of twenty: one wrong of thirty hits is above a target of 1%, which chance alone
does to one permutation of four. "Realised / target" divides the mean error by the target. "x vCache" compares saved
requests with the published vCache at the same target. "Static" is the best threshold in hindsight at the same error per
request, "way" the share of the distance from there to the oracle."""


def section(measured: Measured, plan: Plan, command: str) -> Section:
    """Everything that is reported of a plan."""
    found = lines(measured)
    tables: list[Table] = []
    for stream, insertion in measured.bounds:
        here = [one for one in found if (one.key.stream, one.key.insertion) == (stream, insertion)]
        title = f"{stream}, insertion {insertion}"
        tables.append(
            Table(
                title, (*_HEADS, "x vCache", "static", "way"), [*_bounds(measured, stream, insertion), *map(_row, here)]
            )
        )
    tables += [_pairs(measured), _ladder(found, plan), _verdict("Against the aims", found)]
    if {_NOISY, "natural-judged"} <= {one.key.stream for one in found}:
        told = [one for one in found if one.key.stream != _NOISY]
        tables.append(_verdict(f"Against the aims, without the noisy labels of `{_NOISY}`", told))
    about = [
        command,
        "data: the reporting half of the sets, cold cache",
        f"{plan.permutations} orders of up to {plan.length} requests, seed {plan.seed}",
        " ".join(_READING.split()),
    ]
    facts = {
        "runs": [
            {
                **{name: getattr(key, name) for name in ("stream", "insertion", "contender", "contract", "target")},
                "counts": [[one.requests, one.exact, one.semantic, one.wrong, one.net, one.audits] for one in runs],
            }
            for key, runs in measured.runs.items()
        ],
        "columns": ["requests", "exact", "semantic", "wrong", "net", "audits"],
    }
    figures = plots.streams(measured, found) if plots.possible() and found else {}
    return Section(
        "streams", "Streams: what each strategy serves, and how often wrongly", about, tables, facts, figures
    )


def _bounds(measured: Measured, stream: str, insertion: str) -> list[list[str]]:
    bounds = next(one for key, one in measured.bounds.items() if key == (stream, insertion))
    rows = [["exact only", "", between(spread([one.exact for one in bounds])), "", "0", "0", "", "", "", "", "", ""]]
    for threshold in SHOWN:
        runs = [one.static[THRESHOLDS.index(threshold)] for one in bounds]
        rates = [[one.hits for one in runs], [one.saved for one in runs]]
        errors = [[one.error("hit") for one in runs], [one.error("request") for one in runs]]
        rows.append([f"static {threshold}", "", *[between(spread(each)) for each in (*rates, *errors)], *[""] * 6])
    oracle = between(spread([one.oracle for one in bounds]))
    return [*rows, ["oracle", "", oracle, oracle, "0", "0", "", "", "", "", "", "100"]]


def _row(line: Line) -> list[str]:
    return [
        f"{line.key.contender} ({line.key.contract})",
        percent(line.key.target, 1),
        between(line.hits),
        between(line.saved),
        between(line.per_hit),
        between(line.per_request),
        percent(line.above, 0),
        percent(line.beyond, 0),
        f"{_error(line) / line.key.target:.2f}",
        "" if line.ratio is None else f"{line.ratio:.2f}",
        percent(line.static),
        percent(line.way, 0),
    ]


def _pairs(measured: Measured) -> Table:
    """How many different pairs of prompts stand behind the wrong answers of all permutations."""
    rows = []
    for key, runs in measured.runs.items():
        wrong = Counter(pair for one in runs for pair in one.mistaken)
        if key.contract != "hit" or not wrong:
            continue
        served = {pair for one in runs for pair in one.pairs}
        rows.append(
            [
                f"{key.stream}, {key.insertion}: {key.contender}",
                percent(key.target, 1),
                f"{sum(one.semantic for one in runs):,}",
                f"{wrong.total():,}",
                f"{len(served):,}",
                f"{len(wrong):,}",
                f"{wrong.most_common(1)[0][1]:,}",
            ]
        )
    heads = ("", "target", "hits by meaning", "wrong", "pairs", "wrong pairs", "hits of the commonest of these")
    note = (
        "Sums over the permutations, which have the same prompts in other orders: one pair may be served in each, so"
        " that wrong answers of several permutations are no independent evidence."
    )
    return Table("Pairs of prompts behind the hits by meaning", heads, rows, note)


def _ladder(found: Sequence[Line], plan: Plan) -> Table:
    """Each step's saved requests and error, averaged over streams."""
    rows = []
    for name, contender in contenders().items():
        for contract in contender.contracts:
            cells = []
            for insertion in plan.insertions:
                here = [
                    one
                    for one in found
                    if (one.key.contender, one.key.contract, one.key.insertion) == (name, contract, insertion)
                    and one.key.target == plan.rung
                ]
                cells += [
                    percent(_mean([one.saved.estimate for one in here])),
                    percent(_mean([_error(o) for o in here])),
                ]
            if any(cells):
                rows.append([f"{name}: {contender.ladder}", contract, *cells])
    heads = [
        "step",
        "contract",
        *[f"{insertion}: {what}" for insertion in plan.insertions for what in ("saved", "error")],
    ]
    note = "Requests saved net of audits, and the error by the contract, in percent: means over the streams."
    return Table(f"Ablation ladder at a target of {percent(plan.rung, 1)}%", heads, rows, note)


def _verdict(title: str, found: Sequence[Line]) -> Table:
    """The criteria: violations, the ratio to vCache and the share of the way, by contender and contract."""
    rows = []
    for name, contract in dict.fromkeys((one.key.contender, one.key.contract) for one in found):
        here = [one for one in found if (one.key.contender, one.key.contract) == (name, contract)]
        ratios = [one.ratio for one in here if one.ratio is not None]
        ways = [one.way for one in here if one.way is not None]
        rows.append(
            [
                f"{name} ({contract})",
                percent(statistics.fmean([one.above for one in here]), 1),
                percent(statistics.fmean([one.beyond for one in here]), 1),
                f"{sum(_error(one) > one.key.target for one in here)} of {len(here)}",
                f"{statistics.fmean([_error(one) / one.key.target for one in here]):.2f}",
                f"{statistics.median(ratios):.2f}" if ratios else "",
                f"{sum(ratio >= 3 for ratio in ratios)} of {len(ratios)}",
                percent(statistics.median(ways), 0) if ways else "",
                f"{sum(way >= 0.25 for way in ways)} of {len(ways)}",
            ]
        )
    heads = (
        "",
        "permutations above target",
        "beyond chance",
        "means above target",
        "realised / target, mean",
        "x vCache, median",
        "at least 3",
        "way, median",
        "at least 25%",
    )
    return Table(title, heads, rows, "Over all streams, targets and insertion protocols that were run.")


def _error(line: Line) -> float:
    return (line.per_hit if line.key.contract == "hit" else line.per_request).estimate


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
