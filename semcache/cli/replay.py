"""`semcache replay`: simulate a pack on a trace or log.

Knows files and settings; `semcache.simulate` decides and compares. Invariant: no cache is opened or changed, nothing is
asked of a backend, and the report holds no prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from
from semcache.cli.option_groups import with_groups
from semcache.cli.trace_input import (
    File,
    TraceOptions,
    build_traces,
    read_lines,
    simulation_progress,
)
from semcache.errors import InvalidArgument, StoreError

if TYPE_CHECKING:
    from semcache.cli.traces import TraceLine
    from semcache.config.settings import Settings
    from semcache.simulate.trace_replay import PackRun

SIZES = "5%,20%,100%"
_MOST = 1e12
_READ = 5_000  # requests whose system prompts are compared


@with_groups
def replay(
    *,
    file: File,
    policies: options.Policies = None,
    sizes: Annotated[
        str,
        typer.Option(
            "--sizes", metavar="LIST", help="Entries that fit: numbers, shares of the distinct requests, or `pack`."
        ),
    ] = SIZES,
    targets: Annotated[
        str | None,
        typer.Option("--targets", metavar="LIST", help="Also try these error targets, such as 0.5%,1%,2%."),
    ] = None,
    given: TraceOptions,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Also try fixed thresholds, for the regret.")
    ] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write report.json, report.md and plots there.")
    ] = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="With --out: draw them, with matplotlib.")] = True,
    embedder: options.Embedder = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Simulate a pack on a trace or log before you deploy it: hits, errors and savings at several sizes.

    Reads what `semcache import` reads, and lines with `prompt` and `answer`. Broken lines are skipped and shown.

    Starts from an empty cache, asks no backend and changes nothing.
    """
    wished = parse_sizes(sizes)
    tried = parse_targets(targets) if targets is not None else []
    settings = settings_from(config, policies=policies, embedder=embedder)
    plots = plots and (out is None or _has_matplotlib())
    report, last = run_async(_replay(settings, file, given, wished, tried, baselines=baselines))
    if out is not None:
        _write(report, last, out, plots=plots)
    if as_json:
        output.as_json(report)
        return
    from semcache.simulate import replay_report as reports

    output.table(reports.COLUMNS, reports.table(report), right=reports.COLUMNS[1:])
    if tried:
        from semcache.simulate import target_comparison as compared

        output.table(compared.COLUMNS, compared.target_table(report["targets"]), right=compared.COLUMNS)
    for line in reports.remarks(report):
        output.note(line)


def parse_sizes(text: str) -> list[tuple[float, str]]:
    """Return pairs of number and kind: "%", "entries" or "pack". Raises InvalidArgument."""
    found: list[tuple[float, str]] = []
    for part in text.split(","):
        match = re.fullmatch(r"(?P<number>\d+(?:\.\d+)?)(?P<kind>%?)|pack", part.strip())
        if match is None or (match["number"] is not None and not 0 < float(match["number"]) <= _MOST):
            said = f"--sizes {text[:80]!r}: {part.strip()[:80]!r} is no size; write 1%, 5000 or pack, with commas"
            raise InvalidArgument(said)
        number, kind = match["number"], match["kind"]
        found.append((0.0, "pack") if number is None else (float(number), kind or "entries"))
    return found


def parse_targets(text: str) -> list[float]:
    """Return error targets as shares, each once, in the order of the text. Raises InvalidArgument."""
    found: list[float] = []
    for part in text.split(","):
        match = re.fullmatch(r"(?P<number>\d*\.?\d+)(?P<percent>%?)", part.strip())
        share = float(match["number"]) / (100 if match["percent"] else 1) if match is not None else 0.0
        if not 0 < share < 1:
            said = f"--targets {text[:80]!r}: {part.strip()[:80]!r} is no error target; write 1% or 0.01, with commas"
            raise InvalidArgument(said)
        found.append(share)
    return list(dict.fromkeys(found))


def entries_of(wished: Sequence[tuple[float, str]], distinct: int) -> list[int | None]:
    """Return how many entries each size means on a trace with that many distinct requests; None: as the pack says."""
    found: list[int | None] = []
    for number, kind in wished:
        entries = number * distinct / 100 if kind == "%" else number
        found.append(None if kind == "pack" else max(1, round(entries)))
    return list(dict.fromkeys(found))


async def _replay(
    settings: Settings,
    file: Path,
    given: TraceOptions,
    wished: Sequence[tuple[float, str]],
    targets: Sequence[float],
    *,
    baselines: bool,
) -> tuple[dict[str, Any], PackRun]:
    from semcache.config.packs import load
    from semcache.models.verifiers import offline_verifier
    from semcache.request.varying_prompts import varying
    from semcache.simulate import bounds
    from semcache.simulate import trace_replay as replays
    from semcache.simulate.replay_report import figures
    from semcache.simulate.target_comparison import target_figures

    pack = load(settings.policies)
    if settings.cache.target is not None:
        pack = pack.with_target(settings.cache.target)
    found, tally, prices = read_lines(settings, file, given)
    [trace], embedder = await build_traces(settings, given, [pack], found, prices)
    sizes = entries_of(wished, bounds.distinct(trace.arrivals))
    steps = len(trace) * (len(sizes) + len(targets) + (replays.most_fixed_runs() if baselines else 0))
    with simulation_progress(steps) as progress:
        verify = offline_verifier(pack, settings.data)
        run = partial(replays.run, trace, seed=given.seed, verify=verify, progress=progress)
        runs = [run(pack, size) for size in sizes]
        at_targets = [(target, run(pack.with_target(target), sizes[-1])) for target in targets]
        static = []
        if baselines:
            contract, target = replays.contract_of(pack), pack.target_of("default")
            static = replays.fixed_threshold_runs(
                trace, pack, sizes[-1], error=target, contract=contract, progress=progress
            )
    report = {
        "trace": {
            "file": file.name,
            "lines": tally.lines,
            "replayed": len(found),
            "skipped": dict(tally.skipped),
            "broken": tally.broken,
            "broken_lines": [{"line": number, "error": reason} for number, reason in tally.examples],
        },
        "judge": given.judge.value,
        "embedder": embedder,
        "seed": given.seed,
        "varying_prompts": [one.told() for one in varying(_system_prompts(found), pack.ignore_in_system)],
        **figures(trace, pack, runs, static),
    }
    if at_targets:
        priced = any(arrival.cost for arrival in trace.arrivals)
        report["targets"] = target_figures(at_targets, replays.contract_of(pack), priced=priced)
    return report, runs[-1]


def _system_prompts(found: Sequence[TraceLine]) -> list[str]:
    from semcache.request.ignored import system_of

    requests = [one.logged.request for one in found[:_READ]]
    return [system_of(request.identity) for request in requests if request.traits.system]


def _has_matplotlib() -> bool:
    """Return True if plots can be drawn; say at the start how to have them otherwise."""
    import importlib.util

    found = importlib.util.find_spec("matplotlib") is not None
    if not found:
        output.note("no plots will be drawn: `pip install matplotlib` for them, or --no-plots to be told no more")
    return found


def _write(report: dict[str, Any], last: PackRun, out: Path, *, plots: bool) -> None:
    import json

    from semcache.simulate.replay_plots import draw
    from semcache.simulate.replay_report import markdown
    from semcache.simulate.target_comparison import target_section

    try:
        out.mkdir(parents=True, exist_ok=True)
        names = draw(report, last.result, out) if plots else []
        (out / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        page = markdown(report, plots=names) + target_section(report.get("targets", ()))
        (out / "report.md").write_text(page, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}") from error
    output.note(f"report written to {out}")
