"""The report of a replay, as JSON and as a page of Markdown.

Knows the values of `trace_replay` and how people read them; no files and no plots. Invariant: everything on the page is
also in the JSON, and neither holds a prompt or an answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from semcache.config.packs import Pack
from semcache.simulate import bounds
from semcache.simulate.trace_replay import FixedThresholdRun, PackRun, Trace, best_fixed_run, contract_of

COLUMNS = ("entries", "hit rate", "exact", "by meaning", "error per hit", "error per request", "audits", "net hit rate",
           "saved $", "saved s", "of bound")  # fmt: skip


def figures(trace: Trace, pack: Pack, runs: Sequence[PackRun], statics: Sequence[FixedThresholdRun]) -> dict[str, Any]:
    """The figures of the runs of one pack; `statics` are those at the size of the last run, or none."""
    contract, requests = contract_of(pack), len(trace)
    distinct = bounds.distinct(trace.arrivals)
    timed = any(arrival.latency for arrival in trace.arrivals)
    priced = any(arrival.cost for arrival in trace.arrivals)
    report: dict[str, Any] = {
        "policies": pack.name,
        "target": pack.target_of("default"),
        "contract": contract,
        "requests": requests,
        "distinct": distinct,
        "seconds": trace.arrivals[-1].at - trace.arrivals[0].at if requests else 0.0,
        "oracle_hit_rate": _share(bounds.belady(bounds.answer_keys(trace.arrivals), math.inf), requests),
        "runs": [_run(trace, run, distinct, timed=timed, priced=priced) for run in runs],
    }
    if statics:
        report["static"] = [_static(one, requests) for one in statics]
        report["regret"] = _regret(runs[-1], statics, pack.target_of("default"), contract, requests)
    return report


def table(report: Mapping[str, Any]) -> list[list[str]]:
    """The runs as rows under `COLUMNS`."""
    rows = []
    for run in report["runs"]:
        found, share = run["summary"], run["share_of_bound"]
        size = "as the pack says" if run["size"] is None else f"{run['size']:,} ({run['share_of_distinct']:.0%})"
        saved, per_request = [found["cost_saved"], found["latency_saved"]], found["error_per_request"]
        rows.append(
            [
                size,
                f"{found['hit_rate']:.1%}",
                f"{found['exact']:,}",
                f"{found['semantic']:,}",
                rate(found["error_per_hit"]),
                "-" if per_request is None else f"{per_request[0]:.2%}",
                f"{found['audits']:,}",
                f"{found['net_hit_rate']:.1%}",
                *(amount(value) for value in saved),
                "-" if share is None else f"{share:.0%}",
            ]
        )
    return rows


def remarks(report: Mapping[str, Any]) -> list[str]:
    """The figures to compare the results with, one sentence each."""
    said = [
        f"{report['requests']:,} requests, {report['distinct']:,} of them distinct, over "
        f"{report['seconds'] / 86400:.1f} days. Every request whose answer had been given before: "
        f"{report['oracle_hit_rate']:.1%}."
    ]
    said += report.get("varying_prompts", ())
    regret = report.get("regret")
    if regret is None:
        return said
    for name, when in (
        ("at_target", f"within the target of {report['target']:.1%} error per {report['contract']}"),
        ("at_own_error", "at no more error than the pack made"),
    ):
        one = regret[name]
        score = one["static"]["threshold"]
        which = "serving nothing by meaning" if score is None else f"the fixed score {score:g}"
        more = "more" if one["hit_rate"] >= 0 else "fewer"
        said.append(
            f"Best in hindsight {when}: {which}, {one['static']['hit_rate']:.1%} hits, "
            f"{abs(one['hit_rate']):.1%} of the requests {more} than the pack."
        )
    return said


def markdown(report: Mapping[str, Any], *, plots: Sequence[str] = ()) -> str:
    """The page; `plots` are names of image files beside it."""
    lines = [f"# Replay through the pack {report['policies']}", "", *[f"{line}\n" for line in remarks(report)]]
    lines += ["## By size", "", grid(COLUMNS, table(report)), ""]
    lines += [
        "Errors count hits by meaning, with 95% intervals. The net hit rate leaves out hits that were audited, for an "
        "audit asks the backend too. The bound is offline-optimal eviction that serves every request whose answer it "
        "holds.",
        "",
    ]
    lines += [f"![{name.removesuffix('.png').replace('-', ' ')}]({name})\n" for name in plots]
    last = report["runs"][-1]
    names = ("requests", "exact", "semantic", "misses", "bypassed", "audits", "wrong")
    rows = [
        [name, *(f"{row[key]:,}" for key in names), rate(row["error_per_hit"]), f"{row['hit_rate']:.1%}", row["state"]]
        for name, row in last["categories"].items()
    ]
    lines += ["## By category, at the last size", ""]
    lines += [grid(["category", *names, "error per hit", "hit rate", "state"], rows), ""]
    lines += ["## Why requests were not served, at the last size", ""]
    lines += [grid(["reason", "requests"], [[why, f"{count:,}"] for why, count in last["why"].items()]), ""]
    if "static" in report:
        rows = [
            [
                "exact only" if one["threshold"] is None else f"{one['threshold']:g}",
                f"{one['hit_rate']:.1%}",
                f"{one['error_per_hit']:.2%}",
                f"{one['error_per_request']:.2%}",
            ]
            for one in report["static"]
        ]
        lines += ["## Fixed thresholds, in hindsight", ""]
        lines += [grid(["score", "hit rate", "error per hit", "error per request"], rows), ""]
    for title, key in (("Lines skipped", "skipped"), ("Broken lines", "broken_lines")):
        found = report.get("trace", {}).get(key)
        if found:
            pairs = (
                found.items() if isinstance(found, dict) else [(f"line {row['line']}", row["error"]) for row in found]
            )
            lines += [f"## {title}", "", *[f"- {name}: {said}" for name, said in pairs], ""]
    return "\n".join(lines).rstrip() + "\n"


def rate(value: Sequence[float] | None) -> str:
    """A rate with its interval, "-" for none."""
    return "-" if value is None else f"{value[0]:.2%} ({value[1]:.1%} to {value[2]:.1%})"


def amount(value: float | None) -> str:
    """Return an amount of money or seconds as text, "-" for none."""
    return "-" if value is None else f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.4f}"


def _run(trace: Trace, run: PackRun, distinct: int, *, timed: bool, priced: bool) -> dict[str, Any]:
    def summary(category: str | None = None) -> dict[str, Any]:
        found = run.result.summary(category)
        unknown = [name for name, known in (("cost", priced), ("latency", timed)) if not known]
        return found | dict.fromkeys([key for name in unknown for key in (name, f"{name}_saved")])

    result = run.result
    return {
        "size": run.size,
        "share_of_distinct": None if run.size is None else _share(run.size, distinct),
        "summary": summary() | {"tokens_saved": int(trace.tokens[result.calls == 0].sum())},
        "entries": result.entries,
        "evicted": result.evicted,
        "right_hits": run.right,
        "exact_bound": run.exact_bound,
        "answer_bound": run.answer_bound,
        "share_of_bound": run.right / run.answer_bound if run.answer_bound else None,
        "categories": {
            name: summary(name) | {"state": standing.state.value, "certified": standing.certified}
            for name, standing in run.standings.items()
        },
        "why": dict(
            Counter(
                why.value for why, hit in zip(result.why, result.exact | result.semantic, strict=True) if not hit
            ).most_common()
        ),
    }


def _static(one: FixedThresholdRun, requests: int) -> dict[str, Any]:
    return {
        "threshold": one.threshold,
        "hit_rate": _share(one.hits, requests),
        "semantic": one.semantic,
        "wrong": one.wrong,
        "error_per_hit": one.error_per_hit,
        "error_per_request": one.error_per_request,
    }


def _regret(
    run: PackRun, statics: Sequence[FixedThresholdRun], target: float, contract: str, requests: int
) -> dict[str, Any]:
    """Hits that the best fixed threshold had more: within the target, and within the error that the pack made."""
    result = run.result
    hits, wrong = int((result.exact | result.semantic).sum()), int((result.semantic & result.wrong).sum())
    own = FixedThresholdRun(None, hits, int(result.semantic.sum()), wrong, int(result.looked_up.sum()))
    found = {}
    for name, error in (("at_target", target), ("at_own_error", own.error(contract))):
        one = best_fixed_run(statics, error, contract)
        found[name] = {"static": _static(one, requests), "hit_rate": _share(one.hits - hits, requests)}
    return found


def grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
