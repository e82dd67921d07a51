"""Run the benchmarks: `python -m eval.bench [SECTION...] [--rounds N] [--quick] [--full]`.

Without sections everything is measured, peers included. With sections only those are; add `peers` to have the other
caches beside them (`http` and `semantic` have some), or ask for `peers` alone to have just these two comparisons.
`miss_before --before FOLDER` compares a miss with that of an earlier commit, of which FOLDER is a checkout.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from eval.bench import machine, report
from eval.bench.measure import Section
from eval.bench.options import ROOT, Options

SECTIONS = ("http", "semantic", "lookup", "miss", "start", "embed")
WITH_PEERS = ("http", "semantic")
ASKED_FOR = ("miss_before",)  # measured only where it is named: it needs a checkout of an earlier commit


def main(argv: Sequence[str]) -> int:
    """Measure, print, and keep what was measured; exit status 1 when a section could not be measured."""
    arguments = argparse.ArgumentParser(
        "python -m eval.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("sections", nargs="*", choices=[*SECTIONS, *ASKED_FOR, "peers", []], metavar="SECTION")
    arguments.add_argument("--rounds", type=int, help="turns of each contender (default 7, or 2 with --quick)")
    arguments.add_argument("--seconds", type=int, help="of load in a turn (default 3, or 1 with --quick)")
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--quick", action="store_true", help="see that it works; keeps nothing in eval/results")
    arguments.add_argument("--full", action="store_true", help="also look up among a million entries (minutes, 8 GiB)")
    arguments.add_argument("--before", type=Path, help="a checkout of an earlier commit, for miss_before")
    arguments.add_argument("--results", type=Path, help="where to keep the results")
    chosen = arguments.parse_args(argv)
    names = [name for name in (*SECTIONS, *ASKED_FOR) if name in chosen.sections]
    if not names:
        names = list(WITH_PEERS if chosen.sections else SECTIONS)
    options = Options(
        rounds=chosen.rounds or (2 if chosen.quick else 7),
        seconds=chosen.seconds or (1 if chosen.quick else 3),
        seed=chosen.seed,
        quick=chosen.quick,
        full=chosen.full,
        peers=not chosen.sections or "peers" in chosen.sections,
        before=chosen.before,
    )
    scratch = ROOT / ".bench"
    scratch.mkdir(exist_ok=True)
    results = chosen.results or (scratch / "results" if chosen.quick else ROOT / "eval" / "results")
    # A bench that is told to end must still end its servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    console = Console(width=None if sys.stdout.isatty() else 160)
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=scratch) as folder:
            section = _measure(name, Path(folder), options, command(argv, chosen.before))
        if section is None:
            failed += 1
            continue
        report.show(console, section)
        report.keep(results, section)
        console.print(f"[dim]kept in {os.path.relpath(results)}[/]\n")
    return 1 if failed else 0


def command(argv: Sequence[str], before: Path | None) -> str:
    """The line that the page shows, without the path of a checkout of this machine."""
    line = shlex.join(["python", "-m", "eval.bench", *argv])
    return line if before is None else line.replace(shlex.quote(str(before)), "FOLDER")


def _measure(name: str, folder: Path, options: Options, line: str) -> Section | None:
    before, load = machine.calibration(), os.getloadavg()[0]
    try:
        section: Section = importlib.import_module(f"eval.bench.sections.{name}").measure(folder, options)
    except Exception as error:  # one section that fails must not cost the others their turn
        Console(stderr=True).print_exception()
        Console(stderr=True).print(f"[red]{name} could not be measured: {error}[/]", highlight=False)
        return None
    about = {
        "command": line,
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "seed": options.seed,
        "calibration_ms": [round(before, 1), round(machine.calibration(), 1)],
        "load_average": [round(load, 2), round(os.getloadavg()[0], 2)],
        "machine": machine.facts(),
    }
    section.about = about | section.about
    return section


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
