"""One tenant and cache for all, with a language model's word: `python -m eval.judged_suites [--suites NAME ...]`.

The groups of the suites of this folder: a prompt, rewordings that share its answer, and texts that do not. They are
asked of fresh caches, one a group, that hold the prompt alone; then all texts of a suite, in several random orders, of
one cache and tenant, misses recorded and audits answered; and in the same orders of a cache for each group. All of it
with shipped defaults, and with a word of the recorded judge before a request is forwarded (`eval/suite_verdicts`).

Knows the library as a user does. Invariant: nothing is learned from one group to the next but in the shared cache, and
a judge is asked about prompts alone: no label of a suite reaches it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval import help_desk, traps
from eval.markdown import of_target, share, target_note
from eval.suite_words import UNSURE, RecordedJudge, verdicts
from eval.traps import Group, Prompt, Turn, shuffled
from semcache import AsyncSemanticCache
from semcache.config.packs import load, packs_dir

RESULTS = Path(__file__).parent / "results"
SUITES = ("traps, seen", "traps, held", "help desk")
SEED = 7
ORDERS = 5
_WAYS = ("no word", "with its word")
_FAIR = "the same requests, a cache for each group"


def main(argv: Sequence[str]) -> int:
    """Ask, then write the page and the facts."""
    parser = argparse.ArgumentParser("python -m eval.judged_suites", description=__doc__.partition("\n")[0])
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--unknown", type=Path, help="write the pairs without a recorded word here")
    chosen = parser.parse_args(argv)
    kept = chosen.out / "judged-suites.json"
    facts: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    unknown: dict[tuple[str, str], bool] = {}
    for name in chosen.suites:
        judge = RecordedJudge(verdicts())
        with tempfile.TemporaryDirectory() as folder:
            pack = _asking(Path(folder))
            facts[name] = {
                way: asyncio.run(asked(groups(name), judge if way != _WAYS[0] else None, pack)) for way in _WAYS
            }
        facts[name]["judge"] = {
            "asked": judge.asked,
            "pairs": len(judge.agreed),
            "as the suite": sum(judge.agreed.values()),
            "unknown": len(judge.unknown),
            "unknown and right": sum(judge.unknown.values()),
        }
        unknown |= judge.unknown
        if chosen.unknown is not None:
            chosen.unknown.write_text(json.dumps(sorted(unknown), ensure_ascii=False), encoding="utf-8")
        print(name, json.dumps(facts[name]), file=sys.stderr)
    facts = {name: facts[name] for name in SUITES if name in facts}
    page = _page(facts)
    kept.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "judged-suites.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def groups(name: str) -> list[Group]:
    """The groups of a suite."""
    suite, _, part = name.partition(", ")
    if suite == "traps":
        return list(traps.groups(part))
    return [Group(suite, one.base, one.right, one.traps) for one in help_desk.questions()]


async def asked(some: Sequence[Group], judge: RecordedJudge | None, pack: str) -> dict[str, list[list[int]]]:
    """Counts by role, one for each order: how many were served (or wrong), of how many. Fresh caches know no order."""
    cache_of = _Caches(judge, pack)
    counts = Counter[tuple[str, bool]]()
    for group in some:
        async with await cache_of.open() as cache:
            await cache_of.recorded(cache, group.base, "base")
            for role, prompts, answer in (("fresh", group.right, "base"), ("fresh, traps", group.traps, "another")):
                for prompt in prompts:
                    counts[role, await cache_of.served(cache, prompt, answer) is not None] += 1
    found = _by_role(counts)
    for order in range(SEED, SEED + ORDERS):
        counts = Counter[tuple[str, bool]]()
        every = shuffled(some, order)
        async with await cache_of.open() as cache:
            counts += await _told(cache_of, cache, every, "one cache")
        for place in range(len(some)):
            async with await cache_of.open() as cache:
                counts += await _told(cache_of, cache, [one for one in every if one.group == place], _FAIR)
        for role, counted in _by_role(counts).items():
            found.setdefault(role, []).extend(counted)
    return found


def _by_role(counts: Mapping[tuple[str, bool], int]) -> dict[str, list[list[int]]]:
    of = {role: counts.get((role, True), 0) + counts.get((role, False), 0) for role, _ in counts}
    return {role: [[counts.get((role, True), 0), total]] for role, total in of.items()}


class _Caches:
    """Caches alike, with or without a judge, and requests to them."""

    def __init__(self, judge: RecordedJudge | None, pack: str) -> None:
        self._judge = judge
        self._more: dict[str, Any] = {} if judge is None else {"policies": pack, "verifier": judge}

    async def open(self) -> AsyncSemanticCache:
        return await AsyncSemanticCache.open("memory://", seed=SEED, **self._more)

    async def served(self, cache: AsyncSemanticCache, prompt: Prompt, answer: str, *, learns: bool = False) -> Any:
        """The answer that was served, None for a miss. One that `learns` records misses and audits."""
        if self._judge is not None:
            self._judge.expected = answer
        found = await cache.lookup(prompt, tenant="all")
        if learns and (found.answer is None or found.audit):
            await cache.record(found, answer)
        await cache.settle()
        return found.answer

    async def recorded(self, cache: AsyncSemanticCache, prompt: Prompt, answer: str) -> None:
        await self.served(cache, prompt, answer, learns=True)


async def _told(
    cache_of: _Caches, cache: AsyncSemanticCache, turns: Sequence[Turn], role: str
) -> Counter[tuple[str, bool]]:
    """A rewording counts from the first request on that could have had its answer."""
    counts, known = Counter[tuple[str, bool]](), set[str]()
    for turn in turns:
        answer = f"Answer {turn.answer}."
        served = await cache_of.served(cache, turn.prompt, answer, learns=True)
        if turn.shared and answer in known:
            counts[role, served == answer] += 1
        counts[f"{role}, wrong", served not in (None, answer)] += 1
        known.add(answer)
    return counts


def _asking(folder: Path) -> str:
    """Write the shipped pack with a word before the forward; return its path."""
    shipped = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
    path = folder / "asking.yaml"
    path.write_text(shipped.replace("\ndefaults:\n", "\ndefaults:\n  verdicts: first\n"), encoding="utf-8")
    return str(path)


def _page(facts: Mapping[str, Mapping[str, Any]]) -> str:
    about = " ".join((__doc__ or "").split("\n\n")[1].split())
    lines = [
        "# One tenant and cache for all, with a language model's word",
        "",
        f"- `python -m eval.judged_suites`, {ORDERS} orders of requests, seeds {SEED} to {SEED + ORDERS - 1}; "
        "`--suites` makes a part of it anew",
        f"- {about}",
        f"- A pair without a recorded word counts as P(yes) {UNSURE}, which serves nothing. In brackets 95% "
        "intervals by Wilson of what was asked of fresh caches, and the lowest and highest of the orders for the rest.",
        f"- {target_note(load('default').target).capitalize()}. Its intervals are by Wilson, of all orders of a row "
        "together, which have the same prompts.",
        "",
        "## Rewordings served",
        "",
        f"| suite | word | fresh caches, the prompt alone | {_FAIR} | one cache | "
        "of fresh caches | of the same requests |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, ways in facts.items():
        for way in _WAYS:
            one = ways[way]
            share, fresh, fair = (_mean(one[role]) for role in ("one cache", "fresh", _FAIR))
            cells = [_cell(one[role]) for role in ("fresh", _FAIR, "one cache")]
            lines.append(f"| {name} | {way} | {' | '.join(cells)} | {share / fresh:.0%} | {share / fair:.0%} |")
    lines += [
        "",
        "## Answers of another",
        "",
        f"| suite | word | traps served by fresh caches | requests wrong, {_FAIR} | requests wrong, one cache | "
        "realised / target, fresh caches | the same requests, a cache for each group | one cache |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, ways in facts.items():
        for way in _WAYS:
            roles = ("fresh, traps", f"{_FAIR}, wrong", "one cache, wrong")
            cells = [_cell(ways[way].get(role, [])) for role in roles]
            cells += [_of_target(ways[way], *both) for both in zip(("fresh", _FAIR, "one cache"), roles, strict=True)]
            lines.append(f"| {name} | {way} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Words",
        "",
        "| suite | asked | recorded pairs | as the suite has it, at P(yes) 0.5 | without a word | of which rightful |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, ways in facts.items():
        said = ways["judge"]
        lines.append(
            f"| {name} | {said['asked']} | {said['pairs']} | {said['as the suite']} | {said['unknown']} | "
            f"{said['unknown and right']} |"
        )
    return "\n".join([*lines, ""])


def _cell(orders: Sequence[Sequence[int]]) -> str:
    if len(orders) < 2:
        return share(*orders[0]) if orders else "-"
    shares = [served / max(1, of) for served, of in orders]
    return f"{_mean(orders):.1%} of {orders[0][1]} ({min(shares):.1%}–{max(shares):.1%})"


def _of_target(ways: Mapping[str, Sequence[Sequence[int]]], right: str, wrong: str) -> str:
    """The error of all hits as a multiple of the target, over all orders."""
    served, mistaken = (sum(one[0] for one in ways.get(role, [])) for role in (right, wrong))
    return of_target(mistaken, served + mistaken, load("default").target)


def _mean(orders: Sequence[Sequence[int]]) -> float:
    return sum(served for served, _ in orders) / max(1, sum(of for _, of in orders))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
