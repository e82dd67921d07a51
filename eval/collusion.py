"""What colluding tenants do to honest ones: `python -m eval.collusion [--tenants 12] [--page]`.

Every tenant asks the same questions through the library at shipped defaults, and rewordings of them. A share of the
tenants then attacks in one of two ways: it reports everything that it is served as wrong, or it gives other answers to
every audit, miss and repeated question, so that what it was served is judged wrong. Honest tenants ask before and
after, in words that they have not used; no report or answer of theirs is false. Beside it stands the same traffic
without lies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count, product
from pathlib import Path

from eval.bench.machine import facts
from semcache import AsyncSemanticCache

RESULTS = Path(__file__).parent / "results"
THINGS = ("capital", "currency", "flag", "population", "largest city", "national anthem")
PLACES = ("France", "Chile", "Ghana")
QUESTIONS = [f"What is the {thing} of {place}?" for thing in THINGS for place in PLACES]
BEFORE = ("Could you name the {thing} of {place} for me?", "What {thing} does {place} have?")
AFTER = ("Please tell me: what is the {thing} of {place}?", "Tell me which {thing} {place} has.")
ATTACKING = ("Which {thing} does {place} have?", "I want to know the {thing} of {place}.", "{place}: what {thing}?")
ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """Hits of the honest tenants in per cent of what they asked, before and after, and wrong answers among them."""

    attack: str
    share: float
    before: float
    after: float
    wrong: int
    asked: int


def reworded(form: str) -> list[tuple[str, str]]:
    """Questions in other words, and the answer of each."""
    return [(form.format(thing=thing, place=place), f"The {thing} of {place}.") for thing in THINGS for place in PLACES]


async def measure(attack: str, share: float, tenants: int) -> Row:
    """One attack by this share of the tenants."""
    bad = [f"bad{number}" for number in range(round(share * tenants))]
    good = [f"good{number}" for number in range(tenants - len(bad))]
    lies = count()
    with tempfile.TemporaryDirectory(prefix="semcache-collusion-") as folder:
        async with await AsyncSemanticCache.open(folder, seed=1) as cache:

            async def ask(tenant: str, text: str, answer: str, *, lying: bool = False) -> tuple[bool, bool]:
                found = await cache.lookup(text, tenant=tenant)
                hit, right = found.answer is not None, found.answer == answer
                if lying and attack == "reports" and found.answer is not None:
                    await cache.feedback(found.entry_id, correct=False, tenant=tenant)
                if found.answer is None or found.audit:
                    said = f"Something else, number {next(lies)}." if lying and attack == "answers" else answer
                    await cache.record(found, said)
                return hit, right

            async def all_ask(names: Sequence[str], form: str, *, lying: bool = False) -> list[tuple[bool, bool]]:
                done = [await ask(name, *pair, lying=lying) for name in names for pair in reworded(form)]
                await cache.settle()
                return done

            await all_ask([*good, *bad], "What is the {thing} of {place}?")
            first = [one for form in BEFORE for one in await all_ask(good[:4], form)]
            for number in range(ROUNDS):
                await all_ask(bad, ATTACKING[number], lying=True)
            last = [one for form in AFTER for one in await all_ask(good[:4], form)]
    hits = [100.0 * sum(hit for hit, _ in some) / len(some) for some in (first, last)]
    wrong = sum(hit and not right for hit, right in last)
    return Row(attack, share, round(hits[0], 1), round(hits[1], 1), wrong, len(last))


def _mean(rows: Sequence[Row]) -> Row:
    """The mean of runs that differ in the order in which verdicts come; counts are added up."""
    first, number = rows[0], len(rows)
    before, after = (sum(values) / number for values in zip(*[(one.before, one.after) for one in rows], strict=True))
    wrong, asked = sum(one.wrong for one in rows), sum(one.asked for one in rows)
    return Row(first.attack, first.share, round(before, 1), round(after, 1), wrong, asked)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every share and attack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--tenants", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write results/collusion.json and the page")
    given = parser.parse_args(arguments)
    rows = []
    for attack, share in product(("none", "reports", "answers"), (0.1, 0.25, 0.5)):
        rows.append(_mean([asyncio.run(measure(attack, share, given.tenants)) for _ in range(given.repeats)]))
        print(json.dumps(asdict(rows[-1])), flush=True)
    if given.page:
        kept = {"machine": facts(), "tenants": given.tenants, "rows": [asdict(row) for row in rows]}
        (RESULTS / "collusion.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "collusion.md").write_text(page(given.tenants, rows))


def page(tenants: int, rows: Sequence[Row]) -> str:
    """The page."""
    lines = [
        "# What colluding tenants do to honest ones",
        "",
        f"`python -m eval.collusion --tenants {tenants} --page`",
        "",
        f"{tenants} tenants of one cache at shipped defaults, {len(QUESTIONS)} questions each. A share of them reports "
        "every answer that it is served as wrong (*reports*), or brings another answer each time, so that what it was "
        "served is judged wrong (*answers*), in three rounds of rewordings. Honest tenants ask before and after, in "
        "other words each time; *none* is the same traffic without lies: compare the column *after* with its. Means of "
        "three runs: verdicts come in another order each time.",
        "",
        "| attack | share of tenants | honest hits before | after | wrong answers served to them |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(f"| {row.attack} | {row.share:.0%} | {row.before}% | {row.after}% | {row.wrong} of {row.asked} |")
    lines += [
        "",
        "A pooled certificate covers the traffic of the tenants that are like each other: where three or more bring "
        "samples, none with more than half of the recent ones that teach all, and without those whose verdicts belie "
        "what was expected of them. It says nothing of a tenant that is unlike them; its own class is tested by its "
        "own audits.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
