"""Prompts of testers who had not seen the cache: `python -m eval.testers [--sets NAME ...]`.

Each set in `eval/testers_suite` was written by a hand of a language model that knew what a semantic cache is, and
nothing of this one: a prompt, wordings that share its answer, and texts that do not. They are asked of a cache at
shipped defaults, each group as a tenant of its own that has its prompt alone; then of one that holds the prompts of the
whole set for one tenant. Nothing is learned from what is asked, but from the misses by which the prompts came in.

Knows the library as a user does. Invariant: an answer counts as right only if it is the one of the group that is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.markdown import of_target, share, target_note
from eval.unhurried import unhurried
from semcache import AsyncSemanticCache
from semcache.config.packs import load

SUITE = Path(__file__).parent / "testers_suite"
RESULTS = Path(__file__).parent / "results"
SEED = 7
# What each set is, and if the rules were mended after a look at what was not served of it.
SETS = {
    "help_and_knowledge": ("questions to help desks and of general knowledge, each worded five ways", True),
    "kinds": ("pairs of twelve kinds of rewording and twelve kinds of trap", True),
    "assistants": ("what developers, office workers and others ask, a third of it several sentences long", True),
    "careless": ("questions typed carelessly, beside names and words that look like slips", True),
    "help_and_knowledge_held": ("questions to help desks and to assistants, each worded five ways", False),
    "kinds_held": ("pairs of twelve kinds of rewording and twelve kinds of trap", False),
}


@dataclass(frozen=True, slots=True)
class Group:
    """A prompt, and texts that do and do not share its answer, each with its kind."""

    prompt: str
    same: tuple[tuple[str, str], ...]
    different: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One text that was asked: if it may share the answer, its kind, and if that or another group's was served."""

    same: bool
    kind: str
    own: bool
    others: bool


def main(argv: Sequence[str]) -> int:
    """Ask, then write the page and the facts."""
    unhurried()
    parser = argparse.ArgumentParser("python -m eval.testers", description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args(argv)
    rows = {name: {alone: asyncio.run(_ask(name, alone=alone)) for alone in (True, False)} for name in chosen.sets}
    page = _page(rows, " ".join(["python -m eval.testers", *argv]))
    (chosen.out / "testers.md").write_text(page, encoding="utf-8")
    facts = {
        name: {"alone" if alone else "one": _facts(some) for alone, some in both.items()} for name, both in rows.items()
    }
    (chosen.out / "testers.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(page)
    return 0


def groups(name: str) -> Iterator[Group]:
    """The groups of a set, in the order of the file."""
    for line in (SUITE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Group(row["prompt"], *(tuple((text, kind) for text, kind in row[role]) for role in ("same", "different")))


async def _ask(name: str, *, alone: bool) -> list[Asked]:
    rows: list[Asked] = []
    async with await AsyncSemanticCache.open("memory://", seed=SEED, timeout=60.0) as cache:
        some = list(groups(name))
        tenants = [f"tenant {place}" if alone else "all" for place in range(len(some))]
        for place, (group, tenant) in enumerate(zip(some, tenants, strict=True)):
            found = await cache.lookup(group.prompt, tenant=tenant)
            if found.answer is None:
                await cache.record(found, f"answer {place}")
        for place, (group, tenant) in enumerate(zip(some, tenants, strict=True)):
            for same, texts in ((True, group.same), (False, group.different)):
                for text, kind in texts:
                    answer = (await cache.lookup(text, tenant=tenant)).answer
                    own = answer == f"answer {place}"
                    rows.append(Asked(same, kind, own, answer is not None and not own))
    return rows


def _facts(rows: Sequence[Asked]) -> dict[str, list[int]]:
    """Of rewordings, of rewordings of each kind, and of traps: how many were served, and of how many."""
    facts = {"rewordings": _counted([row.own for row in rows if row.same])}
    for kind in dict.fromkeys(row.kind for row in rows if row.same):
        facts[kind] = _counted([row.own for row in rows if row.same and row.kind == kind])
    facts["traps"] = _counted([row.own for row in rows if not row.same])
    facts["answers of other groups"] = _counted([row.others for row in rows])
    return facts


def _counted(served: Sequence[bool]) -> list[int]:
    return [sum(served), len(served)]


def _page(rows: dict[str, dict[bool, list[Asked]]], command: str) -> str:
    target = load("default").target
    lines = [
        "# Prompts of testers",
        "",
        f"- `{command}`, seed {SEED}",
        "- sets of prompts that hands of a language model wrote who knew nothing of this cache (`eval/testers_suite`);"
        " the pack `default` as it ships, through the library, without labels; 95% intervals by Wilson",
        "- *seen*: rules and prior were mended after a look at what was not served of the set; *held*: not one of its"
        " prompts was read before it was measured",
        f"- {target_note(target)}",
        "",
        "| set | | cache | rewordings served | traps served | answers of other groups | realised / target |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, both in rows.items():
        _, seen = SETS[name]
        for alone, some in both.items():
            facts = _facts(some)
            cells = [share(*facts[key]) for key in ("rewordings", "traps", "answers of other groups")]
            cells.append(_of_target(facts, target))
            way = "each group alone" if alone else "one for all"
            lines.append(f"| {name} | {'seen' if seen else 'held'} | {way} | {' | '.join(cells)} |")
    for name, both in rows.items():
        lines += ["", f"## {name}", "", f"{SETS[name][0].capitalize()}.", "", "| kind | each alone | one for all |"]
        lines.append("| --- | ---: | ---: |")
        alone, together = _facts(both[True]), _facts(both[False])
        for kind in list(alone)[1:-2]:
            lines.append(f"| {kind} | {_of(alone[kind])} | {_of(together[kind])} |")
    return "\n".join([*lines, ""])


def _of_target(facts: dict[str, list[int]], target: float) -> str:
    """The error of all hits as a multiple of the target: those on traps and those of other groups are wrong."""
    wrong = facts["traps"][0] + facts["answers of other groups"][0]
    return of_target(wrong, facts["rewordings"][0] + wrong, target)


def _of(counted: Sequence[int]) -> str:
    return f"{counted[0]} of {counted[1]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
