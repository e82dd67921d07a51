"""`semcache policy diff --trace`: one trace through two packs.

Knows both packs, lines and tables. Invariant: a prompt is in the result only where it was asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcache.cli import output
from semcache.cli.trace_input import TraceOptions, build_traces, read_lines, simulation_progress

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.config.settings import Settings


async def traffic(
    settings: Settings, file: Path, given: TraceOptions, old: Pack, new: Pack, *, examples: int, show_prompts: bool
) -> dict[str, Any]:
    """Replay a trace through both packs; `examples` of each kind of change are shown. Raises SemcacheError."""
    from semcache.models.verifiers import offline_verifier
    from semcache.simulate import trace_replay
    from semcache.simulate.pack_comparison import changes, compare

    found, tally, prices = read_lines(settings, file, given)
    traces, _ = await build_traces(settings, given, [old, new], found, prices)
    with simulation_progress(2 * len(found)) as progress:
        one, two = [
            trace_replay.run(
                trace, pack, None, seed=given.seed, verify=offline_verifier(pack, settings.data), progress=progress
            ).result
            for trace, pack in zip(traces, (old, new), strict=True)
        ]
    shown = []
    for change in changes(one, two, most=examples):
        source = None if change.source is None else found[change.source]
        row = {
            "kind": change.kind,
            "line": found[change.place].line,
            "category": change.category,
            "score": change.score,
            "answer_of_line": None if source is None else source.line,
        }
        if show_prompts:
            row["prompt"] = found[change.place].logged.request.text
            row["answer_of_prompt"] = None if source is None else source.logged.request.text
        shown.append(row)
    skipped = {"skipped": dict(tally.skipped), "broken": tally.broken}
    return {"lines": tally.lines, **skipped, **compare(one, two), "examples": shown}


def show(traffic: dict[str, Any], first: str, second: str) -> None:
    """Print the result of `traffic`, under the names of both packs."""
    from semcache.simulate.pack_comparison import KINDS
    from semcache.simulate.replay_report import rate

    def cell(name: str, value: Any) -> str:
        if name.startswith("error"):
            return rate(value)
        if name.endswith("hit_rate"):
            return f"{value:.1%}"
        return (
            f"{value:,.4f}" if name == "cost_saved" else f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        )

    old, new = traffic["old"], traffic["new"]
    print()
    rows = [[name.replace("_", " "), cell(name, old[name]), cell(name, new[name])] for name in new]
    output.table(["on this trace", first, second], rows, right=[first, second])
    print()
    counted = [[said, f"{traffic['changes'][kind]:,}"] for kind, said in KINDS.items()]
    output.table(["requests", "count"], counted, right=["count"])
    if not traffic["examples"]:
        return
    print()
    rows = []
    for one in traffic["examples"]:
        line, source = str(one["line"]), "-" if one["answer_of_line"] is None else str(one["answer_of_line"])
        if "prompt" in one:
            line, source = f"{line}: {one['prompt']}", f"{source}: {one['answer_of_prompt'] or ''}"
        rows.append([KINDS[one["kind"]], one["category"], f"{one['score']:.3f}", line, source])
    output.table(["example", "category", "score", "line", "answer of line"], rows, right=["score"])
