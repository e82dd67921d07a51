"""Run the evaluation of decisions: `python -m eval.decisions SECTION [options]`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from eval.decisions import data, report
from eval.decisions.contenders import contenders
from eval.decisions.report import Section
from eval.decisions.resuming import Unfinished
from eval.decisions.running import Plan, run
from eval.decisions.streams import STREAMS

_SECTIONS = ("streams", "pairs", "validity", "words", "strata", "overload", "cost")
_WITHOUT_DATA = ("validity", "strata")


def main(argv: Sequence[str]) -> int:
    """Measure, print, and keep what was measured; exit status 1 when the data are missing, 2 when time was up."""
    parser = argparse.ArgumentParser("python -m eval.decisions", description=__doc__)
    parser.add_argument("section", choices=_SECTIONS)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--contenders", nargs="+", choices=list(contenders()), default=list(contenders()))
    parser.add_argument("--targets", nargs="+", type=float, default=[0.005, 0.01, 0.02, 0.05])
    parser.add_argument("--contracts", nargs="+", choices=["hit", "request"], default=["hit", "request"])
    parser.add_argument("--insertions", nargs="+", choices=["always", "when-wrong"], default=["always", "when-wrong"])
    parser.add_argument("--permutations", type=int, default=10)
    parser.add_argument(
        "--length", type=int, default=4000, help="requests of a stream (of validity: 1000 streams of 3000)"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--minutes", type=float, help="stop after so many; what is done is kept, the next run goes on")
    parser.add_argument("--count", type=int, default=1000, help="streams of each kind in validity and strata")
    parser.add_argument("--results", type=Path, default=report.RESULTS, help="where to keep the results")
    chosen = parser.parse_args(argv)
    if chosen.section not in _WITHOUT_DATA and not data.available():
        print(f"no data in {data.DATA}: set EVAL_DATA to their folder", file=sys.stderr)
        return 1
    errors = Console(stderr=True)
    with errors.status(f"{chosen.section} ...") as status:
        try:
            section = _section(chosen, report.command(argv), lambda done, all_: status.update(f"{done} of {all_} done"))
        except Unfinished as pause:
            print(pause, file=sys.stderr)
            return 2
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(Markdown(report.markdown(section)))
    for path in report.keep(section, chosen.results):
        console.print(f"[dim]kept {path}[/]")
    return 0


def _section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    if chosen.section != "streams":
        module = importlib.import_module(f"eval.decisions.{chosen.section}")
        section: Section = module.section(chosen, command, told)
        return section
    from eval.decisions import tables

    plan = Plan(
        streams=tuple(chosen.streams),
        contenders=tuple(chosen.contenders),
        targets=tuple(chosen.targets),
        contracts=tuple(chosen.contracts),
        insertions=tuple(chosen.insertions),
        permutations=chosen.permutations,
        length=chosen.length,
        seed=chosen.seed,
        jobs=chosen.jobs,
    )
    return tables.section(run(plan, told, chosen.minutes), plan, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
