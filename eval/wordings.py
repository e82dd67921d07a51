"""Prompts in trivially other words at shipped defaults, cold: `python -m eval.wordings [--halves seen held ...]`.

Pairs of fourteen kinds of rewording, and traps of the same shape, written for this measurement (`eval/wording_suite`,
whose README says which part was looked at when). Each pair is asked of a tenant of its own in one cache; then all
prompts of a part are kept by one tenant, and every other wording is asked.

Knows the library as a user does. Invariant: nothing is recorded but the prompts that are kept at the beginning.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.markdown import of_target, target_note
from eval.unhurried import unhurried
from semcache import AsyncSemanticCache
from semcache.config.packs import load, packs_dir
from semcache.types import Serve, Why

WRITTEN = Path(__file__).parent / "wording_suite"
RESULTS = Path(__file__).parent / "results"
HALVES = ("seen", "held", "fresh", "unread", "everyday", "aside")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two prompts, and whether they have the same answer."""

    kind: str
    asked: str
    cached: str
    same: bool


def pairs(half: str) -> Iterator[Pair]:
    """The pairs of one half, in the order of the file."""
    for line in (WRITTEN / f"{half}.jsonl").read_text(encoding="utf-8").splitlines():
        yield Pair(**json.loads(line))


def main(argv: Sequence[str]) -> int:
    """Ask, then write the page and the facts."""
    unhurried()
    parser = argparse.ArgumentParser("python -m eval.wordings", description=__doc__.partition("\n")[0])
    parser.add_argument("--halves", nargs="+", choices=HALVES, default=list(HALVES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="print the pairs that went wrong")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        alone = _by_meaning_alone(Path(folder))
        facts = {
            half: {
                "the shipped pack": asyncio.run(_measured(half, "default", show=chosen.show)),
                "by meaning alone": asyncio.run(_measured(half, alone)),
            }
            for half in chosen.halves
        }
    chosen.out.mkdir(exist_ok=True)
    page = _page(facts, " ".join(["python -m eval.wordings", *argv]))
    (chosen.out / "wordings.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "wordings.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def _by_meaning_alone(folder: Path) -> str:
    """Write the shipped pack without equal wordings; return its path."""
    text = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
    head, defaults, rest = text.partition("\ndefaults:\n")
    path = folder / "alone.yaml"
    path.write_text(f"{head}{defaults}  wording: off\n{rest}", encoding="utf-8")
    return str(path)


async def _measured(half: str, policies: str, *, show: bool = False) -> dict[str, Any]:
    some = list(pairs(half))
    found: dict[str, Any] = {}
    for way in ("a tenant for each pair", "one tenant for all"):
        alone = way != "one tenant for all"
        counts: dict[str, Counter[str]] = {}
        with tempfile.TemporaryDirectory() as folder:
            async with await AsyncSemanticCache.open(folder, policies=policies, seed=7, timeout=60.0) as cache:
                for number, pair in enumerate(some):
                    tenant = f"t{number}" if alone else "t"
                    kept = await cache.lookup(pair.cached, tenant=tenant)
                    if kept.answer is None:
                        await cache.record(kept, f"The answer to question {number}.")
                await cache.settle()
                for number, pair in enumerate(some):
                    told = await cache.lookup(pair.asked, tenant=f"t{number}" if alone else "t")
                    served = isinstance(told.lookup.decision, Serve)
                    right = served and told.answer == f"The answer to question {number}."
                    count = counts.setdefault(pair.kind, Counter())
                    count["pairs" if pair.same else "traps"] += 1
                    if pair.same:
                        count["wording"] += right and told.why in (Why.WORDING, Why.EXACT)
                        count["meaning"] += right and told.why is Why.SEMANTIC
                        count["other"] += served and not right
                    else:
                        count["fooled by wording"] += right and told.why in (Why.WORDING, Why.EXACT)
                        count["fooled by meaning"] += right and told.why is Why.SEMANTIC
                    if show and alone and pair.same != right:
                        print(f"{pair.kind:20} {told.why!s:14} {pair.asked!r}  <>  {pair.cached!r}", file=sys.stderr)
        found[way] = {kind: dict(count) for kind, count in counts.items()}
    return found


def _page(facts: dict[str, Any], command: str) -> str:
    target = load("default").target
    lines = ["# Trivially other words, cold", "", f"Made by `{command}`; the pairs are in `eval/wording_suite`.", ""]
    lines += [
        "Served: share of rightful pairs whose kept answer was served, by equal wording and by meaning. Traps: pairs",
        "of the same shape whose answers differ, that were served all the same.",
        f"{target_note(target).capitalize()}; equal wordings and hits by meaning have budgets of their own.",
        "Answers of other pairs, a few in one cache for all, are in no column: it is not known if they are right.",
        "",
    ]
    totals = ["| half | way | pack | pairs | served | by wording | traps | served | by wording, realised / target |"]
    totals[0] += " by meaning, realised / target |"
    totals += ["|---|---|---|---|---|---|---|---|---|---|"]
    tables: list[str] = []
    for half, packs in facts.items():
        for pack, ways in packs.items():
            for way, kinds in ways.items():
                total: Counter[str] = Counter()
                for count in kinds.values():
                    total.update(count)
                row = _row("", total).removeprefix("|  |")
                totals.append(f"| {half} | {way} | {pack} |{row} {' | '.join(_of_target(total, target))} |")
                if pack == "the shipped pack":
                    tables += [f"## {half}, {way}", "", "| kind | pairs | served | by wording | traps | served |"]
                    tables += [
                        "|---|---|---|---|---|---|",
                        *[_row(kind, Counter(one)) for kind, one in kinds.items()],
                        "",
                    ]
    lines += [*totals, "", *tables]
    return "\n".join(lines) + "\n"


def _row(kind: str, count: Counter[str]) -> str:
    pairs_, traps = count["pairs"], count["traps"]
    served = count["wording"] + count["meaning"]
    fooled = count["fooled by wording"] + count["fooled by meaning"]
    share = f"{served / pairs_:.1%} | {count['wording'] / pairs_:.1%}" if pairs_ else "- | -"
    return f"| {kind} | {pairs_} | {share} | {traps} | {fooled} |"


def _of_target(count: Counter[str], target: float) -> list[str]:
    """The error of hits by wording and of those by meaning, as multiples of the target."""
    return [
        of_target(count[f"fooled by {how}"], count[how] + count[f"fooled by {how}"], target)
        for how in ("wording", "meaning")
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
